/**
 * The engine for schemas that strangers wrote (ADR 0011): bounded before it compiles, bounded by steps while it runs, linear in
 * its patterns, without code generation and without a way to anything outside the schema. Each compile is an island: equal `$id`s
 * in different schemas never meet.
 */
import { DEFAULT_SCHEMA_BOUNDS, isCopiedObject, type SchemaBounds } from "./bounds.ts";
import { buildCheck } from "./build.ts";
import { isEnoughSaid, isOutOfSteps, type Check, type Collector, type Run } from "./check.ts";
import type { Dialect } from "./dialect.ts";
import { readDocument, type SchemaDocument, type SchemaNote, type SchemaRefusal } from "./document.ts";
import { measureExpansion } from "./expansion.ts";
import { MAX_ISSUES, type Issue } from "./issues.ts";
import { planPatterns } from "./pattern-set.ts";

export interface CompileOptions {
  /** Overrides of `DEFAULT_SCHEMA_BOUNDS`. */
  readonly bounds?: Partial<SchemaBounds>;
  /** Read it as this draft, whatever its `$schema` says. */
  readonly dialect?: Dialect;
  /** `annotation` (default): `format` never refuses a value. `assertion`: the formats of `formats.ts` do. */
  readonly formats?: "annotation" | "assertion";
  /** A pattern that no engine here can run: `note` (default) leaves it out and says so, `refuse` refuses the schema. */
  readonly unsupportedPatterns?: "note" | "refuse";
}

interface ValidateOptions {
  /** Work that this validation may do, about 100 ns a step; half as much again to say what is wrong. Default 250,000. */
  readonly maxSteps?: number;
}

/** `budget`: the steps ran out, so nothing is known; treat it as not valid. */
export type Verdict =
  | { readonly ok: true }
  | {
      readonly ok: false;
      readonly kind: "invalid" | "budget";
      readonly issues: readonly Issue[];
      /** Finding it out was more than a moment's work. */
      readonly wasDear: boolean;
    };

export interface CompiledSchema {
  readonly ok: true;
  readonly dialect: Dialect;
  /** What is usable but worth saying. */
  readonly notes: readonly SchemaNote[];
  /** Never throws. The first call builds the checks; `prepare` does that beforehand. */
  validate(value: unknown, options?: ValidateOptions): Verdict;
  /** Builds what the first `validate` would build. @returns whether that was more than a moment's work. */
  prepare(): boolean;
}

type RefusedSchema = { readonly ok: false } & SchemaRefusal;
export type CompileResult = CompiledSchema | RefusedSchema;

/** With the explanation below 50 ms, whatever the schema and the value are: nothing holds the event loop for longer. */
const DEFAULT_MAX_STEPS = 250_000;

/** Subschemas, and instructions of patterns, that take more than a millisecond to be built. */
const MANY_SCHEMAS = 500;
const LARGE_PROGRAMS = 200;
/** A few milliseconds. */
const MANY_STEPS = 20_000;

/**
 * Judges a schema and makes it ready. Never throws, and never reads anything but `schema`, which it copies.
 *
 * @param schema unknown JSON.
 */
export function compileSchema(schema: unknown, options: CompileOptions = {}): CompileResult {
  const bounds = { ...DEFAULT_SCHEMA_BOUNDS, ...options.bounds };
  const read = readDocument(schema, bounds, options.dialect);
  if (!read.ok) return { ok: false, ...read.refusal };
  const { document } = read;
  const expansion = measureExpansion(document, bounds);
  if (expansion !== undefined) return { ok: false, ...expansion };
  const patterns = planPatterns(document, options.unsupportedPatterns ?? "note");
  if (!patterns.ok) return { ok: false, ...patterns.refusal };

  let check: Check | undefined;
  const build = (): Check => {
    check ??= buildCheck(document, {
      assertsFormats: options.formats === "assertion",
      testOf: patterns.testOf(),
    });
    return check;
  };
  return {
    ok: true,
    dialect: document.dialect,
    notes: [...document.notes, ...patterns.notes],
    prepare() {
      const isDear =
        check === undefined && (document.places.size > MANY_SCHEMAS || patterns.size > LARGE_PROGRAMS);
      build();
      return isDear;
    },
    validate: (value, { maxSteps = DEFAULT_MAX_STEPS } = {}) => validate(build(), document, value, maxSteps),
  };
}

/** First fast and without issues; only a value that does not fit is gone through again for the reasons. */
function validate(check: Check, document: SchemaDocument, value: unknown, maxSteps: number): Verdict {
  const run: Run = { steps: maxSteps, depth: 0, collector: null, scope: rootScope(document) };
  try {
    if (check(value, run, null)) return { ok: true };
  } catch (error) {
    if (!isOutOfSteps(error)) throw error;
    const message = "is too large or too deep to be checked against this schema";
    const issues = [{ path: "", keyword: "budget", message, expected: "a smaller value" }];
    return { ok: false, kind: "budget", issues, wasDear: true };
  }
  const explaining: Run = { ...run, steps: maxSteps / 2, scope: rootScope(document) };
  const issues = explain(check, explaining, value);
  const steps = maxSteps * 1.5 - run.steps - explaining.steps;
  return { ok: false, kind: "invalid", issues, wasDear: steps > MANY_STEPS };
}

function explain(check: Check, run: Run, value: unknown): readonly Issue[] {
  const collector: Collector = { issues: [], path: [], level: 0 };
  run.collector = collector;
  run.depth = 0;
  try {
    check(value, run, null);
  } catch (error) {
    if (!isOutOfSteps(error) && !isEnoughSaid(error)) throw error;
  }
  if (collector.issues.length > 0) return collector.issues.slice(0, MAX_ISSUES);
  return [{ path: "", keyword: "schema", message: "does not fit the schema", expected: "a value that fits" }];
}

function rootScope(document: SchemaDocument): Run["scope"] {
  const place = isCopiedObject(document.root) ? document.places.get(document.root) : undefined;
  return place === undefined || !document.hasManyResources ? [] : [place.resource];
}

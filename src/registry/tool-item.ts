/**
 * One item of `tools/list`, judged: an entry, or the reason why it is none. Nothing that is wrong with one item touches another.
 * What a server says about its tool is kept as it came; what people and models read is cleaned and scanned beside it.
 */
import { isJsonObject, ownProperty, type JsonObject, type JsonValue } from "../base/json.ts";
import { compileSchema } from "../jsonschema/compile.ts";
import { copyWithin, type SchemaBounds } from "../jsonschema/bounds.ts";
import { cleanForModel, cleanForPerson, clip, oneLine } from "../text/clean.ts";
import { scanText } from "../text/scan.ts";
import type { Finding } from "../vocabulary.ts";
import type { Quarantine, QuarantineCode, ToolEntry } from "./entry.ts";
import { pinOf } from "./pins.ts";
import { collectSchemaTexts } from "./schema-text.ts";

type HeaderPlanVerdict =
  | { readonly ok: true; readonly plan: unknown }
  | { readonly ok: false; readonly reason: string };

export interface ToolItemOptions {
  /** Only where the connection mirrors arguments in headers: reads `x-mcp-header`. */
  readonly planHeaders?: (inputSchema: JsonObject) => HeaderPlanVerdict;
  /** What is wrong with annotations: types and contradictions, a sentence each. */
  readonly annotationFaults?: (annotations: unknown) => readonly string[];
  readonly schemaBounds?: Partial<SchemaBounds>;
  /** An operator's schema for this tool, which then stands for the server's. */
  readonly schemaOverride?: (tool: string) => JsonObject | null;
}

export type ToolItemVerdict =
  | { readonly ok: true; readonly entry: ToolEntry }
  | {
      readonly ok: false;
      readonly name: string | null;
      readonly quarantine: Quarantine;
      readonly raw: JsonObject | null;
    };

/** A definition as JSON text, schemas included; more where an operator allows larger schemas. */
const MAX_DEFINITION_BYTES = 256 * 1024;
const MAX_NAME_LENGTH = 512;
const MAX_DESCRIPTION = 8_000;
const MAX_TITLE = 200;
const MAX_FINDINGS = 20;

/** How large a definition may be, as JSON text. */
export function definitionBytes(options: ToolItemOptions): number {
  return Math.max(MAX_DEFINITION_BYTES, 3 * (options.schemaBounds?.bytes ?? 0));
}

/**
 * @param value one item as it was parsed.
 * @param previous entries of the last catalog by name: what was judged about an equal definition is taken over.
 */
export function judgeToolItem(
  server: string,
  value: unknown,
  options: ToolItemOptions,
  previous?: ReadonlyMap<string, ToolEntry>,
): ToolItemVerdict {
  if (!isJsonObject(value))
    return held(null, "not_an_object", `the item is ${kindName(value)}, not an object`, null);
  const name = ownProperty(value, "name");
  const nameProblem = judgeName(name);
  const size = copyWithin(value, definitionBytes(options));
  const raw = size.ok ? value : null;
  if (nameProblem !== undefined || typeof name !== "string") {
    const usable = typeof name === "string" && name !== "" && name.length <= MAX_NAME_LENGTH ? name : null;
    return held(usable, "bad_name", nameProblem ?? "it has no name", raw);
  }
  if (!size.ok) return held(name, "limit", sizeProblem(size.reason, options), null);
  const pin = pinOf(value);
  const shape = judgeShape(value);
  if (shape !== undefined) return held(name, "bad_definition", shape, raw);

  const override = options.schemaOverride?.(name) ?? null;
  const inputSchema = override ?? ownProperty(value, "inputSchema");
  const schemaProblem = judgeInputSchema(inputSchema);
  if (schemaProblem !== undefined || !isJsonObject(inputSchema))
    return held(name, "bad_schema", schemaProblem ?? "", raw);
  const known = previous?.get(name);
  const isJudged =
    known?.pin === pin && (override ?? ownProperty(known.raw, "inputSchema")) === known.inputSchema;
  const compiled = isJudged ? undefined : compileSchema(inputSchema, boundsOf(options));
  if (compiled?.ok === false) {
    const place = compiled.pointer === "" ? "" : ` (at ${oneLine(compiled.pointer, 120)})`;
    return held(name, "bad_schema", `its input schema cannot be used: ${compiled.reason}${place}`, raw);
  }
  const headers = options.planHeaders?.(inputSchema);
  if (headers?.ok === false)
    return held(name, "bad_header_annotation", `\`x-mcp-header\`: ${headers.reason}`, raw);
  const headerPlan = headers?.plan ?? null;
  if (known !== undefined && compiled === undefined) {
    return { ok: true, entry: { ...known, raw: value, inputSchema, headerPlan } };
  }
  const findings: Finding[] = (compiled?.notes ?? []).map((note) => ({
    rule: `schema.${note.code.replaceAll("_", "-")}`,
    severity: "note",
    where: `/inputSchema${note.pointer}`.slice(0, 200),
    message: clip(note.message, 300),
  }));
  const output = judgeOutputSchema(value, options, findings);
  for (const fault of options.annotationFaults?.(ownProperty(value, "annotations")) ?? []) {
    findings.push({
      rule: "catalog.annotations",
      severity: "low",
      where: "/annotations",
      message: clip(fault, 300),
    });
  }
  scanDefinition(value, findings);
  return {
    ok: true,
    entry: {
      kind: "tool",
      server,
      name,
      title: titleOf(value),
      description: textOf(value, "description", cleanForPerson),
      modelDescription: textOf(value, "description", cleanForModel),
      raw: value,
      inputSchema,
      outputSchema: output,
      headerPlan,
      pin,
      findings: findings.slice(0, MAX_FINDINGS),
    },
  };
}

function held(
  name: string | null,
  code: QuarantineCode,
  reason: string,
  raw: JsonObject | null,
): ToolItemVerdict {
  return { ok: false, name, quarantine: { code, reason: clip(reason, 300) }, raw };
}

function kindName(value: unknown): string {
  if (value === null || value === undefined) return "null";
  return Array.isArray(value) ? "an array" : `a ${typeof value}`;
}

function sizeProblem(reason: "too_large" | "too_deep" | "not_json", options: ToolItemOptions): string {
  if (reason === "too_large") return `its definition is larger than ${definitionBytes(options) / 1024} KiB`;
  return reason === "too_deep" ? "its definition is nested too deeply" : "its definition is not JSON";
}

/** @returns what is wrong; odd but harmless names pass: they are only ever shown cleaned, and travel as they are. */
function judgeName(name: unknown): string | undefined {
  if (typeof name !== "string") return "its name is not a string";
  if (name === "") return "its name is empty";
  if (name.length > MAX_NAME_LENGTH) return `its name is longer than ${MAX_NAME_LENGTH} characters`;
  if (!name.isWellFormed()) return "its name is no valid Unicode";
  // A control character in a name is never honest, and could end a header or a line of a log.
  return /[\u0000-\u001f\u007f-\u009f]/.test(name) ? "its name holds control characters" : undefined;
}

function judgeShape(value: JsonObject): string | undefined {
  for (const name of ["title", "description"]) {
    const text = ownProperty(value, name);
    if (text !== undefined && text !== null && typeof text !== "string") return `its ${name} is not a string`;
  }
  const annotations = ownProperty(value, "annotations");
  if (annotations !== undefined && annotations !== null && !isJsonObject(annotations))
    return "its annotations are not an object";
  return undefined;
}

function judgeInputSchema(schema: unknown): string | undefined {
  if (schema === undefined) return "it has no input schema";
  if (!isJsonObject(schema)) return `its input schema is ${kindName(schema)}, not an object`;
  const type = ownProperty(schema, "type");
  // MCP wants an object schema; without `type` it can still only be meant as one (TOOL-33).
  if (type !== undefined && type !== "object") return "its input schema does not describe an object";
  return undefined;
}

function boundsOf(options: ToolItemOptions): { readonly bounds: Partial<SchemaBounds> } {
  return { bounds: options.schemaBounds ?? {} };
}

/** An unusable output schema leaves the tool callable, without a check of its results. */
function judgeOutputSchema(
  value: JsonObject,
  options: ToolItemOptions,
  findings: Finding[],
): JsonObject | null {
  const schema = ownProperty(value, "outputSchema");
  if (schema === undefined || schema === null) return null;
  const compiled = isJsonObject(schema) ? compileSchema(schema, boundsOf(options)) : undefined;
  if (compiled?.ok === true && isJsonObject(schema)) return schema;
  const reason = compiled?.ok === false ? compiled.reason : "it is not an object";
  findings.push({
    rule: "schema.output-unusable",
    severity: "low",
    where: "/outputSchema",
    message: clip(`results are not checked, because the output schema cannot be used: ${reason}`, 300),
  });
  return null;
}

function titleOf(value: JsonObject): string | null {
  const annotations = ownProperty(value, "annotations");
  const own = ownProperty(value, "title");
  const title =
    typeof own === "string" ? own : isJsonObject(annotations) ? ownProperty(annotations, "title") : undefined;
  return typeof title === "string" && title !== "" ? oneLine(title, MAX_TITLE) : null;
}

function textOf(value: JsonObject, name: string, clean: (text: string) => string): string | null {
  const text = ownProperty(value, name);
  return typeof text === "string" && text !== "" ? clip(clean(text), MAX_DESCRIPTION) : null;
}

/** All text at once, which is the rule and fast; only what is suspicious is looked at piece by piece, for the place. */
function scanDefinition(value: JsonObject, findings: Finding[]): void {
  const texts = Object.keys(value)
    .filter((name) => name !== "_meta" && name !== "execution" && name !== "icons")
    .flatMap((name) => collectSchemaTexts((value[name] ?? null) as JsonValue, `/${name}`));
  const name = ownProperty(value, "name");
  const all = [typeof name === "string" ? name : "", ...texts.map(({ text }) => text)].join("\n\n");
  if (scanText(all, "").length === 0) return;
  const seen = new Set<string>();
  for (const { where, text } of texts) {
    for (const finding of scanText(text, where.slice(0, 200))) {
      if (findings.length >= MAX_FINDINGS || seen.has(`${finding.rule} ${where}`)) continue;
      seen.add(`${finding.rule} ${where}`);
      findings.push(finding);
    }
  }
}

/**
 * Raw JSON to a typed raw configuration, or to everything that is wrong with it: the schema's issues as sentences with the
 * fix, unknown keys with the nearest valid one, keys of other clients by name, keys that are not implemented yet.
 */
import type * as z from "zod";
import { adviseForeignKey } from "./foreign-keys.ts";
import { nearestName } from "./nearest.ts";
import { wrongKey, wrongValue, type ConfigPath, type RawProblem } from "./problems.ts";
import { configSchema, type RawConfig } from "./schema.ts";
import { listKeysAt } from "./schema-walk.ts";
import { quoteLiteral } from "./secret-shape.ts";
import { findNotYet } from "./support.ts";

export type CheckedConfig =
  | { readonly ok: true; readonly raw: RawConfig }
  | { readonly ok: false; readonly problems: readonly RawProblem[] };

/** More problems than anybody reads; the rest of a hostile file is not looked at. */
const MAX_PROBLEMS = 1_000;

/** Checks plain JSON (see `copyPlainJson`). Never throws. */
export function checkConfig(value: unknown): CheckedConfig {
  const result = configSchema.safeParse(value, { error: describeIssue, jitless: true });
  const problems = result.success
    ? []
    : withoutSafeRange(result.error.issues).flatMap((issue) => toProblems(issue, []));
  // What is not implemented is told along with the rest, so that nobody has to correct a file twice.
  problems.push(...findNotYet(value));
  if (problems.length > 0 || !result.success) return { ok: false, problems: problems.slice(0, MAX_PROBLEMS) };
  return { ok: true, raw: result.data };
}

type Issue = z.core.$ZodIssue;

/** Words for an issue that its schema has no own words for; the schema's own words win over these. */
export function describeIssue(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case "invalid_type":
      if (issue.input === undefined) return "is missing";
      return `expected ${describeType(issue.expected)}, got ${quoteLiteral(issue.input)}`;
    case "invalid_value": {
      if (issue.input === undefined) return "is missing";
      const choices = issue.values.map((choice) => `\`${String(choice)}\``);
      const near =
        typeof issue.input === "string" ? nearestName(issue.input, issue.values.map(String)) : null;
      const hint = near === null ? "" : `; did you mean \`${near}\`?`;
      return `expected ${joinChoices(choices)}, got ${quoteLiteral(issue.input)}${hint}`;
    }
    case "too_small":
      return `must ${describeBound(issue.origin, "at least", Number(issue.minimum))}`;
    case "too_big":
      return `must ${describeBound(issue.origin, "at most", Number(issue.maximum))}`;
    case "invalid_format":
      return `has not the right form: ${quoteLiteral(issue.input)}`;
    default:
      return undefined;
  }
}

/** Of two bounds that a whole number breaks, its own says more than that of all whole numbers. */
function withoutSafeRange(issues: readonly Issue[]): readonly Issue[] {
  const isOwn = (issue: Issue): boolean => !("note" in issue) || issue.note === undefined;
  const own = new Set(issues.filter(isOwn).map(({ path }) => path.join("\0")));
  return issues.filter((issue) => isOwn(issue) || !own.has(issue.path.join("\0")));
}

function describeType(expected: string): string {
  const words: Readonly<Record<string, string>> = {
    string: "text in quotes",
    number: "a number",
    int: "a whole number",
    boolean: "`true` or `false`",
    object: "an object",
    record: "an object",
    array: "a list",
  };
  return words[expected] ?? expected;
}

function joinChoices(choices: readonly string[]): string {
  if (choices.length <= 1) return choices.join("");
  return `${choices.slice(0, -1).join(", ")} or ${choices.at(-1) ?? ""}`;
}

function describeBound(origin: string, bound: string, limit: number): string {
  if (origin === "string")
    return limit === 1 && bound === "at least" ? "not be empty" : `have ${bound} ${limit} characters`;
  if (origin === "array")
    return limit === 1 && bound === "at least" ? "not be empty" : `have ${bound} ${limit} items`;
  return `be ${bound} ${limit}`;
}

function toProblems(issue: Issue, base: ConfigPath): RawProblem[] {
  const path: ConfigPath = [
    ...base,
    ...issue.path.map((part) => (typeof part === "symbol" ? String(part) : part)),
  ];
  switch (issue.code) {
    case "unrecognized_keys":
      return issue.keys.slice(0, MAX_PROBLEMS).map((key) => unknownKey(path, key));
    case "invalid_union": {
      const branch = closestBranch(issue.errors);
      return branch === null
        ? [wrongValue(path, issue.message)]
        : branch.flatMap((inner) => toProblems(inner, path));
    }
    case "invalid_key":
      return issue.issues.map((inner) => wrongKey(path, inner.message));
    default:
      return [issue.message === "is missing" ? missing(path) : wrongValue(path, issue.message)];
  }
}

function missing(path: ConfigPath): RawProblem {
  return wrongKey(path, `\`${String(path.at(-1))}\` is missing: add it`);
}

function unknownKey(parent: ConfigPath, key: string): RawProblem {
  const path = [...parent, key];
  const advice = adviseForeignKey(parent, key);
  const shown = `\`${JSON.stringify(key.slice(0, 80)).slice(1, -1)}\``;
  if (advice !== null) return wrongKey(path, `${shown} ${advice}`);
  const valid = listKeysAt(parent);
  const near = nearestName(key, valid);
  if (near !== null) return wrongKey(path, `unknown key ${shown}; did you mean \`${near}\`?`);
  return wrongKey(
    path,
    `unknown key ${shown}; keys here are ${joinChoices(valid.map((name) => `\`${name}\``))}`,
  );
}

/** The branch of a union whose kind of value was meant: the one that got past the outermost type. */
function closestBranch(branches: readonly (readonly Issue[])[]): readonly Issue[] | null {
  const inside = branches.filter((issues) =>
    issues.every(
      (issue) =>
        issue.path.length > 0 ||
        !["invalid_type", "invalid_value", "invalid_format", "invalid_union"].includes(issue.code),
    ),
  );
  return inside[0] ?? null;
}

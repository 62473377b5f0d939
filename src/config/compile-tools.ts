/** Rules of `tools`: exact names first, then patterns, most specific first. */
import type { JsonObject } from "../base/json.ts";
import { GRADES, type Grade } from "../vocabulary.ts";
import type { GuardRule, ToolRule } from "./compiled.ts";
import { parseDuration } from "./duration.ts";
import type { ConfigFacts, Notes } from "./facts.ts";
import { resolveConfigPath } from "./paths.ts";
import { compareRules, isExactPattern } from "./pattern.ts";
import { formatPath, type ConfigPath } from "./problems.ts";
import type { RawServer } from "./schema-server.ts";
import type { RawGuard, RawToolRule } from "./schema-tool-rule.ts";

/** The rules of an entry in their order of precedence. */
export function compileTools(
  name: string,
  raw: RawServer,
  facts: ConfigFacts,
  notes: Notes,
): readonly ToolRule[] {
  const defaultGrade = raw.default ?? "L2";
  if (raw.source === undefined && isBelowL2(defaultGrade)) {
    notes.warn(
      ["mcpServers", name, "default"],
      'grades unknown tools below L2, which counts only where "source" is set',
    );
  }
  const rules = Object.entries(raw.tools ?? {}).map(([pattern, rule]) => {
    const path: ConfigPath = ["mcpServers", name, "tools", pattern];
    const object: RawToolRule = typeof rule === "string" ? { grade: rule } : rule;
    noteOddities(object, defaultGrade, path, notes);
    if (
      raw.source === undefined &&
      !isExactPattern(pattern) &&
      object.grade !== undefined &&
      isBelowL2(object.grade)
    ) {
      notes.warn(path, 'a pattern below L2 counts only where "source" is set: set it, or name the tools');
    }
    return compileRule(pattern, object, path, facts);
  });
  return rules.sort(compareRules);
}

function isBelowL2(grade: Grade): boolean {
  return GRADES.indexOf(grade) < GRADES.indexOf("L2");
}

function compileRule(pattern: string, rule: RawToolRule, path: ConfigPath, facts: ConfigFacts): ToolRule {
  return {
    pattern,
    isExact: isExactPattern(pattern),
    path: formatPath(path),
    grade: rule.grade ?? null,
    enabled: rule.enabled ?? false,
    ask: rule.ask ?? false,
    when: (rule.when ?? []).map((condition) => ({
      arguments: condition.arguments as ToolRule["when"][number]["arguments"],
      grade: condition.grade,
    })),
    say: rule.say ?? null,
    items: rule.items ?? null,
    confirm: rule.confirm ?? null,
    preview: compileCall(rule.preview),
    guards: compileGuards(rule.guard ?? {}, facts),
    undo: compileCall(rule.undo),
    idempotent: rule.idempotent ?? false,
    labels: rule.labels ?? [],
    timeoutMs: rule.timeout === undefined ? null : parseDuration(rule.timeout),
    schema: (rule.schema as JsonObject | undefined) ?? null,
  };
}

function compileCall(call: { tool: string; args?: unknown } | undefined): ToolRule["undo"] {
  return call === undefined ? null : { tool: call.tool, args: (call.args as JsonObject | undefined) ?? {} };
}

function compileGuards(guard: RawGuard, facts: ConfigFacts): readonly GuardRule[] {
  return [
    ...toList(guard.sql).map((sql): GuardRule => ({
      kind: "sql",
      argument: sql.argument,
      dialect: sql.dialect ?? "postgresql",
      maxRows: sql.maxRows ?? 1_000,
    })),
    ...toList(guard.path).map((path): GuardRule => ({
      kind: "path",
      argument: path.argument,
      roots: path.roots.map((root) => resolveConfigPath(root, facts)),
    })),
    ...toList(guard.url).map((url): GuardRule => ({ kind: "url", argument: url.argument, hosts: url.hosts })),
    ...toList(guard.number).map((number): GuardRule => ({
      kind: "number",
      argument: number.argument,
      min: number.min ?? null,
      max: number.max ?? null,
    })),
    ...toList(guard.match).map((match): GuardRule => ({
      kind: "match",
      argument: match.argument,
      pattern: match.pattern,
    })),
  ];
}

function toList<T>(value: T | readonly T[] | undefined): readonly T[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? (value as readonly T[]) : [value as T];
}

/** Settings that would be without effect, or the contrary of what was meant. */
function noteOddities(rule: RawToolRule, defaultGrade: Grade, path: ConfigPath, notes: Notes): void {
  const grade = rule.grade ?? defaultGrade;
  const reached: readonly Grade[] = [grade, ...(rule.when ?? []).map((condition) => condition.grade)];
  if (rule.ask === true && grade === "L0") {
    notes.wrong([...path, "ask"], "an L0 call is never asked about: grade the tool L1 or L2");
  }
  if (rule.enabled === true && !reached.includes("L3")) {
    notes.warn([...path, "enabled"], "has no effect: it is for L3, and only L3");
  }
  if (rule.confirm !== undefined && !reached.includes("L3")) {
    notes.warn([...path, "confirm"], "has no effect: it is for L3, and only L3");
  }
  if (rule.undo !== undefined && grade !== "L1") {
    notes.warn([...path, "undo"], "has no effect: only L1 calls can be taken back");
  }
  for (const [index, condition] of (rule.when ?? []).entries()) {
    if (GRADES.indexOf(condition.grade) <= GRADES.indexOf(grade)) {
      notes.warn([...path, "when", index, "grade"], `never raises anything: the tool is ${grade} already`);
    }
    for (const [argument, test] of Object.entries(condition.arguments)) {
      if (Object.keys(test).length > 0) continue;
      notes.wrong(
        [...path, "when", index, "arguments", argument],
        "tests nothing: add `equals`, `matches`, `above`, …",
      );
    }
  }
  if (rule.say !== undefined && !/^(?:[^{}]|\{[^{}\s]+\})*$/.test(rule.say)) {
    notes.wrong([...path, "say"], "has a brace that is not part of `{argument}`: close it or leave it out");
  }
}

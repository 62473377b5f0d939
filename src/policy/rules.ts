/**
 * Which rules of the configuration speak about a tool, and what they say together.
 *
 * Invariants: what protects (conditions, guards, `ask`) adds up over all matching rules; what is descriptive comes from the
 * most specific rule that says it; what loosens (a grade below L2, `enabled`, `idempotent`, a harmless label) counts from a
 * pattern only where the server has a `source` and the tool was there when the server was first accepted.
 */
import type { JsonObject } from "../base/json.ts";
import type { ArgumentCondition, GuardRule, Label, ServerConfig, ToolRule } from "../config/compiled.ts";

/** What is known of a tool, apart from the configuration. */
export interface ToolFacts {
  /** The server's own name of it. */
  readonly name: string;
  /** The `annotations` of the definition as they came: a claim of unknown shape. */
  readonly annotations: unknown;
  /** Whether it was listed when the server was first accepted (or has been reviewed since). */
  readonly wasPresentAtAcceptance: boolean;
}

/** The rules of one tool, merged. */
export interface ToolPolicy {
  /** Most specific first; what a pattern may not loosen is not taken out here. */
  readonly rules: readonly ToolRule[];
  readonly ask: boolean;
  readonly when: readonly ArgumentCondition[];
  readonly guards: readonly GuardRule[];
  readonly labels: readonly Label[];
  readonly enabled: boolean;
  readonly idempotent: boolean;
  readonly say: string | null;
  readonly items: string | null;
  readonly confirm: string | null;
  readonly preview: ToolRule["preview"];
  readonly undo: ToolRule["undo"];
  readonly timeoutMs: number | null;
  readonly schema: JsonObject | null;
}

const HARMLESS = new Set<Label>(["public", "trusted", "internal"]);

/** Tools remembered per server; a server that renames its tools for ever only empties the cache. */
const MAX_CACHED_TOOLS = 4_096;

const cache = new WeakMap<ServerConfig, Map<string, ToolPolicy>>();

/** The merged rules of a tool. Remembered per configuration, so it is cheap to ask at each call. */
export function policyOf(server: ServerConfig, tool: ToolFacts): ToolPolicy {
  let known = cache.get(server);
  if (known === undefined) {
    known = new Map();
    cache.set(server, known);
  }
  const key = tool.wasPresentAtAcceptance ? tool.name : `\0${tool.name}`;
  const hit = known.get(key);
  if (hit !== undefined) return hit;
  if (known.size >= MAX_CACHED_TOOLS) known.clear();
  const merged = mergeRules(server, tool);
  known.set(key, merged);
  return merged;
}

/** Whether a rule may make a tool less guarded: an exact name may, a pattern only for what the operator has looked at. */
export function mayLoosen(rule: ToolRule, server: ServerConfig, tool: ToolFacts): boolean {
  return rule.isExact || (server.source !== null && tool.wasPresentAtAcceptance);
}

function mergeRules(server: ServerConfig, tool: ToolFacts): ToolPolicy {
  const rules = server.tools.filter((rule) =>
    rule.isExact ? rule.pattern === tool.name : matchesPattern(rule.pattern, tool.name),
  );
  const loosening = rules.filter((rule) => mayLoosen(rule, server, tool));
  const gradedAt = loosening.findIndex((rule) => rule.grade !== null);
  const enabling = gradedAt < 0 ? loosening : loosening.slice(0, gradedAt + 1);
  const first = <K extends "say" | "items" | "confirm" | "preview" | "undo" | "timeoutMs" | "schema">(
    name: K,
  ): ToolRule[K] | null => rules.find((rule) => rule[name] !== null)?.[name] ?? null;
  return {
    rules,
    ask: rules.some((rule) => rule.ask),
    when: rules.flatMap((rule) => rule.when),
    guards: rules.flatMap((rule) => rule.guards),
    labels: rules.flatMap((rule) =>
      rule.labels.filter((label) => !HARMLESS.has(label) || mayLoosen(rule, server, tool)),
    ),
    enabled: enabling.some((rule) => rule.enabled),
    idempotent: loosening.some((rule) => rule.idempotent),
    say: first("say"),
    items: first("items"),
    confirm: first("confirm"),
    preview: first("preview"),
    undo: first("undo"),
    timeoutMs: first("timeoutMs"),
    schema: first("schema"),
  };
}

/** Whether `name` fits `pattern`, where `*` stands for any run of characters. Linear in the length of both. */
export function matchesPattern(pattern: string, name: string): boolean {
  const parts = pattern.split("*");
  const head = parts[0] ?? "";
  if (parts.length === 1) return head === name;
  const tail = parts[parts.length - 1] ?? "";
  if (name.length < head.length + tail.length || !name.startsWith(head) || !name.endsWith(tail)) return false;
  let at = head.length;
  const end = name.length - tail.length;
  for (const part of parts.slice(1, -1)) {
    const found = name.indexOf(part, at);
    if (found < 0 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}

/**
 * What could take a call back: made of the tool's rule, its arguments and its result. Pure; the undo itself is a governed
 * call like any other. Only a tool whose rule has `undo` is ever called reversible.
 */
import { isJsonObject, parseJson, type JsonObject, type JsonValue } from "../base/json.ts";
import type { ArgumentOrigin } from "./details.ts";
import { fillTemplate } from "./template.ts";

interface UndoOffer {
  /** The server's own name of the tool that takes it back. */
  readonly tool: string;
  readonly arguments: JsonObject;
  /** Milliseconds since the epoch; from then on it is refused. */
  readonly until: number;
  /** Which of the arguments came out of the result. */
  readonly origins: readonly ArgumentOrigin[];
}

export interface UndoInput {
  /** From the tool's rule. */
  readonly undo: { readonly tool: string; readonly args: JsonObject } | null;
  /** What the call is named to people, for example `github create_issue`. */
  readonly from: string;
  /** As they were sent. */
  readonly arguments: JsonObject;
  /** The result as it came: `structuredContent`, or the first text block where that is a JSON object. */
  readonly result: unknown;
  /** When the call was completed, milliseconds since the epoch. */
  readonly at: number;
  /** Default 30 seconds. */
  readonly windowMs?: number;
}

export type UndoVerdict =
  | { readonly kind: "offered"; readonly offer: UndoOffer }
  | { readonly kind: "none"; readonly reason: string };

const WINDOW_MS = 30_000;
const MAX_TEXT = 1024 * 1024;

/** The template may name `$result.a.b` and `$arguments.a` (see `fillTemplate`). */
export function offerUndo(input: UndoInput): UndoVerdict {
  const { undo } = input;
  if (undo === null) return { kind: "none", reason: "the tool has no `undo`" };
  const roots: Readonly<Record<string, JsonValue | undefined>> = {
    result: readResult(input.result),
    arguments: input.arguments,
  };
  const filled = fillTemplate(undo.args, roots, (root) =>
    root === "result" ? `taken from the result of \`${input.from}\`` : null,
  );
  const { value: args, missing, origins } = filled;
  if (!isJsonObject(args)) return { kind: "none", reason: "the template of `undo` is not an object" };
  const [first] = missing;
  if (first !== undefined)
    return { kind: "none", reason: `it cannot be taken back: there is no \`${first}\`` };
  return {
    kind: "offered",
    offer: { tool: undo.tool, arguments: args, until: input.at + (input.windowMs ?? WINDOW_MS), origins },
  };
}

/** Whether an offer may still be taken. @param wasUsed whether somebody has taken it before: it works once. */
export function isUndoOpen(until: number | null, now: number, wasUsed: boolean): boolean {
  return until !== null && now < until && !wasUsed;
}

function readResult(result: unknown): JsonValue | undefined {
  if (!isJsonObject(result)) return undefined;
  const structured = result["structuredContent"];
  if (structured !== undefined && structured !== null) return structured;
  const content = result["content"];
  const block = Array.isArray(content)
    ? content.find((one) => isJsonObject(one) && one["type"] === "text")
    : undefined;
  const text = isJsonObject(block) ? block["text"] : undefined;
  if (typeof text !== "string" || text.length > MAX_TEXT) return undefined;
  const parsed = parseJson(text);
  return isJsonObject(parsed) || Array.isArray(parsed) ? parsed : undefined;
}

/**
 * From the text of one line, event or body to JSON-RPC messages, by shape alone, and back: what a member means is the
 * codecs' business. Reading never throws, whatever the text is.
 *
 * Bounds that JSON itself does not have are held before parsing, because a parsed value can be many times larger than its
 * text, and because everything later walks it: depth (`MAX_DEPTH`) and number of containers (`MAX_CONTAINERS`). In an answer
 * what goes too deep becomes `null`, so that one tool or block of a list does not take the others with it.
 */
import { isJsonObject, ownProperty, parseJson, type JsonValue } from "../base/json.ts";
import { PortcullisError } from "../errors.ts";
import type { JsonRpcMessage, RequestId } from "../protocol/jsonrpc.ts";
import type { Oddity } from "./transport.ts";
import { visibleSample } from "./visible.ts";

/** Levels of objects and arrays in one message. */
export const MAX_DEPTH = 256;
/** Objects and arrays in one message; each costs memory out of proportion to its two bytes. */
export const MAX_CONTAINERS = 1_000_000;

export interface ParsedText {
  /** In order. */
  readonly messages: readonly JsonRpcMessage[];
  readonly oddities: readonly Oddity[];
  /** Set where the text is beyond a bound: nothing of it was parsed. */
  readonly excess?: Excess;
}

/** What is known of a message that goes beyond a bound. */
interface Excess {
  readonly bound: "depth" | "containers";
  /** The id of the request that it answers, where it is a response. */
  readonly answers?: RequestId;
}

const NOTHING: readonly never[] = [];

/**
 * @param text one JSON text; white space around it is fine.
 * @param noiseKind the `Oddity.kind` of text that is no JSON-RPC message, for example `stdio.noise-line`.
 */
export function parseMessageText(text: string, noiseKind: string): ParsedText {
  const noise = (): ParsedText => ({
    messages: NOTHING,
    oddities: [{ kind: noiseKind, sample: visibleSample(text) }],
  });
  if (!mayBeJsonRpc(text)) return noise();
  const excess = findExcess(text);
  if (excess !== undefined) {
    const oddities = [{ kind: `jsonrpc.${excess.bound}`, sample: visibleSample(text) }];
    const cut =
      excess.bound === "depth" && excess.answers !== undefined ? parseJson(cutDepth(text)) : undefined;
    if (cut !== undefined && isMessage(cut)) return { messages: [cut], oddities };
    return { messages: NOTHING, oddities, excess };
  }
  const value = parseJson(text);
  if (value === undefined) return noise();
  if (!Array.isArray(value)) {
    if (!isMessage(value)) return noise();
    return { messages: [value], oddities: NOTHING };
  }
  const messages = value.filter(isMessage);
  if (messages.length === 0) return noise();
  const left = value.length - messages.length;
  const note = left === 0 ? "" : `, of which ${left} are no messages`;
  return { messages, oddities: [{ kind: "jsonrpc.batch", sample: `batch of ${value.length}${note}` }] };
}

/** The JSON text of one message. @throws PortcullisError `invalid_arguments` where it has none. */
export function toMessageText(message: JsonRpcMessage): string {
  try {
    return JSON.stringify(message);
  } catch (error) {
    const reason =
      "the message cannot be written as JSON: it is circular, nested too deeply or holds a BigInt";
    throw new PortcullisError("invalid_arguments", reason, { cause: error, data: { wasSent: false } });
  }
}

/** Sorts out banners and logs without the cost of a failed parse. */
function mayBeJsonRpc(text: string): boolean {
  const first = text.charCodeAt(0);
  return first === 0x7b || first === 0x5b || first <= 0x20 || first === 0xfeff;
}

/**
 * By shape: an object with a `method`, a `result` or an `error`; or one that says `"jsonrpc": "2.0"` and has an id, so
 * that a response without content settles its request instead of leaving it to a time-out.
 */
function isMessage(value: JsonValue): value is JsonValue & JsonRpcMessage {
  if (!isJsonObject(value)) return false;
  if (typeof ownProperty(value, "method") === "string") return true;
  if (Object.hasOwn(value, "result") || Object.hasOwn(value, "error")) return true;
  const id = ownProperty(value, "id");
  return ownProperty(value, "jsonrpc") === "2.0" && (typeof id === "string" || typeof id === "number");
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Whether `text` goes beyond a bound, without parsing it; linear. Text that is not JSON may get either answer. */
function findExcess(text: string): Excess | undefined {
  // A container takes at least one character: shorter texts cannot go too deep.
  if (text.length <= MAX_DEPTH) return undefined;
  let depth = 0;
  let containers = 0;
  let bound: Excess["bound"] | undefined;
  let id: JsonValue | undefined;
  let isCall = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const open = at;
      at = endOfString(text, at);
      if (at < 0) return undefined;
      if (depth !== 1 || at - open > LONGEST_NAME) continue;
      const name = text.slice(open, at + 1);
      if (name === '"method"') isCall = true;
      else if (name === '"id"') id = scalarAfter(text, at + 1) ?? id;
    } else if (code === 0x7b || code === 0x5b) {
      depth += 1;
      containers += 1;
      if (containers > MAX_CONTAINERS) bound = "containers";
      else if (depth > MAX_DEPTH) bound ??= "depth";
    } else if (code === 0x7d || code === 0x5d) {
      depth -= 1;
    }
  }
  if (bound === undefined) return undefined;
  const answers = !isCall && (typeof id === "string" || typeof id === "number") ? id : undefined;
  return answers === undefined ? { bound } : { bound, answers };
}

/** `text` with `null` for every container below `MAX_DEPTH`; linear. */
function cutDepth(text: string): string {
  const kept: string[] = [];
  let depth = 0;
  let from = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(text, at);
      if (at < 0) return text;
    } else if (code === 0x7b || code === 0x5b) {
      depth += 1;
      if (depth === MAX_DEPTH + 1) kept.push(text.slice(from, at));
    } else if (code === 0x7d || code === 0x5d) {
      depth -= 1;
      if (depth !== MAX_DEPTH) continue;
      kept.push("null");
      from = at + 1;
    }
  }
  return `${kept.join("")}${text.slice(from)}`;
}

const LONGEST_NAME = '"method"'.length;
/** An id longer than this was not made here. */
const LONGEST_ID = 200;

/** The string, number or literal behind the colon at `from`; `undefined` where none stands there. */
function scalarAfter(text: string, from: number): JsonValue | undefined {
  const match = /^\s*:\s*("(?:[^"\\]|\\.)*"|[^\s,}\]]+)/.exec(text.slice(from, from + LONGEST_ID));
  return match?.[1] === undefined ? undefined : parseJson(match[1]);
}

/** The closing quote of the string that opens at `open`; -1 where there is none. */
function endOfString(text: string, open: number): number {
  for (let quote = text.indexOf('"', open + 1); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let slashes = 0;
    while (text.charCodeAt(quote - 1 - slashes) === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return quote;
  }
  return -1;
}

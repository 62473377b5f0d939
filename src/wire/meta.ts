/**
 * `_meta`: which keys are reserved, W3C trace context, and identity. Source: basic/index#_meta, SEP-414, W3C Trace Context.
 */
import { isJsonObject, ownProperty, type JsonObject } from "../base/json.ts";
import { metaKeys } from "../protocol/codes.ts";
import type { Implementation } from "../protocol/types.ts";
import { readTraceParent } from "../telemetry/trace-parent.ts";
import type { TraceContext } from "../vocabulary.ts";

const LABEL = /^[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?$/;
const NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/;
const PRINTABLE = /^[\x20-\x7e]*$/;
const MAX_TRACESTATE = 512;
const MAX_BAGGAGE = 8_192;

/** Whether `key` belongs to MCP: its prefix has `modelcontextprotocol` or `mcp` as the second label, or it is one of the bare names. */
export function isReservedMetaKey(key: string): boolean {
  if (
    key === metaKeys.progressToken ||
    key === metaKeys.traceparent ||
    key === metaKeys.tracestate ||
    key === metaKeys.baggage
  ) {
    return true;
  }
  const slash = key.indexOf("/");
  if (slash < 0) return false;
  const second = key.slice(0, slash).split(".")[1];
  return second === "modelcontextprotocol" || second === "mcp";
}

/** Whether `key` has the form that the specification asks of our own keys: an optional dotted prefix, then a name. */
export function isValidMetaKey(key: string): boolean {
  const slash = key.indexOf("/");
  if (
    slash >= 0 &&
    !key
      .slice(0, slash)
      .split(".")
      .every((label) => LABEL.test(label))
  )
    return false;
  return NAME.test(key.slice(slash + 1));
}

/** The members of `trace` that may be sent. `tracestate` and `baggage` go only with a valid `traceparent`. */
export function traceMembers(trace: TraceContext): JsonObject {
  const { traceparent, tracestate, baggage } = trace;
  if (traceparent === undefined || readTraceParent(traceparent) === undefined) return {};
  const members: JsonObject = { traceparent };
  if (tracestate !== undefined && tracestate.length <= MAX_TRACESTATE && PRINTABLE.test(tracestate))
    members["tracestate"] = tracestate;
  if (baggage !== undefined && baggage.length <= MAX_BAGGAGE && PRINTABLE.test(baggage))
    members["baggage"] = baggage;
  return members;
}

/** The trace context of received `_meta`, as far as it has the W3C form. */
export function readTrace(meta: JsonObject | undefined): TraceContext {
  if (meta === undefined) return {};
  const text = (name: string): string | undefined => {
    const value = ownProperty(meta, name);
    return typeof value === "string" ? value : undefined;
  };
  return traceMembers({
    ...optional("traceparent", text("traceparent")),
    ...optional("tracestate", text("tracestate")),
    ...optional("baggage", text("baggage")),
  });
}

function optional(name: string, value: string | undefined): Record<string, string> {
  return value === undefined ? {} : { [name]: value };
}

/** `_meta` of params or of a result; `undefined` where there is none. */
export function readMeta(holder: JsonObject | undefined): JsonObject | undefined {
  const meta = holder === undefined ? undefined : ownProperty(holder, "_meta");
  return isJsonObject(meta) ? meta : undefined;
}

/** A peer's own account of itself: both strings, other members as they came. Never trusted. */
export function readImplementation(value: unknown): Implementation | undefined {
  if (!isJsonObject(value)) return undefined;
  const name = ownProperty(value, "name");
  if (typeof name !== "string") return undefined;
  const version = ownProperty(value, "version");
  return { ...value, name, version: typeof version === "string" ? version : "" };
}

/** `serverInfo` of a result: in `_meta` (2026-07-28) or at the top level (legacy, and older drafts). */
export function readServerInfo(result: JsonObject): Implementation | undefined {
  const meta = readMeta(result);
  const inMeta = meta === undefined ? undefined : readImplementation(ownProperty(meta, metaKeys.serverInfo));
  return inMeta ?? readImplementation(ownProperty(result, "serverInfo"));
}

/**
 * The headers of the modern HTTP transport that mirror a request: `Mcp-Method`, `Mcp-Name`, `Mcp-Param-*`, and their
 * encoding. Pure; client role (encode) and server role (decode). Source: transports/streamable-http#standard-request-headers,
 * #custom-headers-from-tool-parameters, #value-encoding.
 *
 * Invariants: a value that leaves here is visible ASCII, spaces and inner tabs, never CR or LF; `decodeHeaderValue` gives
 * back what `encodeHeaderValue` was given.
 */
import { ownProperty, type JsonObject } from "../base/json.ts";
import { methods } from "../protocol/methods.ts";
import type { HeaderPlan } from "./header-plan.ts";

const PREFIX = "=?base64?";
const SUFFIX = "?=";
/** Visible ASCII, spaces and tabs, with neither space nor tab at an end. */
const PLAIN = /^(?:[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?)?$/;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** The header form of `text`: as it is where that is safe and unambiguous, otherwise the Base64 sentinel form. */
export function encodeHeaderValue(text: string): string {
  const looksEncoded = text.startsWith(PREFIX) && text.endsWith(SUFFIX);
  if (!looksEncoded && PLAIN.test(text)) return text;
  return `${PREFIX}${Buffer.from(text, "utf8").toString("base64")}${SUFFIX}`;
}

/** The text that a header value stands for; `undefined` for a sentinel whose Base64 or UTF-8 is broken. */
export function decodeHeaderValue(value: string): string | undefined {
  if (!value.startsWith(PREFIX) || !value.endsWith(SUFFIX) || value.length < PREFIX.length + SUFFIX.length)
    return value;
  const base64 = value.slice(PREFIX.length, -SUFFIX.length);
  if (!BASE64.test(base64)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.from(base64, "base64"));
  } catch {
    return undefined;
  }
}

/** The member of params that `Mcp-Name` repeats, by method. */
const NAMED_BY: Readonly<Record<string, string>> = {
  [methods.callTool]: "name",
  [methods.getPrompt]: "name",
  [methods.readResource]: "uri",
  [methods.getTask]: "taskId",
  [methods.updateTask]: "taskId",
  [methods.cancelTask]: "taskId",
};

/** What `Mcp-Name` must say for a request; `undefined` where the method has no such header. */
function mirroredName(method: string, params: JsonObject | undefined): string | undefined {
  const member = Object.hasOwn(NAMED_BY, method) ? NAMED_BY[method] : undefined;
  if (member === undefined || params === undefined) return undefined;
  const name = ownProperty(params, member);
  return typeof name === "string" ? name : undefined;
}

/**
 * The mirrored headers of one modern request, names in lower case. `plan` only counts for `tools/call`.
 *
 * @throws RangeError for an annotated integer outside ±(2^53−1): it cannot be mirrored faithfully.
 */
export function requestHeaders(
  revision: string,
  method: string,
  params: JsonObject | undefined,
  plan: HeaderPlan | undefined,
): Record<string, string> {
  const headers: Record<string, string> = { "mcp-protocol-version": revision, "mcp-method": method };
  const name = mirroredName(method, params);
  if (name !== undefined) headers["mcp-name"] = encodeHeaderValue(name);
  if (plan === undefined || method !== methods.callTool || params === undefined) return headers;
  for (const entry of plan) {
    const text = mirroredText(valueAt(params["arguments"], entry.path), entry.path);
    if (text !== undefined) headers[`mcp-param-${entry.header.toLowerCase()}`] = encodeHeaderValue(text);
  }
  return headers;
}

function valueAt(root: unknown, path: readonly string[]): unknown {
  let value = root;
  for (const key of path) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
    value = ownProperty(value, key);
  }
  return value;
}

/** The text of one mirrored argument; `undefined` for absent and null, and for a value that is no primitive. */
function mirroredText(value: unknown, path: readonly string[]): string | undefined {
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return String(value);
  if (typeof value !== "number") return undefined;
  if (!Number.isSafeInteger(value)) {
    throw new RangeError(
      `argument \`${path.join(".")}\` must be a whole number within ±(2^53−1) to be sent as a header`,
    );
  }
  return Object.is(value, -0) ? "0" : String(value);
}

/**
 * Server role: compares the mirrored headers of a request with its body.
 *
 * @returns the name of the first header that is missing, superfluous or different, or `undefined` where all agree.
 */
export function findHeaderMismatch(
  received: Readonly<Record<string, string>>,
  expected: Readonly<Record<string, string>>,
): string | undefined {
  for (const [name, value] of Object.entries(expected)) {
    const got = Object.hasOwn(received, name) ? received[name] : undefined;
    if (got === undefined || decodeHeaderValue(got) !== decodeHeaderValue(value)) return name;
  }
  return Object.keys(received).find(
    (name) => name.startsWith("mcp-param-") && !Object.hasOwn(expected, name),
  );
}

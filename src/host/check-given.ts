/** What a program hands over, looked at where it comes in: there are no types in JavaScript, and whose call it is depends on it. */
import { isJsonObject } from "../base/json.ts";
import { PortcullisError } from "../errors.ts";
import type { CallOptions, HostOptions, TurnOptions } from "./api.ts";

/** @throws PortcullisError `usage`. */
export function checkHostOptions(options: HostOptions): void {
  checkObject("the options of a host", options);
  for (const name of ["onApproval", "onInput", "onEvent", "resolveSecret"] as const)
    check(name, options[name], "a function", (value) => typeof value === "function");
  check("role", options.role, "text", isText);
}

/** @throws PortcullisError `usage`. */
export function checkTurnOptions(options: TurnOptions): void {
  checkObject("the options of a turn", options);
  // Logins, approvals and limits are kept by it: what is made of no name would be everybody's.
  check("principal", options.principal, "a name", (value) => isText(value) && value !== "");
  check("conversation", options.conversation, "text", isText);
  check("userText", options.userText, "text", isText);
  check("signal", options.signal, "an AbortSignal", isSignal);
}

/** @throws PortcullisError `usage`. */
export function checkCallOptions(options: CallOptions): void {
  checkObject("the options of a call", options);
  check("signal", options.signal, "an AbortSignal", isSignal);
  check("onProgress", options.onProgress, "a function", (value) => typeof value === "function");
}

/** A name or address that a program or a model gave. @throws PortcullisError `usage` where it is no text. */
export function checkText(name: string, value: unknown): void {
  if (!isText(value)) throw misuse(name, value, "text");
}

/** What is `undefined` was not given. */
function check(name: string, value: unknown, wanted: string, isIt: (value: unknown) => boolean): void {
  if (value !== undefined && !isIt(value)) throw misuse(name, value, wanted);
}

function checkObject(what: string, value: unknown): void {
  if (!isJsonObject(value)) throw new PortcullisError("usage", `${what} must be an object`);
}

function isText(value: unknown): boolean {
  return typeof value === "string";
}

/** Also one of another realm. */
function isSignal(value: unknown): boolean {
  return (
    typeof value === "object" &&
    value !== null &&
    "aborted" in value &&
    "addEventListener" in value &&
    typeof value.addEventListener === "function"
  );
}

function misuse(name: string, value: unknown, wanted: string): PortcullisError {
  const got = value === null || value === "" ? JSON.stringify(value) : `a value of type ${typeof value}`;
  return new PortcullisError("usage", `\`${name}\` must be ${wanted}, and is ${got}`);
}

/**
 * One server entry of another client to one of ours. What every client has is converted here; what is special about a client is
 * said by its `Dialect`. Nothing is dropped silently, no literal secret is copied, and what comes out is valid by itself.
 */
import { isJsonObject, ownProperty, type JsonObject, type JsonValue } from "../../base/json.ts";
import { PortcullisError } from "../../errors.ts";
import { checkConfig } from "../check.ts";
import { compileConfig } from "../compile.ts";
import { formatDuration } from "../duration.ts";
import { formatPath } from "../problems.ts";
import type { ImportProblem, ImportResult } from "./importer.ts";
import { createTextConverter, type TextConverter, type VariableStyle } from "./literals.ts";

/** How a client writes what every client has. */
export interface Dialect {
  /** Named in messages, for example `Windsurf`. */
  readonly title: string;
  readonly variables: VariableStyle;
  /** Names of the address, in order of preference. Default `url`. */
  readonly urlKeys?: readonly string[];
  readonly headerKeys?: readonly string[];
  /** Unit of a `timeout` number. Default: milliseconds. */
  readonly timeoutUnit?: "ms" | "s";
  /** Keys without meaning here, left out without a word. */
  readonly ignored?: readonly string[];
  /** Converts what is special; says which keys it took. */
  readonly special?: (entry: JsonObject, made: JsonObject, tools: EntryTools) => readonly string[];
}

/** What a dialect's special part may use. */
export interface EntryTools {
  note(message: string): void;
  /** Converts configured text: variables, literal secrets. */
  text(value: string, where: string): string;
}

const REMOTE_TYPES: readonly string[] = [
  "http",
  "streamable-http",
  "streamableHttp",
  "streamable_http",
  "remote",
];
const LOCAL_TYPES: readonly string[] = ["stdio", "local"];

/** Converts all entries of `servers` (`null`: there are none). */
export function convertServers(servers: JsonObject | null, dialect: Dialect): ImportResult {
  const problems: ImportProblem[] = [];
  const converted: Record<string, JsonObject> = {};
  if (servers === null) {
    problems.push({ server: null, message: `no servers of ${dialect.title} are in this file` });
    return { servers: converted, problems };
  }
  const texts = createTextConverter(dialect.variables);
  for (const [name, entry] of Object.entries(servers)) {
    const note = (message: string): void => void problems.push({ server: name, message });
    if (!isJsonObject(entry)) {
      note("is no object and was left out");
      continue;
    }
    const clean = cleanName(name, converted);
    if (clean !== name)
      note(`is called \`${clean}\` here: names hold letters, digits, \`.\`, \`-\` and single \`_\``);
    const made = convertEntry(clean, entry, dialect, texts, note);
    const valid = made === null ? null : keepValid(clean, made, note);
    if (valid !== null) converted[clean] = valid;
  }
  return { servers: converted, problems };
}

/** A name that is valid here and not taken yet. */
function cleanName(name: string, taken: Readonly<Record<string, unknown>>): string {
  const base =
    name
      .replaceAll(/[^A-Za-z0-9._-]+/g, "-")
      .replaceAll(/_{2,}/g, "_")
      .replaceAll(/^[._-]+|[._-]+$/g, "")
      .slice(0, 56) || "server";
  const wanted = base.toLowerCase() === "portcullis" ? `${base}-server` : base;
  const names = new Set(Object.keys(taken).map((other) => other.toLowerCase()));
  for (let number = 1; ; number += 1) {
    const candidate = number === 1 ? wanted : `${wanted}-${number}`;
    if (!names.has(candidate.toLowerCase())) return candidate;
  }
}

function convertEntry(
  name: string,
  entry: JsonObject,
  dialect: Dialect,
  texts: TextConverter,
  note: (message: string) => void,
): JsonObject | null {
  const made: JsonObject = {};
  const taken = new Set<string>([
    "type",
    "transportType",
    "disabled",
    "enabled",
    "isActive",
    "timeout",
    ...(dialect.ignored ?? []),
  ]);
  const text = (value: string, where: string): string => texts.convert(value, { server: name, where, note });
  for (const key of dialect.special?.(entry, made, { note, text }) ?? []) taken.add(key);
  const command = ownProperty(entry, "command");
  const urlKey = [...(dialect.urlKeys ?? []), "url"].find(
    (key) => typeof ownProperty(entry, key) === "string",
  );
  if (typeof command === "string" && made["command"] === undefined)
    made["command"] = text(command, "command");
  if (made["command"] !== undefined) convertLocal(entry, made, text, note, taken);
  else if (urlKey !== undefined) convertRemote(entry, made, urlKey, dialect, text, note, taken);
  else {
    note("has neither a command nor an address and was left out");
    return null;
  }
  convertSwitches(entry, made, dialect, note);
  const rest = Object.keys(entry).filter((key) => !taken.has(key));
  if (rest.length > 0) note(`left out: ${rest.map((key) => `\`${key.slice(0, 60)}\``).join(", ")}`);
  return made;
}

type ConvertText = (value: string, where: string) => string;

function convertLocal(
  entry: JsonObject,
  made: JsonObject,
  text: ConvertText,
  note: (message: string) => void,
  taken: Set<string>,
): void {
  for (const key of ["command", "args", "env", "cwd"]) taken.add(key);
  const args = ownProperty(entry, "args");
  if (made["args"] === undefined && Array.isArray(args)) {
    const words = args.filter((arg) => typeof arg === "string" || typeof arg === "number").map(String);
    if (words.length < args.length) note("arguments that are no text were left out");
    made["args"] = words.map((arg, index) => text(arg, optionOf(words, index)));
  }
  const env = ownProperty(entry, "env");
  if (isJsonObject(env)) {
    const own = isJsonObject(made["env"]) ? made["env"] : {};
    made["env"] = { ...convertTexts(env, text, note), ...own };
  }
  const cwd = ownProperty(entry, "cwd");
  if (typeof cwd === "string" && cwd !== "") {
    const path = cwd.replace(/^\$\{workspace(?:Folder|Root)\}[/\\]?/, "./");
    if (path.includes("${")) note("`cwd` holds a variable and was left out");
    else made["cwd"] = path;
  }
}

/** What an argument is for: the option before it or in front of its `=`. */
function optionOf(args: readonly string[], index: number): string {
  const own = /^--?([A-Za-z][\w-]*)=/.exec(args[index] ?? "")?.[1];
  return own ?? /^--?([A-Za-z][\w-]*)$/.exec(args[index - 1] ?? "")?.[1] ?? `argument ${index + 1}`;
}

function convertRemote(
  entry: JsonObject,
  made: JsonObject,
  urlKey: string,
  dialect: Dialect,
  text: ConvertText,
  note: (message: string) => void,
  taken: Set<string>,
): void {
  for (const key of [...(dialect.urlKeys ?? []), "url", "headers", ...(dialect.headerKeys ?? [])])
    taken.add(key);
  made["url"] = text(String(ownProperty(entry, urlKey)), "url");
  for (const key of ["headers", ...(dialect.headerKeys ?? [])]) {
    const headers = ownProperty(entry, key);
    if (!isJsonObject(headers)) continue;
    const own = isJsonObject(made["headers"]) ? made["headers"] : {};
    made["headers"] = { ...convertTexts(headers, text, note), ...own };
  }
  const type = ownProperty(entry, "type") ?? ownProperty(entry, "transportType");
  const typeName = typeof type === "string" ? type : JSON.stringify(type);
  if (type === "sse") {
    made["transport"] = "sse";
    note(
      "uses the deprecated HTTP+SSE transport: try without `transport`, most such servers speak Streamable HTTP",
    );
  } else if (typeName !== undefined && !REMOTE_TYPES.includes(typeName) && !LOCAL_TYPES.includes(typeName)) {
    note(`its type \`${typeName.slice(0, 40)}\` is not known here`);
  }
}

function convertTexts(texts: JsonObject, text: ConvertText, note: (message: string) => void): JsonObject {
  const converted: JsonObject = {};
  for (const [key, value] of Object.entries(texts)) {
    if (typeof value === "string") converted[key] = text(value, key);
    else if (typeof value === "number" || typeof value === "boolean") converted[key] = String(value);
    else note(`\`${key.slice(0, 60)}\` is no text and was left out`);
  }
  return converted;
}

function convertSwitches(
  entry: JsonObject,
  made: JsonObject,
  dialect: Dialect,
  note: (message: string) => void,
): void {
  const isOff =
    ownProperty(entry, "disabled") === true ||
    ownProperty(entry, "enabled") === false ||
    ownProperty(entry, "isActive") === false;
  if (isOff) made["disabled"] = true;
  const timeout = ownProperty(entry, "timeout");
  if (timeout === undefined) return;
  const timeoutMs =
    typeof timeout === "number" ? Math.round(timeout * (dialect.timeoutUnit === "s" ? 1_000 : 1)) : 0;
  if (timeoutMs < 1_000) note("its `timeout` was left out");
  else setLimit(made, "timeout", timeoutMs);
}

/** Sets a duration in `limits`. */
export function setLimit(made: JsonObject, limit: "timeout" | "connect", durationMs: number): void {
  const limits = isJsonObject(made["limits"]) ? made["limits"] : {};
  made["limits"] = { ...limits, [limit]: formatDuration(durationMs) };
}

/** Tools that the other client shows or hides: only those listed stay on (L2), those hidden are off. */
export function setToolFilter(
  made: JsonObject,
  shown: JsonValue | undefined,
  hidden: JsonValue | undefined,
): void {
  const tools: JsonObject = isJsonObject(made["tools"]) ? { ...made["tools"] } : {};
  const names = (list: JsonValue | undefined): string[] =>
    Array.isArray(list) ? list.filter((name) => typeof name === "string").map(toolName) : [];
  if (Array.isArray(shown) && !shown.includes("*")) {
    made["default"] = "off";
    for (const name of names(shown)) tools[name] = "L2";
  }
  for (const name of names(hidden)) tools[name] = "off";
  if (Object.keys(tools).length > 0) made["tools"] = tools;
}

/** Gemini allows `name(argument)`; the name counts. */
function toolName(name: string): string {
  return name.replace(/\(.*$/, "");
}

/** Takes out what is not implemented yet; `null` where the entry is not valid then. */
function keepValid(name: string, made: JsonObject, note: (message: string) => void): JsonObject | null {
  const entry: JsonObject = structuredClone(made);
  for (let round = 0; round < 3; round += 1) {
    const checked = checkConfig({ mcpServers: { [name]: entry } });
    if (checked.ok) return compiles(name, entry, note) ? entry : null;
    for (const problem of checked.problems) {
      const key = problem.path[2];
      if (problem.code !== "config_not_yet" || typeof key !== "string") {
        note(`was left out: ${formatPath(problem.path.slice(2)) || name} ${problem.message}`);
        return null;
      }
      delete entry[key];
      note(`\`${key}\` was left out: this version does not implement it yet`);
    }
  }
  return null;
}

/** Whether the entry alone makes a configuration; paths do not matter for that. */
function compiles(name: string, entry: JsonObject, note: (message: string) => void): boolean {
  const facts = { file: null, baseDir: "/", homeDir: "/", platform: "linux", stateDir: "/" } as const;
  try {
    compileConfig({ mcpServers: { [name]: entry } }, facts);
    return true;
  } catch (error) {
    if (!(error instanceof PortcullisError)) throw error;
    note(`was left out: ${error.message.replaceAll(formatPath(["mcpServers", name]), () => name)}`);
    return false;
  }
}

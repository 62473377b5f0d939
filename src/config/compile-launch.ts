/** How a server is reached: a local program or a remote address, and whether it may run as the entry stands. */
import type { Launch, LaunchedPackage, LateText, ServerConfig } from "./compiled.ts";
import { checkHeaders, checkUrl } from "./compile-remote.ts";
import type { ConfigFacts, Notes } from "./facts.ts";
import { compileLateText, proposeVariable } from "./late-text.ts";
import { classifyLaunch } from "./launch-command.ts";
import { resolveCommand, resolveConfigPath } from "./paths.ts";
import type { ConfigPath } from "./problems.ts";
import type { RawServer } from "./schema-server.ts";

export interface CompiledLaunch {
  readonly launch: Launch;
  readonly package: LaunchedPackage | null;
  readonly blocked: ServerConfig["blocked"];
}

const LOCAL_KEYS = ["args", "env", "cwd", "sandbox"] as const;
const REMOTE_KEYS = ["headers", "transport", "auth", "allowPrivateAddresses"] as const;

/** The launch of an entry; `null` (with notes) where it is neither clearly local nor clearly remote. */
export function compileLaunch(
  name: string,
  raw: RawServer,
  facts: ConfigFacts,
  notes: Notes,
): CompiledLaunch | null {
  const path: ConfigPath = ["mcpServers", name];
  checkType(raw, path, notes);
  if (raw.command !== undefined && raw.url !== undefined) {
    notes.wrongKey(
      [...path, "url"],
      "has `command` and `url`: keep `command` for a local server, `url` for a remote one",
    );
    return null;
  }
  if (raw.command !== undefined) {
    refuseKeys(
      raw,
      REMOTE_KEYS,
      "belongs to a remote server, and this one has `command`: remove it",
      path,
      notes,
    );
    return compileLocal(name, raw.command, raw, facts, notes);
  }
  if (raw.url !== undefined) {
    refuseKeys(raw, LOCAL_KEYS, "belongs to a local server, and this one has `url`: remove it", path, notes);
    return compileRemote(name, raw.url, raw, notes);
  }
  notes.wrongKey(path, "needs `command` (a local server) or `url` (a remote one)");
  return null;
}

function refuseKeys(
  raw: RawServer,
  keys: readonly (keyof RawServer)[],
  message: string,
  path: ConfigPath,
  notes: Notes,
): void {
  for (const key of keys) if (raw[key] !== undefined) notes.wrongKey([...path, key], message);
}

/** `type` is how other clients say what `command` and `url` say already: it must not contradict them. */
function checkType(raw: RawServer, path: ConfigPath, notes: Notes): void {
  if (raw.type === undefined) return;
  const isLocalType = raw.type === "stdio" || raw.type === "local";
  if (isLocalType && raw.command === undefined && raw.url !== undefined) {
    notes.wrong([...path, "type"], `\`${raw.type}\` does not fit \`url\`: remove \`type\``);
  }
  if (!isLocalType && raw.url === undefined && raw.command !== undefined) {
    notes.wrong([...path, "type"], `\`${raw.type}\` does not fit \`command\`: remove \`type\``);
  }
  if (raw.type === "sse" && raw.transport !== "sse") {
    notes.wrong(
      [...path, "type"],
      'HTTP+SSE is deprecated, and most such servers speak Streamable HTTP at the same or a similar address: remove `type`, or opt in with "transport": "sse"',
    );
  }
}

function compileLocal(
  name: string,
  command: string,
  raw: RawServer,
  facts: ConfigFacts,
  notes: Notes,
): CompiledLaunch {
  const path: ConfigPath = ["mcpServers", name];
  const args = raw.args ?? [];
  const launch: Launch = {
    kind: "stdio",
    command: compileLateText(resolveCommand(command, facts), {
      path: [...path, "command"],
      name: null,
      variable: proposeVariable(name, "COMMAND"),
      notes,
    }),
    args: args.map((arg, index) => {
      const option = optionName(args, index);
      const variable = proposeVariable(name, option ?? "ARGUMENT");
      return compileLateText(arg, { path: [...path, "args", index], name: option, variable, notes });
    }),
    env: compileEnvironment(raw.env ?? {}, [...path, "env"], facts, notes),
    cwd: resolveConfigPath(raw.cwd ?? ".", facts),
  };
  if (raw.cwd?.includes("${") === true) {
    notes.wrong(
      [...path, "cwd"],
      "references are not read here: write a path, relative to this file or absolute",
    );
  }
  const verdict = classifyLaunch(command, args);
  if (verdict.kind === "program") return { launch, package: null, blocked: null };
  if (verdict.kind === "unclear") {
    const fix = `start the program itself, or name the package with its exact version; \`portcullis lock ${name}\` helps`;
    return { launch, package: null, blocked: { reason: verdict.reason, fix } };
  }
  if (
    verdict.package.ecosystem === "oci" &&
    verdict.reason === null &&
    !verdict.package.version?.startsWith("sha256:")
  ) {
    notes.warn(
      [...path, "args"],
      `the tag of \`${verdict.package.name}\` can be moved: name the image by its digest (\`@sha256:…\`)`,
    );
  }
  const blocked =
    verdict.reason === null ? null : { reason: verdict.reason, fix: `run \`portcullis lock ${name}\`` };
  return { launch, package: verdict.package, blocked };
}

/** The option that an argument belongs to: `--token=x` and `--token x`. */
function optionName(args: readonly string[], index: number): string | null {
  const own = /^--?([A-Za-z][\w-]*)=/.exec(args[index] ?? "");
  if (own?.[1] !== undefined) return own[1];
  return /^--?([A-Za-z][\w-]*)$/.exec(args[index - 1] ?? "")?.[1] ?? null;
}

function compileEnvironment(
  env: Readonly<Record<string, string>>,
  path: ConfigPath,
  facts: ConfigFacts,
  notes: Notes,
): Readonly<Record<string, LateText>> {
  const compiled: Record<string, LateText> = {};
  const seen = new Map<string, string>();
  for (const [variable, text] of Object.entries(env)) {
    const folded = facts.platform === "win32" ? variable.toUpperCase() : variable;
    const twin = seen.get(folded);
    if (twin !== undefined)
      notes.wrongKey([...path, variable], `is the same variable as \`${twin}\` on Windows: keep one`);
    seen.set(folded, variable);
    compiled[variable] = compileLateText(text, {
      path: [...path, variable],
      name: variable,
      variable,
      notes,
    });
  }
  return compiled;
}

function compileRemote(name: string, url: string, raw: RawServer, notes: Notes): CompiledLaunch {
  const path: ConfigPath = ["mcpServers", name];
  const headers: Record<string, LateText> = {};
  checkHeaders(raw.headers ?? {}, [...path, "headers"], notes);
  for (const [header, text] of Object.entries(raw.headers ?? {})) {
    const variable = proposeVariable(name, header === "Authorization" ? "TOKEN" : header);
    headers[header] = compileLateText(text, {
      path: [...path, "headers", header],
      name: header,
      variable,
      notes,
    });
  }
  if (raw.transport === "sse") {
    notes.warn([...path, "transport"], "HTTP+SSE is deprecated: ask the server's author for Streamable HTTP");
  }
  const blocked = checkUrl(url, raw.allowPrivateAddresses === true, [...path, "url"], notes);
  const launch: Launch = {
    kind: raw.transport === "sse" ? "sse" : "http",
    url: compileUrl(name, url, [...path, "url"], notes),
    headers,
  };
  return { launch, package: null, blocked };
}

/** A secret may also stand in a query parameter of the address. */
function compileUrl(name: string, url: string, path: ConfigPath, notes: Notes): LateText {
  const parameters = URL.canParse(url) ? [...new URL(url).searchParams] : [];
  for (const [parameter, value] of parameters) {
    const variable = proposeVariable(name, parameter);
    const late = compileLateText(value, { path, name: parameter, variable, notes });
    if (late.reveal !== undefined)
      return Object.freeze({ template: `[${name}'s address, not shown]`, reveal: () => url });
  }
  return compileLateText(url, { path, name: null, variable: proposeVariable(name, "URL"), notes });
}

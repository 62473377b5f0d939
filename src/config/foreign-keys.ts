/**
 * Keys that other clients use and Portcullis does not: each is refused by name, with what to write instead, so that nothing
 * that was pasted in is silently without effect.
 */
import type { ConfigPath } from "./problems.ts";

const IMPORT = "bring it over with `portcullis init --from FILE`";
const GRADES = 'write grades, for example "tools": { "NAME": "L0" }';
const OFF = 'write "tools": { "NAME": "off" }';

const ofTop: ReadonlyMap<string, string> = new Map([
  ["servers", `is VS Code's name: call it \`mcpServers\`, or ${IMPORT}`],
  ["mcp", `is VS Code's or another client's settings: ${IMPORT}`],
  ["mcp_servers", `is Codex's name: call it \`mcpServers\`, or ${IMPORT}`],
  ["context_servers", `is Zed's name: call it \`mcpServers\`, or ${IMPORT}`],
  ["inputs", "is VS Code's: set variables and write `${env:NAME}` where an input was used"],
  ["projects", `is Claude Code's own file: ${IMPORT}`],
]);

const ofServer: ReadonlyMap<string, string> = new Map([
  ["envFile", 'is not read: name each variable, for example "env": { "TOKEN": "${env:TOKEN}" }'],
  ["env_vars", 'is Codex\'s: name each variable, for example "env": { "TOKEN": "${env:TOKEN}" }'],
  ["environment", "is not a key here: call it `env`"],
  ["serverUrl", "is Windsurf's name: call it `url`"],
  ["httpUrl", "is Gemini's name: call it `url`"],
  ["http_headers", "is Codex's name: call it `headers`"],
  ["env_http_headers", 'is Codex\'s: write "headers": { "NAME": "${env:VARIABLE}" }'],
  ["bearer_token_env_var", 'is Codex\'s: write "headers": { "Authorization": "Bearer ${env:VARIABLE}" }'],
  ["headersHelper", "would run a program for headers: use a reference such as `${env:TOKEN}` in `headers`"],
  ["oauth", 'is written "auth": { "type": "oauth", "clientId": … } here'],
  ["requestInit", "is not a key here: write its headers as `headers`"],
  ["enabled", 'is written "disabled": true or false here'],
  ["isActive", 'is written "disabled": true or false here'],
  ["alwaysAllow", `would allow calls without a question: ${GRADES}`],
  ["autoApprove", `would allow calls without a question: ${GRADES}`],
  ["trust", `would allow calls without a question: ${GRADES}`],
  ["includeTools", `is written "default": "off" and ${GRADES.slice("write ".length)} here`],
  ["enabled_tools", `is written "default": "off" and ${GRADES.slice("write ".length)} here`],
  ["excludeTools", `is written as a grade here: ${OFF}`],
  ["disabled_tools", `is written as a grade here: ${OFF}`],
  ["disabledTools", `is written as a grade here: ${OFF}`],
  ["startup_timeout_sec", 'is written "limits": { "connect": "10s" } here'],
  ["startup_timeout_ms", 'is written "limits": { "connect": "10s" } here'],
  ["tool_timeout_sec", 'is written "limits": { "timeout": "60s" } here'],
  ["required", 'is not a key here: "connect": "eager" starts a server at once'],
  ["sandboxEnabled", "is VS Code's: write what the server needs as `sandbox`"],
  ["dev", "is VS Code's development mode and has no meaning here: remove it"],
  ["gallery", "has no meaning here: remove it"],
  ["version", "has no meaning here: remove it; the version stands in `args`"],
  ["description", 'is written "scope": { "may": … } here'],
  ["name", "is the key of the entry: remove it"],
  ["working_directory", "is not a key here: call it `cwd`"],
  ["workingDirectory", "is not a key here: call it `cwd`"],
  ["preserve_env", "has no meaning here: a server sees only what `env` names"],
]);

/** What to do about a key of another client at this place; `null` where the key is nobody's. */
export function adviseForeignKey(parent: ConfigPath, key: string): string | null {
  if (parent.length === 0) return ofTop.get(key) ?? null;
  if (parent.length === 2 && parent[0] === "mcpServers") return ofServer.get(key) ?? null;
  return null;
}

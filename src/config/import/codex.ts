/**
 * Codex: TOML, `[mcp_servers.name]`. Variables are named and not written into texts: `env_vars`, `bearer_token_env_var`,
 * `env_http_headers`. Times are in seconds.
 */
import { parse as parseToml } from "smol-toml";
import { isJsonObject, ownProperty, type JsonObject } from "../../base/json.ts";
import { copyPlainJson } from "../plain-json.ts";
import { MAX_IMPORT_CHARACTERS, memberObject, type ClientImporter } from "./importer.ts";
import { convertServers, setLimit, setToolFilter, type Dialect, type EntryTools } from "./convert.ts";
import { homePath, projectPath, variablePath } from "./folders.ts";

const dialect: Dialect = {
  title: "Codex",
  variables: "none",
  headerKeys: ["http_headers"],
  special: convertSpecial,
};

export const codex: ClientImporter = {
  id: "codex",
  title: "Codex",
  locations: (facts) => [
    projectPath(facts, ".codex", "config.toml"),
    variablePath(facts, "CODEX_HOME", homePath(facts, ".codex"), "config.toml"),
  ],
  parse(text) {
    const root = readToml(text);
    if (root === null) return { servers: {}, problems: [{ server: null, message: "the file is no TOML" }] };
    return convertServers(memberObject(root, "mcp_servers"), dialect);
  },
};

function readToml(text: string): JsonObject | null {
  if (text.length > MAX_IMPORT_CHARACTERS) return null;
  try {
    // Dates and big integers of TOML are no JSON; they mean nothing here and are left out.
    const copied = copyPlainJson(parseToml(text.replace(/^\uFEFF/, ""))).value;
    return isJsonObject(copied) ? copied : null;
  } catch {
    return null;
  }
}

function convertSpecial(entry: JsonObject, made: JsonObject, tools: EntryTools): readonly string[] {
  const names = ownProperty(entry, "env_vars");
  if (Array.isArray(names)) {
    const variables = names.map((item) => (isJsonObject(item) ? ownProperty(item, "name") : item));
    const entries = variables
      .filter((name) => typeof name === "string")
      .map((name) => [name, `\${env:${name}}`]);
    made["env"] = Object.fromEntries(entries) as JsonObject;
  }
  const headers: JsonObject = {};
  const token = ownProperty(entry, "bearer_token_env_var");
  if (typeof token === "string") headers["Authorization"] = `Bearer \${env:${token}}`;
  const fromVariables = ownProperty(entry, "env_http_headers");
  if (isJsonObject(fromVariables)) {
    for (const [header, name] of Object.entries(fromVariables)) {
      if (typeof name === "string") headers[header] = `\${env:${name}}`;
    }
  }
  if (Object.keys(headers).length > 0) made["headers"] = headers;
  const seconds = (key: string): number | null => {
    const value = ownProperty(entry, key);
    return typeof value === "number" && value >= 1 ? Math.round(value * 1_000) : null;
  };
  const connectMs = seconds("startup_timeout_sec");
  if (connectMs !== null) setLimit(made, "connect", connectMs);
  const timeoutMs = seconds("tool_timeout_sec");
  if (timeoutMs !== null) setLimit(made, "timeout", timeoutMs);
  setToolFilter(made, entry["enabled_tools"], entry["disabled_tools"]);
  if (ownProperty(entry, "required") === true) made["connect"] = "eager";
  const oauth = ownProperty(entry, "oauth");
  const clientId = isJsonObject(oauth) ? ownProperty(oauth, "client_id") : undefined;
  if (typeof clientId === "string")
    made["auth"] = { type: "oauth", clientId: tools.text(clientId, "clientId") };
  return [
    "env_vars",
    "bearer_token_env_var",
    "env_http_headers",
    "startup_timeout_sec",
    "tool_timeout_sec",
    "enabled_tools",
    "disabled_tools",
    "required",
    "oauth",
  ];
}

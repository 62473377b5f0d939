/**
 * Gemini CLI: `mcpServers` in its settings; `httpUrl` for Streamable HTTP and `url` for HTTP+SSE, `$X` as variables, lists of tools,
 * and lists of allowed and excluded servers under `mcp`.
 */
import { isJsonObject, ownProperty, type JsonObject } from "../../base/json.ts";
import { memberObject, readJsonObject, type ClientImporter } from "./importer.ts";
import { convertServers, setToolFilter, type Dialect, type EntryTools } from "./convert.ts";
import { homePath, projectPath } from "./folders.ts";

const dialect: Dialect = {
  title: "Gemini CLI",
  variables: "dollar",
  urlKeys: ["httpUrl"],
  ignored: ["extensionName", "description"],
  special: convertSpecial,
};

export const gemini: ClientImporter = {
  id: "gemini",
  title: "Gemini CLI",
  locations: (facts) => [
    projectPath(facts, ".gemini", "settings.json"),
    homePath(facts, ".gemini", "settings.json"),
  ],
  parse(text) {
    const root = readJsonObject(text);
    return convertServers(switchOff(memberObject(root, "mcpServers"), memberObject(root, "mcp")), dialect);
  },
};

/** Servers outside `mcp.allowed` or inside `mcp.excluded` are disabled. */
function switchOff(servers: JsonObject | null, settings: JsonObject | null): JsonObject | null {
  if (servers === null || settings === null) return servers;
  const allowed = ownProperty(settings, "allowed");
  const excluded = ownProperty(settings, "excluded");
  const isOff = (name: string): boolean =>
    (Array.isArray(allowed) && !allowed.includes(name)) ||
    (Array.isArray(excluded) && excluded.includes(name));
  return Object.fromEntries(
    Object.entries(servers).map(([name, entry]) => [
      name,
      isOff(name) && isJsonObject(entry) ? { ...entry, disabled: true } : entry,
    ]),
  );
}

function convertSpecial(entry: JsonObject, made: JsonObject, tools: EntryTools): readonly string[] {
  if (ownProperty(entry, "trust") === true) {
    tools.note(
      "`trust` allowed calls without a question and was left out: its tools are L2 until you grade them",
    );
  }
  const hasOldUrl =
    typeof ownProperty(entry, "url") === "string" && ownProperty(entry, "httpUrl") === undefined;
  if (hasOldUrl && ownProperty(entry, "type") === undefined) {
    tools.note(
      '`url` means HTTP+SSE there and Streamable HTTP here: if it does not answer, add "transport": "sse"',
    );
  }
  setToolFilter(made, entry["includeTools"], entry["excludeTools"]);
  const oauth = ownProperty(entry, "oauth");
  if (isJsonObject(oauth) && ownProperty(oauth, "enabled") !== false) {
    const clientId = ownProperty(oauth, "clientId");
    const secret = ownProperty(oauth, "clientSecret");
    const scopes = ownProperty(oauth, "scopes");
    made["auth"] = {
      type: "oauth",
      ...(typeof clientId === "string" ? { clientId: tools.text(clientId, "clientId") } : {}),
      ...(typeof secret === "string" ? { clientSecret: tools.text(secret, "clientSecret") } : {}),
      ...(Array.isArray(scopes) ? { scopes: scopes.filter((scope) => typeof scope === "string") } : {}),
    };
  }
  return ["trust", "includeTools", "excludeTools", "oauth"];
}

/**
 * Copilot CLI: `mcpServers` (in project files also the bare servers at the top), `type` `local`, `http` or `sse`, and a list of
 * `tools` (`["*"]` for all).
 */
import { isJsonObject, type JsonObject } from "../../base/json.ts";
import { memberObject, readJsonObject, type ClientImporter } from "./importer.ts";
import { convertServers, setToolFilter } from "./convert.ts";
import { homePath, projectPath, variablePath } from "./folders.ts";

export const copilot: ClientImporter = {
  id: "copilot",
  title: "Copilot CLI",
  locations: (facts) => [
    projectPath(facts, ".github", "mcp.json"),
    variablePath(facts, "COPILOT_HOME", homePath(facts, ".copilot"), "mcp-config.json"),
  ],
  parse(text) {
    const root = readJsonObject(text);
    return convertServers(memberObject(root, "mcpServers") ?? bareServers(root), {
      title: "Copilot CLI",
      variables: "braces",
      special(entry, made) {
        setToolFilter(made, entry["tools"], undefined);
        return ["tools"];
      },
    });
  },
};

/** Servers without the object around them: every member names a command or an address. */
function bareServers(root: JsonObject | null): JsonObject | null {
  if (root === null || Object.keys(root).length === 0) return null;
  const areServers = Object.values(root).every(
    (entry) => isJsonObject(entry) && (Object.hasOwn(entry, "command") || Object.hasOwn(entry, "url")),
  );
  return areServers ? root : null;
}

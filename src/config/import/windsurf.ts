/** Windsurf: `mcpServers` with `serverUrl`, `disabledTools`, and `${env:X}`. */
import { memberObject, readJsonObject, type ClientImporter } from "./importer.ts";
import { convertServers, setToolFilter } from "./convert.ts";
import { homePath } from "./folders.ts";

export const windsurf: ClientImporter = {
  id: "windsurf",
  title: "Windsurf",
  locations: (facts) => [homePath(facts, ".codeium", "windsurf", "mcp_config.json")],
  parse: (text) =>
    convertServers(memberObject(readJsonObject(text), "mcpServers"), {
      title: "Windsurf",
      variables: "braces",
      urlKeys: ["serverUrl"],
      special(entry, made, tools) {
        setToolFilter(made, undefined, entry["disabledTools"]);
        if (Array.isArray(entry["alwaysAllow"]) && entry["alwaysAllow"].length > 0) {
          tools.note("`alwaysAllow` was left out: its tools are L2 until you grade them");
        }
        return ["disabledTools", "alwaysAllow"];
      },
    }),
};

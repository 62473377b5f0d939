/** Claude Desktop: `mcpServers`, local servers only, no variables. */
import { memberObject, readJsonObject, type ClientImporter } from "./importer.ts";
import { convertServers } from "./convert.ts";
import { appDataDir } from "./folders.ts";
import { pathRules } from "../paths.ts";

export const claudeDesktop: ClientImporter = {
  id: "claude-desktop",
  title: "Claude Desktop",
  locations: (facts) => [
    pathRules(facts.platform).join(appDataDir(facts), "Claude", "claude_desktop_config.json"),
  ],
  parse: (text) =>
    convertServers(memberObject(readJsonObject(text), "mcpServers"), {
      title: "Claude Desktop",
      variables: "none",
    }),
};

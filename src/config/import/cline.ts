/** Cline: `mcpServers` with `disabled`, `autoApprove`, a `timeout` in seconds, and `streamableHttp` or `sse` as type. */
import { pathRules } from "../paths.ts";
import { memberObject, readJsonObject, type ClientImporter } from "./importer.ts";
import { convertServers } from "./convert.ts";
import { appDataDir, homePath } from "./folders.ts";

const EXTENSION = ["Code", "User", "globalStorage", "saoudrizwan.claude-dev", "settings"] as const;

export const cline: ClientImporter = {
  id: "cline",
  title: "Cline",
  locations: (facts) => [
    pathRules(facts.platform).join(appDataDir(facts), ...EXTENSION, "cline_mcp_settings.json"),
    homePath(facts, ".cline", "data", "settings", "cline_mcp_settings.json"),
  ],
  parse: (text) =>
    convertServers(memberObject(readJsonObject(text), "mcpServers"), {
      title: "Cline",
      variables: "braces",
      timeoutUnit: "s",
      special(entry, _made, tools) {
        const approved = ["autoApprove", "alwaysAllow"].filter((key) => {
          const list = entry[key];
          return Array.isArray(list) && list.length > 0;
        });
        if (approved.length > 0)
          tools.note(`\`${approved.join("`, `")}\` was left out: its tools are L2 until you grade them`);
        return ["autoApprove", "alwaysAllow"];
      },
    }),
};

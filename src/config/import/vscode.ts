/**
 * VS Code: `servers` in `mcp.json` (older: `mcp.servers` in the settings), with `inputs` that the editor asks for, `envFile`, a
 * sandbox, and addresses of sockets.
 */
import { isJsonObject, ownProperty, type JsonObject } from "../../base/json.ts";
import { pathRules } from "../paths.ts";
import { memberObject, readJsonObject, type ClientImporter } from "./importer.ts";
import { convertServers, type Dialect, type EntryTools } from "./convert.ts";
import { appDataDir, projectPath } from "./folders.ts";

const dialect: Dialect = {
  title: "VS Code",
  variables: "braces",
  ignored: ["dev", "gallery", "version"],
  special: convertSpecial,
};

export const vscode: ClientImporter = {
  id: "vscode",
  title: "VS Code",
  locations: (facts) => [
    projectPath(facts, ".vscode", "mcp.json"),
    pathRules(facts.platform).join(appDataDir(facts), "Code", "User", "mcp.json"),
  ],
  parse(text) {
    const root = readJsonObject(text);
    const servers = memberObject(root, "servers") ?? memberObject(memberObject(root, "mcp"), "servers");
    return convertServers(servers, dialect);
  },
};

function convertSpecial(entry: JsonObject, made: JsonObject, tools: EntryTools): readonly string[] {
  if (ownProperty(entry, "envFile") !== undefined) {
    tools.note("`envFile` is not read here: name its variables in `env`, each as `${env:NAME}`");
  }
  const oauth = ownProperty(entry, "oauth");
  const clientId = isJsonObject(oauth) ? ownProperty(oauth, "clientId") : undefined;
  if (typeof clientId === "string")
    made["auth"] = { type: "oauth", clientId: tools.text(clientId, "clientId") };
  const sandbox = ownProperty(entry, "sandbox");
  if (ownProperty(entry, "sandboxEnabled") === true && isJsonObject(sandbox))
    made["sandbox"] = convertSandbox(sandbox);
  return ["envFile", "oauth", "sandbox", "sandboxEnabled"];
}

function convertSandbox(sandbox: JsonObject): JsonObject {
  const texts = (object: JsonObject | null, key: string): string[] => {
    const list = object === null ? undefined : ownProperty(object, key);
    return Array.isArray(list) ? list.filter((item) => typeof item === "string") : [];
  };
  const write = texts(memberObject(sandbox, "filesystem"), "allowWrite");
  const net = texts(memberObject(sandbox, "network"), "allowedDomains");
  return { ...(write.length > 0 ? { write } : {}), ...(net.length > 0 ? { net } : {}) };
}

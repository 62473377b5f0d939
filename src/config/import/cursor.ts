/** Cursor: `mcpServers`, `url` without a type, `${env:X}`, and an OAuth client as `auth { CLIENT_ID, CLIENT_SECRET, scopes }`. */
import { isJsonObject, ownProperty, type JsonObject } from "../../base/json.ts";
import { memberObject, readJsonObject, type ClientImporter } from "./importer.ts";
import { convertServers, type Dialect, type EntryTools } from "./convert.ts";
import { homePath, projectPath } from "./folders.ts";

const dialect: Dialect = { title: "Cursor", variables: "braces", special: convertSpecial };

export const cursor: ClientImporter = {
  id: "cursor",
  title: "Cursor",
  locations: (facts) => [projectPath(facts, ".cursor", "mcp.json"), homePath(facts, ".cursor", "mcp.json")],
  parse: (text) => convertServers(memberObject(readJsonObject(text), "mcpServers"), dialect),
};

function convertSpecial(entry: JsonObject, made: JsonObject, tools: EntryTools): readonly string[] {
  if (ownProperty(entry, "envFile") !== undefined) {
    tools.note("`envFile` is not read here: name its variables in `env`, each as `${env:NAME}`");
  }
  const auth = ownProperty(entry, "auth");
  if (isJsonObject(auth)) {
    const scopes = ownProperty(auth, "scopes");
    const [id, secret] = [ownProperty(auth, "CLIENT_ID"), ownProperty(auth, "CLIENT_SECRET")];
    made["auth"] = {
      type: "oauth",
      ...(typeof id === "string" ? { clientId: tools.text(id, "clientId") } : {}),
      ...(typeof secret === "string" ? { clientSecret: tools.text(secret, "clientSecret") } : {}),
      ...(Array.isArray(scopes) ? { scopes: scopes.filter((scope) => typeof scope === "string") } : {}),
    };
  }
  return ["envFile", "auth"];
}

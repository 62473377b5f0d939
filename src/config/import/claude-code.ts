/**
 * Claude Code: `.mcp.json` of a project, and `~/.claude.json`, which also holds servers of single projects. Variables are
 * `${X}` and `${X:-default}`.
 */
import { isJsonObject, ownProperty, type JsonObject } from "../../base/json.ts";
import { memberObject, readJsonObject, type ClientImporter } from "./importer.ts";
import { convertServers, type Dialect, type EntryTools } from "./convert.ts";
import { homePath, projectPath } from "./folders.ts";

const dialect: Dialect = {
  title: "Claude Code",
  variables: "braces",
  special: convertSpecial,
};

export const claudeCode: ClientImporter = {
  id: "claude-code",
  title: "Claude Code",
  locations: (facts) => [projectPath(facts, ".mcp.json"), homePath(facts, ".claude.json")],
  parse(text, cwd) {
    const root = readJsonObject(text);
    const project = cwd === undefined ? null : memberObject(memberObject(root, "projects"), cwd);
    const ofUser = memberObject(root, "mcpServers");
    const ofProject = memberObject(project, "mcpServers");
    const servers = ofUser === null && ofProject === null ? null : { ...ofUser, ...ofProject };
    return convertServers(servers, dialect);
  },
};

function convertSpecial(entry: JsonObject, made: JsonObject, tools: EntryTools): readonly string[] {
  if (ownProperty(entry, "headersHelper") !== undefined) {
    tools.note("`headersHelper` runs a program for headers and was left out: use a reference in `headers`");
  }
  const oauth = ownProperty(entry, "oauth");
  if (isJsonObject(oauth)) made["auth"] = convertOAuth(oauth, tools);
  return ["headersHelper", "oauth"];
}

function convertOAuth(oauth: JsonObject, tools: EntryTools): JsonObject {
  const clientId = ownProperty(oauth, "clientId");
  const scopes = ownProperty(oauth, "scopes");
  const list = typeof scopes === "string" ? scopes.split(/\s+/) : Array.isArray(scopes) ? scopes : [];
  for (const key of ["callbackPort", "authServerMetadataUrl"]) {
    if (ownProperty(oauth, key) !== undefined)
      tools.note(`\`oauth.${key}\` was left out: it is found out by itself`);
  }
  return {
    type: "oauth",
    ...(typeof clientId === "string" ? { clientId: tools.text(clientId, "clientId") } : {}),
    ...(list.length > 0 ? { scopes: list.filter((scope) => typeof scope === "string" && scope !== "") } : {}),
  };
}

/**
 * Zed: `context_servers` in its settings (JSON with comments). A server of an extension has no command in the file; older entries
 * hold `command` as an object.
 */
import { isJsonObject, ownProperty, type JsonObject } from "../../base/json.ts";
import { pathRules } from "../paths.ts";
import { memberObject, readJsonObject, type ClientImporter } from "./importer.ts";
import { convertServers, type Dialect, type EntryTools } from "./convert.ts";
import { appDataDir, homePath, projectPath } from "./folders.ts";

const dialect: Dialect = { title: "Zed", variables: "none", ignored: ["source"], special: convertSpecial };

export const zed: ClientImporter = {
  id: "zed",
  title: "Zed",
  locations: (facts) => [
    projectPath(facts, ".zed", "settings.json"),
    facts.platform === "win32"
      ? pathRules(facts.platform).join(appDataDir(facts), "Zed", "settings.json")
      : homePath(facts, ".config", "zed", "settings.json"),
  ],
  parse: (text) => convertServers(memberObject(readJsonObject(text), "context_servers"), dialect),
};

function convertSpecial(entry: JsonObject, made: JsonObject, tools: EntryTools): readonly string[] {
  const command = ownProperty(entry, "command");
  if (ownProperty(entry, "settings") !== undefined) {
    tools.note("`settings` of an extension was left out: the command that it starts is not in this file");
  }
  if (!isJsonObject(command)) return ["settings"];
  const [path, args, env] = ["path", "args", "env"].map((key) => ownProperty(command, key));
  if (typeof path === "string") made["command"] = tools.text(path, "command");
  if (Array.isArray(args)) {
    made["args"] = args.filter((arg) => typeof arg === "string").map((arg) => tools.text(arg, "argument"));
  }
  if (isJsonObject(env)) {
    const texts = Object.entries(env).filter((pair): pair is [string, string] => typeof pair[1] === "string");
    made["env"] = Object.fromEntries(texts.map(([name, value]) => [name, tools.text(value, name)]));
  }
  return ["settings", "command"];
}

/** What an importer of another client's configuration is: a pure reader, and the places where that client keeps its file. */
import { isJsonObject, ownProperty, parseJson, type JsonObject } from "../../base/json.ts";
import { parseConfigText } from "../jsonc.ts";
import type { HostFacts } from "../locate.ts";

/** Something that a person should know about an import; never holds a value that looked like a secret. */
export interface ImportProblem {
  /** Name of the server, as the other client has it; `null` for the file as a whole. */
  readonly server: string | null;
  readonly message: string;
}

export interface ImportResult {
  /** Entries for `mcpServers`, by cleaned name; each is valid by itself. */
  readonly servers: Readonly<Record<string, JsonObject>>;
  readonly problems: readonly ImportProblem[];
}

export interface ClientImporter {
  /** For `--from`, for example `claude-code`. */
  readonly id: string;
  readonly title: string;
  /** Absolute paths where the client keeps servers on this machine, those of the project first. */
  locations(facts: HostFacts): readonly string[];
  /**
   * Reads the text of such a file. Never throws: what cannot be taken over is in `problems`.
   *
   * @param cwd the folder whose project settings count, where one file holds many projects.
   */
  parse(text: string, cwd?: string): ImportResult;
}

/** The largest file that is read: some clients keep their whole history in it. */
export const MAX_IMPORT_CHARACTERS = 33_554_432;

/** The object in `text` (JSON, or JSON with comments); `null` where there is none. */
export function readJsonObject(text: string): JsonObject | null {
  if (text.length > MAX_IMPORT_CHARACTERS) return null;
  const strict = parseJson(text.replace(/^\uFEFF/, ""));
  if (isJsonObject(strict)) return strict;
  const parsed = parseConfigText(text);
  return parsed.problems.length === 0 && isJsonObject(parsed.value) ? parsed.value : null;
}

/** The own member `name` where it is an object; otherwise `null`. */
export function memberObject(object: JsonObject | null, name: string): JsonObject | null {
  if (object === null) return null;
  const member = ownProperty(object, name);
  return isJsonObject(member) ? member : null;
}

/** What other MCP clients on this machine have, together: read from their files, one entry for what several of them share. */
import { createHash } from "node:crypto";
import { digestJson, isJsonObject, ownProperty, type JsonObject } from "../../base/json.ts";
import { PortcullisError } from "../../errors.ts";
import { openForReading } from "../file-kind.ts";
import type { HostFacts } from "../locate.ts";
import { pathRules } from "../paths.ts";
import { clientImporters, importerForFile } from "./clients.ts";
import { MAX_IMPORT_CHARACTERS, type ClientImporter, type ImportProblem } from "./importer.ts";

/** A server as it is taken over. */
export interface ImportedServer {
  readonly name: string;
  readonly entry: JsonObject;
  /** Title of the client, and its file. */
  readonly from: string;
  readonly file: string;
}

export interface CollectedImports {
  readonly servers: readonly ImportedServer[];
  /** What a person should know, by client. Holds no secret. */
  readonly notes: readonly (ImportProblem & { readonly from: string })[];
  /** Files that were read. */
  readonly files: readonly string[];
}

/**
 * Reads every place where a known client keeps servers; with `from` only that file, or that client (`cursor`).
 *
 * @throws PortcullisError `usage` where `from` is neither a client nor a file that can be read.
 */
export async function collectImports(facts: HostFacts, from?: string): Promise<CollectedImports> {
  const sources = from === undefined ? allPlaces(facts) : placesOf(from, facts);
  const servers: ImportedServer[] = [];
  const notes: (ImportProblem & { from: string })[] = [];
  const files: string[] = [];
  const seen = new Set<string>();
  for (const { importer, file } of sources) {
    const text = await readText(file);
    if (text === undefined) continue;
    const content = createHash("sha256").update(text).digest("hex");
    if (seen.has(content)) continue;
    seen.add(content);
    files.push(file);
    const result = importer.parse(text, facts.cwd);
    const note = (server: string | null, message: string): void =>
      void notes.push({ server, message, from: importer.title });
    // A client without servers is no news, unless it was asked for.
    const problems = result.problems.filter(({ server }) => server !== null || from !== undefined);
    for (const { server, message } of problems) note(server, message);
    for (const [name, entry] of Object.entries(result.servers)) {
      if (isOurselves(entry)) {
        note(name, "is Portcullis itself and was left out");
        continue;
      }
      const twin = servers.find((one) => digestJson(one.entry) === digestJson(entry));
      if (twin !== undefined) {
        note(name, `is the same as \`${twin.name}\` of ${twin.from}`);
        continue;
      }
      const free = freeName(name, servers);
      if (free !== name) note(name, `is called \`${free}\` here: another client has another \`${name}\``);
      servers.push({ name: free, entry, from: importer.title, file });
    }
  }
  if (from !== undefined && files.length === 0) {
    const known = clientImporters.map(({ id }) => `\`${id}\``).join(", ");
    throw new PortcullisError(
      "usage",
      `\`${from}\` is no file that can be read, and no client that has servers here (${known})`,
    );
  }
  return { servers, notes, files };
}

interface Source {
  readonly importer: ClientImporter;
  readonly file: string;
}

function allPlaces(facts: HostFacts): readonly Source[] {
  return clientImporters.flatMap((importer) => importer.locations(facts).map((file) => ({ importer, file })));
}

function placesOf(from: string, facts: HostFacts): readonly Source[] {
  const client = clientImporters.find(({ id }) => id === from);
  if (client !== undefined) return client.locations(facts).map((file) => ({ importer: client, file }));
  const file = pathRules(facts.platform).resolve(facts.cwd, from);
  // `{ "mcpServers": … }` is what most clients write; the first importer reads it.
  const importer = importerForFile(file) ?? clientImporters[0];
  return importer === undefined ? [] : [{ importer, file }];
}

async function readText(file: string): Promise<string | undefined> {
  try {
    const handle = await openForReading(file);
    try {
      const stats = await handle.stat();
      if (!stats.isFile() || stats.size > MAX_IMPORT_CHARACTERS) return undefined;
      return await handle.readFile("utf8");
    } finally {
      await handle.close();
    }
  } catch {
    return undefined;
  }
}

/** An entry that starts or reaches Portcullis would call itself. */
function isOurselves(entry: JsonObject): boolean {
  const args = ownProperty(entry, "args");
  const words = [ownProperty(entry, "command"), ...(Array.isArray(args) ? args : [])];
  if (words.some((word) => typeof word === "string" && /(?:^|[/\\@])portcullis(?:\.mjs|@[^/]*)?$/.test(word)))
    return true;
  const headers = ownProperty(entry, "headers");
  const url = ownProperty(entry, "url");
  return (
    typeof url === "string" &&
    isJsonObject(headers) &&
    /^http:\/\/(?:127\.0\.0\.1|localhost|\[::1\]):7420\//.test(url)
  );
}

function freeName(wanted: string, servers: readonly ImportedServer[]): string {
  const taken = new Set(servers.map(({ name }) => name.toLowerCase()));
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? wanted : `${wanted.slice(0, 58)}-${number}`;
    if (!taken.has(name.toLowerCase())) return name;
  }
}

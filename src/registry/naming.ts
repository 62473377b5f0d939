/**
 * Exposed names: what a model sees, `server__tool`. A name that had to be cleaned or cut, or that could be read in two ways,
 * carries a hash of (server, tool); no other name looks like one that does.
 *
 * Invariants: a name depends on its server, its tool and the length alone, so that listing in another order or adding tools
 * changes nothing; two different tools share a name only where their 50 bit hashes meet, which the registry then quarantines
 * (server/tools, "Tool names": TOOL-17, TOOL-18, TOOL-20).
 */
import { createHash } from "node:crypto";

export const NAME_SEPARATOR = "__";
/** Names that begin so are Portcullis's own. */
export const RESERVED_PREFIX = "portcullis__";
/** What every model provider takes. */
export const DEFAULT_NAME_LENGTH = 64;
const MIN_NAME_LENGTH = 24;
const MAX_NAME_LENGTH = 128;

const HASH_LENGTH = 10;
const BASE32 = "abcdefghijklmnopqrstuvwxyz234567";
/** Before the hash; two dashes, because names that people give end in `_` and a word of ten letters now and then. */
const HASH_MARK = "--";
/** The end of a name that carries a hash. */
const HASHED = /--[a-z2-7]{10}$/;
const ALLOWED = /^[A-Za-z0-9_-]+$/;
/** Some providers want a letter first. */
const STARTS_WELL = /^[A-Za-z]/;

/** What both are called together. */
export interface ToolAddress {
  readonly server: string;
  readonly tool: string;
}

/**
 * The exposed name of a tool: `[A-Za-z0-9_-]`, at most `maxLength` characters.
 *
 * @param maxLength 24 to 128; default 64.
 */
export function exposeName(server: string, tool: string, maxLength: number = DEFAULT_NAME_LENGTH): string {
  const limit = Math.min(Math.max(maxLength, MIN_NAME_LENGTH), MAX_NAME_LENGTH);
  const plain = `${server}${NAME_SEPARATOR}${tool}`;
  return isUnambiguous(server, tool) && plain.length <= limit ? plain : hashedName(server, tool, limit);
}

/** True where `name` is one of Portcullis's own, in any case of letters: a model does not see the difference. */
export function isReservedName(name: string): boolean {
  return name.toLowerCase().startsWith(RESERVED_PREFIX);
}

/**
 * The parts of a name that carries no hash. A hashed name cannot be taken apart: its registry knows it.
 *
 * @returns `undefined` for a hashed, reserved or foreign name.
 */
export function splitName(name: string): ToolAddress | undefined {
  const at = name.indexOf(NAME_SEPARATOR);
  if (at <= 0) return undefined;
  const server = name.slice(0, at);
  const tool = name.slice(at + NAME_SEPARATOR.length);
  return isUnambiguous(server, tool) ? { server, tool } : undefined;
}

/** Whether the plain name says which server and tool are meant, and could not be taken for a hashed or reserved one. */
function isUnambiguous(server: string, tool: string): boolean {
  if (!ALLOWED.test(server) || !ALLOWED.test(tool) || !STARTS_WELL.test(server)) return false;
  if (server.includes(NAME_SEPARATOR) || server.endsWith("_") || tool.startsWith("_")) return false;
  return !HASHED.test(tool) && !isReservedName(`${server}${NAME_SEPARATOR}`);
}

function hashedName(server: string, tool: string, limit: number): string {
  const room = limit - HASH_LENGTH - HASH_MARK.length;
  const cleanedServer = clean(server) || "server";
  const isTaken = isReservedName(`${cleanedServer}${NAME_SEPARATOR}`) || !STARTS_WELL.test(cleanedServer);
  const prefix = isTaken ? `x-${cleanedServer}` : cleanedServer;
  const cleanedTool = clean(tool) || "tool";
  // The tool says more than the server, so it gets at least two thirds.
  const serverRoom = Math.max(Math.floor(room / 3), room - NAME_SEPARATOR.length - cleanedTool.length);
  const shownServer = trimEnd(prefix.slice(0, Math.max(1, serverRoom)));
  const shownTool = trimEnd(cleanedTool.slice(0, room - NAME_SEPARATOR.length - shownServer.length));
  return `${shownServer}${NAME_SEPARATOR}${shownTool}${HASH_MARK}${hash(server, tool)}`;
}

/** Without what is not allowed, and without a run of `_` that would read as a separator. */
function clean(text: string): string {
  return text
    .slice(0, 4 * MAX_NAME_LENGTH)
    .replaceAll(/[^A-Za-z0-9_-]/g, "_")
    .replaceAll(/_+/g, "_")
    .replaceAll(/^_|_$/g, "");
}

function trimEnd(text: string): string {
  return text.replace(/_+$/, "") || text;
}

/** 50 bits of SHA-256 over both names, in base32. */
function hash(server: string, tool: string): string {
  const digest = createHash("sha256")
    .update(JSON.stringify([server, tool]))
    .digest();
  let text = "";
  for (let at = 0; at < HASH_LENGTH; at += 1) {
    const bit = at * 5;
    const pair = ((digest[bit >> 3] ?? 0) << 8) | (digest[(bit >> 3) + 1] ?? 0);
    text += BASE32[(pair >> (11 - (bit & 7))) & 31] ?? "a";
  }
  return text;
}

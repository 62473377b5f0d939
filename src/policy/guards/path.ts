/**
 * The `path` guard: a path is inside one of the roots, after `..` and symbolic links. The real path of the deepest existing
 * parent decides, so that a file that is yet to be made is covered as well.
 *
 * Invariants: what systems read differently (back slashes, percent escapes, home and variable shorthands, drives, UNC,
 * look-alike slashes, control characters) is refused; a relative path, or one with `..`, is rewritten to the absolute one
 * that was checked. Hard links cannot be seen, and a link that is made after the check is the server's affair.
 */
import { lstat, realpath } from "node:fs/promises";
import { dirname, isAbsolute, join, resolve, sep } from "node:path";
import type { JsonValue } from "../../base/json.ts";
import { ALLOWED, denied, type ValueVerdict } from "./verdict.ts";

export interface PathContext {
  /** What the server resolves relative paths against; `null` where that is not known: they are refused. */
  readonly cwd: string | null;
  /** False for a server on another machine: links cannot be looked at there, so only the spelling is checked. */
  readonly isLocal: boolean;
}

const MAX_CHARACTERS = 4_096;
// oxlint-disable-next-line no-control-regex -- control characters are what it looks for
const CONTROL = /[\u0000-\u001F\u007F-\u009F\u200B-\u200F\u2028-\u202E\u2060-\u2069\uFEFF]/;
const ESCAPED = /%(2e|2f|5c|00|25)/i;

/** @param roots absolute folders. */
export async function checkPath(
  value: JsonValue,
  roots: readonly string[],
  context: PathContext,
): Promise<ValueVerdict> {
  if (typeof value !== "string" || value === "") return denied("it is not a path");
  const trick = findTrick(value);
  if (trick !== null) return denied(trick);
  if (!isAbsolute(value) && context.cwd === null) return denied("it is not an absolute path");
  const path = context.cwd === null ? resolve(value) : resolve(context.cwd, value);
  for (const root of roots) {
    if (!isInside(path, resolve(root)) && !context.isLocal) continue;
    if (context.isLocal) {
      const real = await realPathOf(path);
      if (real === null)
        return denied("it goes through a link that leads nowhere, or a place that cannot be looked at");
      if (!isInside(real, (await realPathOf(resolve(root))) ?? resolve(root))) continue;
    }
    const isSpelled = value === path || value === path + sep;
    return isSpelled ? ALLOWED : { kind: "rewrite", after: path, reason: "the path was written out in full" };
  }
  return denied(`it is outside of ${roots.map((root) => `\`${root}\``).join(", ")}`);
}

function findTrick(path: string): string | null {
  if (path.length > MAX_CHARACTERS) return `it is longer than ${MAX_CHARACTERS} characters`;
  if (!path.isWellFormed() || CONTROL.test(path)) return "it holds a character that cannot be seen";
  if (ESCAPED.test(path)) return "it holds percent escapes";
  if (sep === "/" && path.includes("\\")) return "it holds a back slash";
  if (/^(\/\/|\\\\)/.test(path)) return "it is a network path";
  if (/^[A-Za-z][A-Za-z0-9+.-]+:/.test(path) || (sep === "/" && /^[A-Za-z]:/.test(path)))
    return "it is a URL or names a drive";
  if (/^~|\$[{(A-Za-z_]|%[A-Za-z_]\w*%/.test(path))
    return "it holds a shorthand that the server might expand";
  const folded = path.normalize("NFKC");
  if (countSeparators(folded) !== countSeparators(path))
    return "it holds a character that looks like a slash or a dot";
  return null;
}

function countSeparators(path: string): number {
  let count = 0;
  for (const character of path) if (character === "/" || character === "\\" || character === ".") count += 1;
  return count;
}

function isInside(path: string, root: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : root + sep);
}

/** The real path, or that of the deepest existing parent with the rest behind it; `null` where it cannot be told. */
async function realPathOf(path: string): Promise<string | null> {
  let existing = path;
  let rest = "";
  for (;;) {
    try {
      return join(await realpath(existing), rest);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT" || (await isThere(existing))) return null;
    }
    const parent = dirname(existing);
    if (parent === existing) return null;
    rest = join(existing.slice(parent.length).replace(sep, ""), rest);
    existing = parent;
  }
}

/** A link that leads nowhere is there, although its real path is not. */
async function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== "ENOENT",
  );
}

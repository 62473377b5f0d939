/** The hash of an installed tree: every file by its content, every link by its target, and what may be executed. */
import { createHash } from "node:crypto";
import { readFile, readlink, readdir, stat } from "node:fs/promises";
import { join } from "node:path";

interface TreeEntry {
  /** From the root, with `/`. */
  readonly path: string;
  readonly isLink: boolean;
}

const READ_AT_ONCE = 16;
/** A package that brings more than this is none that anybody looked at. */
const MAX_ENTRIES = 200_000;

/**
 * Hex SHA-256 over the whole of `root`, the same wherever it lies. Reads every byte: about 0.1 s for 1,000 files.
 *
 * @throws the error of Node where something cannot be read; RangeError for what is neither file, folder nor link, and for trees
 * beyond 200,000 entries.
 */
export async function hashTree(root: string): Promise<string> {
  const entries = await listTree(root);
  const lines: string[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    for (let at = next++; at < entries.length; at = next++) {
      const entry = entries[at];
      if (entry !== undefined) lines[at] = await describe(root, entry);
    }
  };
  await Promise.all(Array.from({ length: READ_AT_ONCE }, work));
  return createHash("sha256").update(lines.join("\n")).digest("hex");
}

async function listTree(root: string): Promise<readonly TreeEntry[]> {
  const entries: TreeEntry[] = [];
  const folders = [""];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const found of await readdir(join(root, folder), { withFileTypes: true })) {
      const path = folder === "" ? found.name : `${folder}/${found.name}`;
      if (found.isDirectory()) folders.push(path);
      else if (found.isFile() || found.isSymbolicLink())
        entries.push({ path, isLink: found.isSymbolicLink() });
      else throw new RangeError(`\`${path}\` is neither a file, a folder nor a link`);
      if (entries.length + folders.length > MAX_ENTRIES)
        throw new RangeError(`\`${root}\` holds more than ${MAX_ENTRIES} files`);
    }
  }
  return entries.sort((a, b) => (a.path < b.path ? -1 : 1));
}

async function describe(root: string, { path, isLink }: TreeEntry): Promise<string> {
  const file = join(root, path);
  const name = JSON.stringify(path);
  if (isLink) return `link ${name} ${JSON.stringify(await readlink(file))}`;
  const [bytes, { mode }] = await Promise.all([readFile(file), stat(file)]);
  const kind = (mode & 0o111) === 0 ? "file" : "program";
  return `${kind} ${name} ${createHash("sha256").update(bytes).digest("hex")}`;
}

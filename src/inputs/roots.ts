/**
 * The folders that a server may be told of (deprecated in the specification): those that the host's user names, as they really
 * are on this machine, and never more.
 */
import { realpath, stat } from "node:fs/promises";
import { parse } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { rpcCodes } from "../protocol/codes.ts";
import type { RootsResult } from "../protocol/input-requests.ts";
import type { Turn } from "./desk.ts";
import { refusal } from "./refusal.ts";
import { labelOf } from "./words.ts";

export interface Root {
  /** A path, or a `file:` address. */
  readonly path: string;
  readonly name?: string;
}

/** Asked each time, so that what is gone is not told any more. */
export type RootsSource = (server: string, signal: AbortSignal) => Promise<readonly Root[]>;

interface CheckedRoot {
  readonly uri: string;
  readonly name?: string;
}

const MAX_ROOTS = 50;
const MAX_NAME = 200;

/** Tells the folders, once a person agrees. @throws PortcullisError `input_refused`. */
export async function askRoots(turn: Turn, roots: RootsSource): Promise<RootsResult> {
  const checked = await checkRoots(await turn.aside(() => roots(turn.source.server, turn.signal)));
  turn.fit(checked.map(({ uri }) => uri));
  const answer = await turn.show({ ...turn.source, kind: "roots", message: "", roots: checked });
  await turn.end(answer);
  if (answer.action !== "accept") throw refusal("the person said no", rpcCodes.internalError);
  return { roots: checked };
}

/** Folders that are there, with links resolved; whatever is no folder, gone, or the whole disk is left out. */
async function checkRoots(roots: readonly Root[]): Promise<readonly CheckedRoot[]> {
  const checked = await Promise.all(roots.slice(0, MAX_ROOTS).map(checkRoot));
  return checked.filter((root) => root !== null);
}

async function checkRoot({ path, name }: Root): Promise<CheckedRoot | null> {
  try {
    const real = await realpath(path.startsWith("file:") ? fileURLToPath(path) : path);
    if (!(await stat(real)).isDirectory() || parse(real).root === real) return null;
    return {
      uri: pathToFileURL(real).href,
      ...(name === undefined ? {} : { name: labelOf(name, MAX_NAME) }),
    };
  } catch {
    return null;
  }
}

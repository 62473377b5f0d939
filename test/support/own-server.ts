/** The project's own misbehaving servers: `test/servers/NAME.mjs`, run by this Node, with an environment of their own. */
import { fileURLToPath } from "node:url";
import type { ProcessCommand } from "../../src/transport/process.ts";

/** @param env is added to PATH, which is all that the server gets otherwise. */
export function ownServer(
  name: string,
  args: readonly string[] = [],
  env: Record<string, string> = {},
): ProcessCommand {
  const file = fileURLToPath(new URL(`../servers/${name}.mjs`, import.meta.url));
  return nodeScript(file, args, env);
}

/** Any script, run the same way. */
export function nodeScript(
  file: string,
  args: readonly string[] = [],
  env: Record<string, string> = {},
): ProcessCommand {
  const path = process.env["PATH"] ?? "";
  return {
    command: process.execPath,
    args: [file, ...args],
    env: { PATH: path, ...env },
    cwd: process.cwd(),
  };
}

/** The facts of the process that runs: with `child-env`'s input the only reading of the environment outside the CLI. */
import { homedir } from "node:os";
import type { HostFacts } from "./locate.ts";

/** Working directory, environment, home and platform as they are now. */
export function thisProcess(): HostFacts {
  return { cwd: process.cwd(), env: process.env, homeDir: homedir(), platform: process.platform };
}

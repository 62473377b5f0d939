/** A server whose definitions a test changes while it runs (`test/servers/definitions.mjs`). */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { JsonObject } from "../../src/base/json.ts";

const SERVER = fileURLToPath(new URL("../servers/definitions.mjs", import.meta.url));

export interface Offered {
  readonly tools?: readonly unknown[];
  readonly prompts?: readonly unknown[];
  readonly resources?: readonly unknown[];
  readonly instructions?: string;
}

export interface DefinitionsServer {
  /** What it offers from the next list on. */
  offer(offered: Offered): void;
  /** Its entry in a configuration. */
  entry(more?: JsonObject): JsonObject;
}

/** @param dir of the test. */
export function definitionsServer(dir: string, offered: Offered): DefinitionsServer {
  const file = join(dir, "definitions.json");
  const offer = (next: Offered): void => writeFileSync(file, JSON.stringify(next));
  offer(offered);
  return {
    offer,
    entry: (more = {}) => ({
      command: process.execPath,
      args: [SERVER],
      source: "own",
      env: { DEFINITIONS: file },
      ...more,
    }),
  };
}

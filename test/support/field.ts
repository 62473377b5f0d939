/** The outside field servers: run where FIELD_SERVERS names their folder, counted aloud where not. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe } from "vitest";

const folder = process.env["FIELD_SERVERS"];

/** The path of a field server, for example `fieldServer("fc09-exit-mid-call")`. Only inside `describeField`. */
export function fieldServer(name: string): string {
  return join(folder ?? "", `${name}.mjs`);
}

/** `describe` where the field servers are there; otherwise one skipped block whose title says what was not run. */
export function describeField(name: string, body: () => void): void {
  if (folder !== undefined && existsSync(fieldServer(name))) describe(name, body);
  else describe.skip(`${name}: not run, FIELD_SERVERS is not set`, body);
}

/**
 * Writes what is generated from the configuration's schema: `schema.json` for editors, and the list of keys that are not
 * implemented yet in docs/configuration.md. `--check` writes nothing and fails where a file is not current.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { renderJsonSchema, renderNotYet } from "../src/config/json-schema.ts";

const root = join(import.meta.dirname, "..");
const page = readFileSync(join(root, "docs/configuration.md"), "utf8");
const list = /(<!-- not-yet:start -->\n)[\s\S]*?(<!-- not-yet:end -->)/;
const files = [
  { path: "schema.json", text: renderJsonSchema() },
  {
    path: "docs/configuration.md",
    text: page.replace(list, (_all, start, end) => start + renderNotYet() + end),
  },
];

let stale = 0;
for (const { path, text } of files) {
  const file = join(root, path);
  let current = "";
  try {
    current = readFileSync(file, "utf8");
  } catch {
    // It is written for the first time.
  }
  if (current === text) continue;
  stale += 1;
  if (process.argv.includes("--check")) console.error(`${path} is not current: run node scripts/schema.mjs`);
  else writeFileSync(file, text);
}
if (process.argv.includes("--check") && stale > 0) process.exitCode = 1;

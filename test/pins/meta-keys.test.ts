/** The keys of `_meta` that are ours, as outsiders see them: they stay, and are none of those that belong to MCP. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { isReservedMetaKey, isValidMetaKey } from "../../src/wire/meta.ts";

const SRC = join(import.meta.dirname, "../../src");
const OWN = [
  "portcullis/conversation",
  "portcullis/local-file",
  "portcullis/outcome",
  "portcullis/placeholder",
];

it("our own keys are these, well-formed, and reserved by nobody [META-10, META-11]", () => {
  const found = new Set<string>();
  for (const file of readdirSync(SRC, { recursive: true, encoding: "utf8" })) {
    if (!file.endsWith(".ts")) continue;
    for (const [, key = ""] of readFileSync(join(SRC, file), "utf8").matchAll(/"(portcullis\/[a-z-]+)"/g))
      found.add(key);
  }
  expect([...found].sort()).toEqual(OWN);
  expect(OWN.filter((key) => !isValidMetaKey(key) || isReservedMetaKey(key))).toEqual([]);
});

/** Holds the table of duties against the tests: what a test cites exists, and what is said to be shown is. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { requirements } from "./requirements.ts";

const root = join(import.meta.dirname, "..");
/** One id or several in square brackets. */
const CITATION = /\[([A-Z]{2,5}-\d{2}(?:,\s*[A-Z]{2,5}-\d{2})*)\]/g;
/** Cases of the field servers are cited the same way and are no duties. */
const OTHER_IDS = /^FC-/;

/** Which test files cite which id. */
function readCitations(): ReadonlyMap<string, readonly string[]> {
  const citations = new Map<string, string[]>();
  for (const file of readdirSync(root, { recursive: true, encoding: "utf8" })) {
    if (!file.endsWith(".test.ts")) continue;
    for (const [, ids = ""] of readFileSync(join(root, file), "utf8").matchAll(CITATION)) {
      for (const id of ids.split(/,\s*/)) citations.set(id, [...(citations.get(id) ?? []), file]);
    }
  }
  return citations;
}

const citations = readCitations();

describe("the duties of the specification", () => {
  it("the table is whole: 507 rows, each id once", () => {
    expect(requirements).toHaveLength(507);
    expect(new Set(requirements.map(({ id }) => id)).size).toBe(507);
  });

  it("every citation names a row of the table", () => {
    const known = new Set(requirements.map(({ id }) => id));
    const unknown = [...citations].filter(([id]) => !known.has(id) && !OTHER_IDS.test(id));
    expect(unknown.map(([id, files]) => `${id} in ${files.join(", ")}`)).toEqual([]);
  });

  it("every reason says something", () => {
    const empty = requirements.filter(
      ({ status }) => "by" in status === false && Object.values(status)[0]?.trim() === "",
    );
    expect(empty).toEqual([]);
  });

  it("every row that is said to be shown by tests is cited by one, whatever its strength", () => {
    const missing = requirements.filter(({ id, status }) => "by" in status && !citations.has(id));
    expect(missing.map(({ id, requirement }) => `${id}: ${requirement}`)).toEqual([]);
  });

  it("a row that is said not to be ours is cited by no test", () => {
    const both = requirements.filter(({ id, status }) => "notOurs" in status && citations.has(id));
    expect(both.map(({ id }) => id)).toEqual([]);
  });
});

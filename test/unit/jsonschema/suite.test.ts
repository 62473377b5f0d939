/**
 * The official JSON-Schema-Test-Suite as judge, all required tests and those of the optional ones that are ours. Formats as
 * annotations, except in the part about formats. Everything that we answer differently is named here.
 */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { compileSchema } from "../../../src/jsonschema/compile.ts";
import type { Dialect } from "../../../src/jsonschema/dialect.ts";

interface Group {
  readonly description: string;
  readonly schema: unknown;
  readonly tests: readonly {
    readonly description: string;
    readonly data: unknown;
    readonly valid: boolean;
  }[];
}

function readSuite(draft: string): Readonly<Record<string, readonly Group[]>> {
  const file = new URL(`../../corpus/json-schema-suite/${draft}.json`, import.meta.url);
  return JSON.parse(readFileSync(file, "utf8")) as Readonly<Record<string, readonly Group[]>>;
}

/** Tests that we answer otherwise, on purpose. */
const onPurpose: readonly RegExp[] = [
  // A meta-schema of one's own would have to be fetched to know that it switches keywords off.
  /^vocabulary\.json .* no validation vocabulary .* invalid number/,
  /^optional\/format-assertion\.json .* invalid string$/,
  // JSON numbers have no kinds: 1.0 is 1.
  /^optional\/zeroTerminatedFloats\.json /,
  // Encoded content is never decoded to be looked into.
  /^optional\/content\.json /,
];

interface Judgement {
  passed: number;
  refusedAsRemote: number;
  readonly wrong: string[];
}

function judge(
  draft: string,
  dialect: Dialect,
  isWanted: (file: string) => boolean,
  formats: "annotation" | "assertion",
): Judgement {
  const judgement: Judgement = { passed: 0, refusedAsRemote: 0, wrong: [] };
  for (const [file, groups] of Object.entries(readSuite(draft))) {
    if (!isWanted(file)) continue;
    for (const group of groups) {
      const isDeclared =
        typeof group.schema === "object" && group.schema !== null && "$schema" in group.schema;
      const compiled = compileSchema(group.schema, { formats, ...(isDeclared ? {} : { dialect }) });
      for (const test of group.tests) {
        const name = `${file} · ${group.description} · ${test.description}`;
        if (!compiled.ok) {
          if (compiled.code === "remote_ref") judgement.refusedAsRemote += 1;
          else judgement.wrong.push(`${name}: refused, ${compiled.reason}`);
        } else if (compiled.validate(test.data).ok === test.valid) {
          judgement.passed += 1;
        } else if (!onPurpose.some((pattern) => pattern.test(name.replaceAll("·", " ")))) {
          judgement.wrong.push(`${name}: should be ${test.valid ? "valid" : "invalid"}`);
        }
      }
    }
  }
  return judgement;
}

describe("official JSON Schema test suite", () => {
  it.each([
    ["draft4", "04", 557],
    ["draft6", "06", 752],
    ["draft7", "07", 836],
    ["draft2019-09", "2019-09", 1125],
    ["draft2020-12", "2020-12", 1114],
  ] as const)("%s: every required test is answered right [TOOL-22] [TOOL-23]", (draft, dialect, atLeast) => {
    const judgement = judge(draft, dialect, (file) => !file.startsWith("optional/"), "annotation");
    expect(judgement.wrong).toEqual([]);
    expect(judgement.passed).toBeGreaterThanOrEqual(atLeast);
    // What refers to another document is refused, and nothing else is.
    expect(judgement.refusedAsRemote).toBeLessThanOrEqual(61);
  });

  it.each([
    ["draft6", "06", 96],
    ["draft7", "07", 102],
    ["draft2019-09", "2019-09", 139],
    ["draft2020-12", "2020-12", 141],
  ] as const)("%s: so is every optional one that is not about formats", (draft, dialect, atLeast) => {
    const isWanted = (file: string): boolean =>
      file.startsWith("optional/") && !file.startsWith("optional/format/");
    const judgement = judge(draft, dialect, isWanted, "annotation");
    expect(judgement.wrong).toEqual([]);
    expect(judgement.passed).toBeGreaterThanOrEqual(atLeast);
  });

  it("2020-12: the formats that we assert on request are asserted right", () => {
    const judgement = judge(
      "draft2020-12",
      "2020-12",
      (file) => file.startsWith("optional/format/"),
      "assertion",
    );
    expect(judgement.wrong).toEqual([]);
    expect(judgement.passed).toBeGreaterThan(150);
  });
});

import { describe, expect, it } from "vitest";
import { MAX_CONFIG_BYTES, parseConfigBytes, parseConfigText } from "../../../src/config/jsonc.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe("parseConfigText", () => {
  it("reads comments, trailing commas and a byte order mark", () => {
    const parsed = parseConfigText('\uFEFF{\n  // why\n  "a": [1, 2,], /* and */ "b": true,\n}\n');
    expect(parsed.problems).toEqual([]);
    expect(parsed.value).toEqual({ a: [1, 2], b: true });
  });

  it.each([
    ['{"a" 1}', 1, 6, "a colon is expected here"],
    ['{\n  "a": 1\n  "b": 2\n}', 3, 3, "a comma is expected here"],
    ["{\r\n  'a': 1\r\n}", 2, 3, "this is no JSON value: text needs double quotes"],
    ['{"a": 1', 1, 8, "a closing `}` is expected here"],
    ['{"a": [1', 1, 9, "a closing `]` is expected here"],
    ['{"a": 1} 5', 1, 10, "the configuration should end here: remove what follows"],
    ['{"a": "\\x"}', 1, 7, "this escape is unknown: write `\\\\` for a backslash"],
    ["", 1, 1, "a value is expected here"],
    ["/* never", 1, 1, "this comment is never closed: add `*/`"],
  ])("%j: says what is wrong at %i:%i", (text, line, column, message) => {
    expect(parseConfigText(text).problems[0]).toMatchObject({ line, column, message });
  });

  it("refuses a key that stands there twice, at the second place", () => {
    const parsed = parseConfigText('{\n  "mcpServers": {\n    "a": 1,\n    "a": 2\n  }\n}');
    expect(parsed.problems).toMatchObject([
      {
        line: 4,
        column: 5,
        path: ["mcpServers", "a"],
        message: "this key stands here twice: remove one of them",
      },
    ]);
  });

  it("refuses `__proto__` as a name and pollutes nothing", () => {
    const parsed = parseConfigText('{"__proto__": {"polluted": true}}');
    expect(parsed.problems).toHaveLength(1);
    expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
    expect((parsed.value as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it("takes ordinary names of object members for names", () => {
    const parsed = parseConfigText('{"constructor": 1, "toString": 2, "hasOwnProperty": 3}');
    expect(parsed.problems).toEqual([]);
    expect(Object.keys(parsed.value as object)).toEqual(["constructor", "toString", "hasOwnProperty"]);
  });

  it("refuses deep nesting before the parser recurses, at the bracket that is too much", () => {
    const parsed = parseConfigText(`\n${"[".repeat(500_000)}`);
    expect(parsed.problems).toMatchObject([
      { line: 2, column: 65, message: "nested more than 64 levels deep" },
    ]);
    expect(parseConfigText(`${"[".repeat(64)}${"]".repeat(64)}`).problems).toEqual([]);
  });

  it("points at a value, at a key, and at the object around a key that is missing", () => {
    const { positions } = parseConfigText(
      '{\n  "mcpServers": {\n    "a": {\n      "args": ["x", 5]\n    }\n  }\n}',
    );
    expect(positions(["mcpServers", "a", "args", 1], "value")).toEqual({ line: 4, column: 21 });
    expect(positions(["mcpServers", "a", "args"], "key")).toEqual({ line: 4, column: 7 });
    expect(positions(["mcpServers", "a", "command"], "key")).toEqual({ line: 3, column: 5 });
    expect(positions([], "value")).toEqual({ line: 1, column: 1 });
  });
});

describe("parseConfigBytes", () => {
  it("refuses what is no UTF-8, what is UTF-16, and what is too large", () => {
    expect(parseConfigBytes(Uint8Array.of(0x7b, 0xff, 0x7d)).problems[0]?.message).toContain("not UTF-8");
    expect(parseConfigBytes(Uint8Array.of(0xff, 0xfe, 0x7b, 0)).problems[0]?.message).toContain("UTF-16");
    const large = new Uint8Array(MAX_CONFIG_BYTES + 1).fill(0x20);
    expect(parseConfigBytes(large).problems[0]?.message).toContain("larger than");
  });

  it("keeps columns right behind a byte order mark", () => {
    expect(parseConfigBytes(bytes('\uFEFF{"a" 1}')).problems[0]).toMatchObject({ line: 1, column: 7 });
  });
});

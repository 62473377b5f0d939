import { describe, expect, it } from "vitest";
import {
  decodeHeaderValue,
  encodeHeaderValue,
  findHeaderMismatch,
  requestHeaders,
} from "../../../src/wire/headers.ts";
import { readHeaderPlan } from "../../../src/wire/header-plan.ts";

describe("header values", () => {
  // The examples of the specification. [HTTP-12] [HTTP-19] [HTTP-20]
  const examples: readonly (readonly [string, string])[] = [
    ["us-west1", "us-west1"],
    ["Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="],
    [" padded ", "=?base64?IHBhZGRlZCA=?="],
    ["line1\nline2", "=?base64?bGluZTEKbGluZTI=?="],
    ["=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="],
    ["", ""],
    ["a\tb", "a\tb"],
    ["trailing\t", "=?base64?dHJhaWxpbmcJ?="],
    ["a b", "a b"],
    ["=?base64?open", "=?base64?open"],
    ["x\r\nInjected: 1", "=?base64?eA0KSW5qZWN0ZWQ6IDE=?="],
    ["\u007f", "=?base64?fw==?="],
  ];
  for (const [text, header] of examples) {
    it(`writes ${JSON.stringify(text)} as ${header} and reads it back`, () => {
      expect(encodeHeaderValue(text)).toBe(header);
      expect(decodeHeaderValue(header)).toBe(text);
    });
  }

  it("refuses a sentinel with broken Base64 or broken UTF-8", () => {
    expect(decodeHeaderValue("=?base64?***?=")).toBeUndefined();
    expect(decodeHeaderValue("=?base64?abc?=")).toBeUndefined();
    expect(decodeHeaderValue("=?base64?/w==?=")).toBeUndefined();
  });
});

describe("mirrored headers", () => {
  it("repeat method, version and name of a request [HTTP-08] [HTTP-10] [HTTP-11]", () => {
    expect(requestHeaders("2026-07-28", "tools/call", { name: "天気" }, undefined)).toEqual({
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": "=?base64?5aSp5rCX?=",
    });
    expect(requestHeaders("2026-07-28", "resources/read", { uri: "file:///a" }, undefined)["mcp-name"]).toBe(
      "file:///a",
    );
    expect(requestHeaders("2026-07-28", "prompts/get", { name: "p" }, undefined)["mcp-name"]).toBe("p");
    expect(requestHeaders("2026-07-28", "tools/list", {}, undefined)).not.toHaveProperty("mcp-name");
  });

  it("name the task on task methods [HTTP-39] [TASK-13]", () => {
    for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
      expect(requestHeaders("2026-07-28", method, { taskId: "t 1" }, undefined)["mcp-name"]).toBe("t 1");
    }
  });

  const plan = [
    { header: "Region", path: ["region"] },
    { header: "Count", path: ["count"] },
    { header: "Flag", path: ["flag"] },
    { header: "Deep", path: ["a", "b"] },
  ];
  const params = (args: object): never => ({ name: "t", arguments: args }) as never;

  it("mirror annotated arguments and nothing else [HTTP-14] [HTTP-15] [HTTP-18]", () => {
    expect(
      requestHeaders(
        "2026-07-28",
        "tools/call",
        params({ region: "Ω", count: 42, flag: true, a: { b: "x" }, note: "plain" }),
        plan,
      ),
    ).toEqual({
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": "t",
      "mcp-param-region": "=?base64?zqk=?=",
      "mcp-param-count": "42",
      "mcp-param-flag": "true",
      "mcp-param-deep": "x",
    });
  });

  it("leave out null, absent and structured values [HTTP-16] [HTTP-17]", () => {
    const headers = requestHeaders(
      "2026-07-28",
      "tools/call",
      params({ region: null, flag: { x: 1 }, a: [] }),
      plan,
    );
    expect(Object.keys(headers).filter((name) => name.startsWith("mcp-param-"))).toEqual([]);
  });

  it("refuse integers that a header cannot carry faithfully [HTTP-27]", () => {
    expect(() => requestHeaders("2026-07-28", "tools/call", params({ count: 2 ** 53 }), plan)).toThrow(
      RangeError,
    );
    expect(() => requestHeaders("2026-07-28", "tools/call", params({ count: 1.5 }), plan)).toThrow(
      RangeError,
    );
    expect(
      requestHeaders("2026-07-28", "tools/call", params({ count: 2 ** 53 - 1 }), plan)["mcp-param-count"],
    ).toBe("9007199254740991");
  });

  it("are compared after decoding, values with their case [HTTP-34]", () => {
    const expected = { "mcp-name": "a" };
    expect(findHeaderMismatch({ "mcp-name": "=?base64?YQ==?=" }, expected)).toBeUndefined();
    expect(findHeaderMismatch({ "mcp-name": "A" }, expected)).toBe("mcp-name");
    expect(findHeaderMismatch({}, expected)).toBe("mcp-name");
    expect(findHeaderMismatch({ "mcp-name": "a", "mcp-param-x": "1" }, expected)).toBe("mcp-param-x");
  });
});

describe("readHeaderPlan", () => {
  const object = (properties: object): never => ({ type: "object", properties }) as never;

  it("finds annotated properties, nested ones too", () => {
    const schema = object({
      region: { type: "string", "x-mcp-header": "Region" },
      plain: { type: "string" },
      inner: { type: "object", properties: { id: { type: "integer", "x-mcp-header": "Inner-Id" } } },
    });
    expect(readHeaderPlan(schema)).toEqual({
      ok: true,
      plan: [
        { header: "Region", path: ["region"] },
        { header: "Inner-Id", path: ["inner", "id"] },
      ],
    });
  });

  it("does not take data or property names for annotations", () => {
    const schema = object({
      "x-mcp-header": { type: "string" },
      other: { type: "object", default: { "x-mcp-header": "" }, enum: [{ "x-mcp-header": 1 }] },
    });
    expect(readHeaderPlan(schema)).toEqual({ ok: true, plan: [] });
  });

  const string = (header: unknown): object => ({ type: "string", "x-mcp-header": header });
  const bad: readonly (readonly [name: string, schema: object])[] = [
    ["empty [HTTP-21]", object({ a: string("") })],
    ["a number", object({ a: string(1) })],
    ["with a space [HTTP-22]", object({ a: string("a b") })],
    ["with a colon", object({ a: string("a:b") })],
    ["not ASCII", object({ a: string("é") })],
    ["with a control character", object({ a: string("a\n") })],
    ["twice, whatever the case [HTTP-23]", object({ a: string("X"), b: string("x") })],
    ["on an object [HTTP-24]", object({ a: { type: "object", "x-mcp-header": "X" } })],
    ["on an array", object({ a: { type: "array", "x-mcp-header": "X" } })],
    ["on null", object({ a: { type: "null", "x-mcp-header": "X" } })],
    ["on a number [HTTP-25]", object({ a: { type: "number", "x-mcp-header": "X" } })],
    ["on several types", object({ a: { type: ["string", "null"], "x-mcp-header": "X" } })],
    ["without a type", object({ a: { "x-mcp-header": "X" } })],
    ["on the root", { type: "string", "x-mcp-header": "X" }],
    ["below items [HTTP-26]", object({ a: { type: "array", items: string("X") } })],
    [
      "below items and properties",
      object({ a: { type: "array", items: { properties: { b: string("X") } } } }),
    ],
    ["below oneOf", object({ a: { oneOf: [string("X")] } })],
    ["below allOf", { allOf: [{ properties: { a: string("X") } }] }],
    ["below if", { if: { properties: { a: string("X") } } }],
    ["below $defs", { $defs: { a: string("X") } }],
    ["below additionalProperties", { additionalProperties: string("X") }],
  ];
  for (const [name, schema] of bad) {
    it(`refuses a header ${name}`, () => {
      expect(readHeaderPlan(schema as never)).toMatchObject({ ok: false });
    });
  }

  it("ends on schemas without bottom", () => {
    let schema: object = { type: "string" };
    for (let depth = 0; depth < 200; depth += 1) schema = { properties: { a: schema } };
    expect(readHeaderPlan(schema as never)).toMatchObject({ ok: false });
  });
});

import { describe, expect, it } from "vitest";
import {
  completeResult,
  envelopeMeta,
  readDiscoverResult,
  readEnvelope,
  readFreshness,
  readModernResult,
} from "../../../src/wire/modern.ts";

const P = "io.modelcontextprotocol/";

describe("envelope", () => {
  it("is on every request and read back by a server [META-01] [META-02] [META-03]", () => {
    const envelope = {
      revision: "2026-07-28" as const,
      capabilities: { roots: {} },
      clientInfo: { name: "n", version: "1" },
      logLevel: "info" as const,
    };
    const meta = envelopeMeta(envelope);
    expect(meta).toEqual({
      [`${P}protocolVersion`]: "2026-07-28",
      [`${P}clientCapabilities`]: { roots: {} },
      [`${P}clientInfo`]: { name: "n", version: "1" },
      [`${P}logLevel`]: "info",
    });
    expect(readEnvelope({ _meta: meta })).toEqual({ ok: true, envelope });
  });

  it("is refused by a server where it is incomplete or unknown", () => {
    expect(readEnvelope(undefined)).toMatchObject({ ok: false, error: { code: -32602 } });
    expect(readEnvelope({ _meta: { [`${P}protocolVersion`]: "2026-07-28" } })).toMatchObject({
      ok: false,
      error: { code: -32602 },
    });
    expect(
      readEnvelope({ _meta: { [`${P}protocolVersion`]: "2030-01-01", [`${P}clientCapabilities`]: {} } }),
    ).toMatchObject({
      ok: false,
      error: { code: -32022, data: { supported: ["2026-07-28"], requested: "2030-01-01" } },
    });
  });
});

describe("readModernResult", () => {
  const rows: readonly (readonly [
    name: string,
    method: string,
    result: object,
    acceptsTask: boolean,
    expected: object,
  ])[] = [
    ["complete", "tools/call", { resultType: "complete" }, false, { kind: "complete" }],
    [
      "an absent type is complete, and a defect [BASE-10]",
      "tools/call",
      { content: [] },
      false,
      { kind: "complete", flaw: "result.no-type" },
    ],
    [
      "an unknown type is invalid [BASE-08]",
      "tools/call",
      { resultType: "later" },
      false,
      { kind: "invalid" },
    ],
    ["a type that is no text", "tools/call", { resultType: 1 }, false, { kind: "invalid" }],
    [
      "input for a tool",
      "tools/call",
      { resultType: "input_required", requestState: "s" },
      false,
      { kind: "input_required", requestState: "s", inputRequests: {} },
    ],
    [
      "input for a prompt",
      "prompts/get",
      { resultType: "input_required", inputRequests: { k: { method: "roots/list" } } },
      false,
      { kind: "input_required" },
    ],
    [
      "input for a resource",
      "resources/read",
      { resultType: "input_required", requestState: "" },
      false,
      { kind: "input_required", requestState: "" },
    ],
    [
      "input for a list is invalid [MRTR-09]",
      "tools/list",
      { resultType: "input_required", requestState: "s" },
      false,
      { kind: "invalid" },
    ],
    [
      "input that asks for nothing is invalid [MRTR-11]",
      "tools/call",
      { resultType: "input_required" },
      false,
      { kind: "invalid" },
    ],
    [
      "a state that is no text",
      "tools/call",
      { resultType: "input_required", requestState: {} },
      false,
      { kind: "invalid" },
    ],
    [
      "requests that are no map",
      "tools/call",
      { resultType: "input_required", inputRequests: [] },
      false,
      { kind: "invalid" },
    ],
    [
      "a request without a method",
      "tools/call",
      { resultType: "input_required", inputRequests: { k: {} } },
      false,
      { kind: "invalid" },
    ],
    ["a task where it was allowed [TASK-02]", "tools/call", { resultType: "task" }, true, { kind: "task" }],
    ["a task where it was not [BASE-09]", "tools/call", { resultType: "task" }, false, { kind: "invalid" }],
    ["a task for another method [TASK-03]", "prompts/get", { resultType: "task" }, true, { kind: "invalid" }],
    [
      "the type of the examples on tasks/get",
      "tasks/get",
      { resultType: "task" },
      false,
      { kind: "complete" },
    ],
  ];
  for (const [name, method, result, acceptsTask, expected] of rows) {
    it(name, () => {
      expect(readModernResult(method, result as never, acceptsTask)).toMatchObject(expected);
    });
  }

  it("takes any key of inputRequests for a key", () => {
    const result = JSON.parse(
      '{"resultType":"input_required","inputRequests":{"__proto__":{"method":"roots/list"}}}',
    ) as never;
    const read = readModernResult("tools/call", result, false);
    expect(read.kind === "input_required" ? Object.keys(read.inputRequests) : []).toEqual(["__proto__"]);
  });
});

describe("results", () => {
  it("say how long they are fresh, with the defaults of the specification [CCH-05] [CCH-06] [CCH-15]", () => {
    expect(readFreshness({ ttlMs: 5_000, cacheScope: "public" })).toEqual({
      ttlMs: 5_000,
      cacheScope: "public",
    });
    expect(readFreshness({})).toEqual({ ttlMs: 0, cacheScope: "private" });
    expect(readFreshness({ ttlMs: -1, cacheScope: "all" })).toEqual({ ttlMs: 0, cacheScope: "private" });
    expect(readFreshness({ ttlMs: 1e300 })).toEqual({ ttlMs: 86_400_000, cacheScope: "private" });
    expect(readFreshness({ ttlMs: "5" })).toEqual({ ttlMs: 0, cacheScope: "private" });
  });

  it("are stamped by a server", () => {
    expect(
      completeResult(
        { tools: [] },
        { cache: { ttlMs: 1, cacheScope: "private" }, serverInfo: { name: "n", version: "1" } },
      ),
    ).toEqual({
      resultType: "complete",
      tools: [],
      ttlMs: 1,
      cacheScope: "private",
      _meta: { [`${P}serverInfo`]: { name: "n", version: "1" } },
    });
  });

  it("of discovery are read as far as they can be", () => {
    expect(
      readDiscoverResult({
        supportedVersions: ["a", 3],
        capabilities: { tools: {} },
        instructions: "x",
      } as never),
    ).toEqual({
      supportedVersions: ["a"],
      capabilities: { tools: {} },
      instructions: "x",
      ttlMs: 0,
      cacheScope: "private",
    });
    expect(readDiscoverResult({ supportedVersions: [] })).toBeUndefined();
    expect(readDiscoverResult({ capabilities: {} })).toBeUndefined();
    expect(readDiscoverResult({ resultType: "input_required", supportedVersions: ["a"] })).toBeUndefined();
  });
});

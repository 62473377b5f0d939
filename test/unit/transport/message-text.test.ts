import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonRpcMessage } from "../../../src/protocol/jsonrpc.ts";
import {
  MAX_CONTAINERS,
  MAX_DEPTH,
  parseMessageText,
  toMessageText,
} from "../../../src/transport/message-text.ts";

const kindsOf = (text: string): string[] =>
  parseMessageText(text, "noise").oddities.map((oddity) => oddity.kind);
const nested = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);

describe("parseMessageText", () => {
  for (const text of [
    '{"jsonrpc":"2.0","id":1,"method":"a"}',
    '{"jsonrpc":"2.0","method":"a","params":{"__proto__":{"x":1}}}',
    '{"jsonrpc":"2.0","id":"x","result":{}}',
    '{"jsonrpc":"2.0","error":{"code":-1,"message":"m"}}',
    '{"id":1,"result":{}}',
    '{"jsonrpc":"2.0","id":1}',
  ]) {
    it(`takes ${text} as it is`, () => {
      const parsed = parseMessageText(text, "noise");
      expect(parsed.oddities).toEqual([]);
      expect(JSON.stringify(parsed.messages)).toBe(`[${text}]`);
    });
  }

  for (const text of [
    "",
    "Welcome",
    "42",
    '"text"',
    "null",
    "true",
    "{}",
    "[]",
    "[1,2]",
    '{"jsonrpc":"2.0"}',
    '{"jsonrpc":"2.0","id":null}',
    '{"jsonrpc":"2.0","method":1}',
    '{"level":"info","msg":"ready"}',
    '{"jsonrpc":"2.0","id":',
    "{not json}",
    '{"__proto__":{"method":"a"}}',
  ]) {
    it(`takes \`${text}\` for noise`, () => {
      const parsed = parseMessageText(text, "noise");
      expect(parsed.messages).toEqual([]);
      expect(kindsOf(text)).toEqual(["noise"]);
    });
  }

  it("gives the messages of a batch in order", () => {
    const parsed = parseMessageText('[{"method":"a"},7,{"method":"b"}]', "noise");
    expect(parsed.messages).toEqual([{ method: "a" }, { method: "b" }]);
    expect(parsed.oddities).toEqual([
      { kind: "jsonrpc.batch", sample: "batch of 3, of which 1 are no messages" },
    ]);
  });

  it("keeps samples short and safe", () => {
    const [oddity] = parseMessageText(`\u001b]0;${"x".repeat(10_000)}\u0007`, "noise").oddities;
    expect(oddity?.sample.length).toBeLessThanOrEqual(200);
    // oxlint-disable-next-line no-control-regex
    expect(oddity?.sample).not.toMatch(/[\u0000-\u001f]/);
  });

  it("takes the last allowed level of an answer, and `null` for what goes deeper", () => {
    const answer = (levels: number): string =>
      `{"jsonrpc":"2.0","id":"a\\"b","result":{"v":${nested(levels)}}}`;
    expect(parseMessageText(answer(MAX_DEPTH - 2), "noise").messages).toHaveLength(1);
    for (const levels of [MAX_DEPTH - 1, 200_000]) {
      const beyond = parseMessageText(answer(levels), "noise");
      expect(JSON.stringify(beyond.messages)).toBe(`[${answer(MAX_DEPTH - 2).replace("[]", "[null]")}]`);
      expect(beyond.excess).toBeUndefined();
      expect(beyond.oddities.map((oddity) => oddity.kind)).toEqual(["jsonrpc.depth"]);
    }
  });

  it("cuts only what goes too deep, whatever stands around it", () => {
    const rest = { text: ']}"[{\\', list: [1, { a: [] }] };
    const deep = `{"x":${nested(MAX_DEPTH)},"y":[2]}`;
    const text = `{"id":1,"result":{"before":${JSON.stringify(rest)},"deep":[${deep},${deep}],"after":${JSON.stringify(rest)}}}`;
    const [message] = parseMessageText(text, "noise").messages;
    expect(message).toMatchObject({
      id: 1,
      result: { before: rest, deep: [{ y: [2] }, { y: [2] }], after: rest },
    });
  });

  it("counts what goes too deep: no number of containers hides in it", () => {
    const deep = "[".repeat(MAX_DEPTH + 10) + "[],".repeat(MAX_CONTAINERS) + "0" + "]".repeat(MAX_DEPTH + 10);
    expect(parseMessageText(`{"id":7,"result":${deep}}`, "noise").excess).toEqual({
      bound: "containers",
      answers: 7,
    });
  });

  it("refuses more containers than memory should hold", () => {
    const parsed = parseMessageText(`{"id":7,"result":{"v":[${"[],".repeat(MAX_CONTAINERS)}0]}}`, "noise");
    expect(parsed.excess).toEqual({ bound: "containers", answers: 7 });
  });

  it("answers nothing with a request, a nested id or an id that is none", () => {
    const deep = nested(MAX_DEPTH + 1);
    expect(parseMessageText(`{"id":1,"method":"a","params":{"v":${deep}}}`, "noise").excess).toEqual({
      bound: "depth",
    });
    expect(parseMessageText(`{"result":{"id":1,"v":${deep}}}`, "noise").excess).toEqual({ bound: "depth" });
    expect(parseMessageText(`{"id":null,"result":${deep}}`, "noise").excess).toEqual({ bound: "depth" });
    expect(parseMessageText(`[{"id":1,"result":${deep}}]`, "noise").excess).toEqual({ bound: "depth" });
  });

  it("is not misled by brackets, quotes and backslashes in strings", () => {
    const text = JSON.stringify({ jsonrpc: "2.0", id: 1, result: { v: `${'["\\{'.repeat(1_000)}\\` } });
    expect(parseMessageText(text, "noise").messages).toHaveLength(1);
  });

  it("gives every message back that it was given the text of", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 12 }), fc.string(), (value, method) => {
        const message = JSON.parse(
          JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { value } }),
        ) as JsonRpcMessage;
        expect(parseMessageText(toMessageText(message), "noise")).toEqual({
          messages: [message],
          oddities: [],
        });
      }),
    );
  });

  it("never throws, and takes linear time whatever the text is", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 2_000 }), (text) => {
        parseMessageText(text, "noise");
        parseMessageText(`{"id":1,"result":"${text}`, "noise");
      }),
    );
    const timeOf = (text: string): number => {
      const startedAt = performance.now();
      parseMessageText(text, "noise");
      return performance.now() - startedAt;
    };
    for (const unit of ['{"', "\\", '\\"', '"\\\\', '{"id":', "[{", '"id":"']) {
      timeOf(`{${unit.repeat(20_000)}`);
      const small = Math.max(timeOf(`{${unit.repeat(100_000)}`), 1);
      expect(timeOf(`{${unit.repeat(1_000_000)}`) / small, unit).toBeLessThan(60);
    }
  });
});

describe("toMessageText", () => {
  it("refuses what has no JSON text", () => {
    const circular: Record<string, never> = {};
    Object.assign(circular, { circular });
    expect(() => toMessageText({ jsonrpc: "2.0", method: "a", params: circular })).toThrow(
      expect.objectContaining({ code: "invalid_arguments" }),
    );
  });
});

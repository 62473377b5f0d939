import { describe, expect, it } from "vitest";
import { classifyMessage } from "../../../src/wire/jsonrpc.ts";

const v = { jsonrpc: "2.0" };

const rows: readonly (readonly [name: string, value: unknown, expected: object])[] = [
  ["a request", { ...v, id: 1, method: "ping" }, { kind: "request" }],
  ["a request with a string id", { ...v, id: "1", method: "ping", params: {} }, { kind: "request" }],
  ["a notification", { ...v, method: "notifications/x" }, { kind: "notification" }],
  ["a result keeps the type of its id [SUB-07]", { ...v, id: "1", result: {} }, { kind: "success", id: "1" }],
  ["a null result is an empty one", { ...v, id: 1, result: null }, { kind: "success", id: 1, result: {} }],
  [
    "an error",
    { ...v, id: 1, error: { code: -32601, message: "no" } },
    { kind: "failure", id: 1, error: { code: -32601, message: "no" } },
  ],
  ["an error without an id [BASE-11]", { ...v, error: { code: -32700, message: "no" } }, { kind: "failure" }],
  ["an error with id null", { ...v, id: null, error: { code: -32700, message: "no" } }, { kind: "failure" }],
  [
    "an error without a message",
    { ...v, id: 1, error: { code: 5 } },
    { kind: "failure", error: { code: 5, message: "" } },
  ],
  ["a request with id null [BASE-03]", { ...v, id: null, method: "x" }, { kind: "odd", flaw: "bad-id" }],
  ["an id that is an object", { ...v, id: {}, result: {} }, { kind: "odd", flaw: "bad-id" }],
  ["a result without an id", { ...v, result: {} }, { kind: "odd", flaw: "bad-id" }],
  [
    "result and error together",
    { ...v, id: 1, result: {}, error: { code: 1, message: "" } },
    { kind: "odd", flaw: "both-members", id: 1 },
  ],
  [
    "method and result together",
    { ...v, id: 1, method: "x", result: {} },
    { kind: "odd", flaw: "both-members", id: 1 },
  ],
  ["neither result nor error", { ...v, id: 1 }, { kind: "odd", flaw: "neither-member", id: 1 }],
  ["a result that is no object", { ...v, id: 1, result: [1] }, { kind: "odd", flaw: "bad-result", id: 1 }],
  ["an error that is text", { ...v, id: 1, error: "no" }, { kind: "odd", flaw: "bad-error", id: 1 }],
  [
    "params that are a list",
    { ...v, id: 1, method: "x", params: [] },
    { kind: "odd", flaw: "bad-params", id: 1 },
  ],
  ["a method that is a number", { ...v, id: 1, method: 3 }, { kind: "odd", flaw: "bad-method", id: 1 }],
  ["no version", { id: 1, result: {} }, { kind: "odd", flaw: "no-version", id: 1 }],
  ["an old version", { jsonrpc: "1.0", id: 1, result: {} }, { kind: "odd", flaw: "no-version", id: 1 }],
  ["a scalar", 3, { kind: "odd", flaw: "not-an-object" }],
  ["null", null, { kind: "odd", flaw: "not-an-object" }],
  ["an empty batch", [], { kind: "odd", flaw: "empty-batch" }],
  [
    "a batch",
    [{ ...v, id: 1, result: {} }, 3, [1]],
    {
      kind: "batch",
      items: [
        { kind: "success" },
        { kind: "odd", flaw: "not-an-object" },
        { kind: "odd", flaw: "nested-batch" },
      ],
    },
  ],
  ["a batch without end", Array.from({ length: 1_001 }, () => 0), { kind: "odd", flaw: "long-batch" }],
  [
    "members of the prototype do not count",
    Object.create({ ...v, id: 1, result: {} }),
    { kind: "odd", flaw: "no-version" },
  ],
];

describe("classifyMessage", () => {
  for (const [name, value, expected] of rows) {
    it(name, () => {
      expect(classifyMessage(value)).toMatchObject(expected);
    });
  }
});

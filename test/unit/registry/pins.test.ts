import { describe, expect, it } from "vitest";
import { acceptPin, evaluatePin, pinOf, recordFirstSight, rejectPin } from "../../../src/registry/pins.ts";

const definition = {
  name: "add",
  title: "Add",
  description: "Adds two numbers",
  inputSchema: {
    type: "object",
    properties: { a: { type: "number" }, b: { type: "number" } },
    required: ["a", "b"],
  },
  outputSchema: { type: "object", properties: { sum: { type: "number" } } },
  annotations: { readOnlyHint: false },
  icons: [{ src: "https://x.example/i.png" }],
};

describe("pin of a definition", () => {
  it.each<[string, object]>([
    ["the name", { name: "add_v2" }],
    ["the title", { title: "Add!" }],
    ["the description, by one letter", { description: "Adds two numbers." }],
    [
      "an optional parameter more",
      {
        inputSchema: {
          ...definition.inputSchema,
          properties: { ...definition.inputSchema.properties, context: { type: "string" } },
        },
      },
    ],
    ["the order of what is required", { inputSchema: { ...definition.inputSchema, required: ["b", "a"] } }],
    ["the output schema", { outputSchema: { type: "object" } }],
    ["a hint", { annotations: { readOnlyHint: true } }],
    ["an icon", { icons: [{ src: "https://y.example/i.png" }] }],
  ])("changes with %s", (_what, change) => {
    expect(pinOf({ ...definition, ...change })).not.toBe(pinOf(definition));
  });

  it("does not change with the order of members, nor with what nobody reads", () => {
    const { name, inputSchema, ...rest } = definition;
    const reordered = {
      ...rest,
      _meta: { "x.example/at": 5 },
      execution: { taskSupport: "optional" },
      inputSchema: {
        required: ["a", "b"],
        properties: { b: { type: "number" }, a: { type: "number" } },
        type: inputSchema.type,
      },
      name,
    };
    expect(pinOf(reordered)).toBe(pinOf(definition));
  });
});

describe("state of a pin", () => {
  const first = recordFirstSight("p1", 5, true);
  it.each([
    ["never seen", undefined, "p1", { state: "new", isBaseline: false }],
    ["as first seen", first, "p1", { state: "new", isBaseline: true }],
    ["not as first seen", first, "p2", { state: "changed", isBaseline: true }],
    ["accepted", acceptPin(first, "p2", 6), "p2", { state: "accepted", isBaseline: true }],
    [
      "first seen, after another was accepted",
      acceptPin(first, "p2", 6),
      "p1",
      { state: "changed", isBaseline: true },
    ],
    [
      "one of two accepted",
      acceptPin(acceptPin(first, "p1", 6), "p2", 7),
      "p1",
      { state: "accepted", isBaseline: true },
    ],
    [
      "accepted though it came late",
      acceptPin(recordFirstSight("p1", 9, false), "p1", 10),
      "p1",
      { state: "accepted", isBaseline: true },
    ],
    [
      "rejected",
      rejectPin(acceptPin(acceptPin(first, "p1", 6), "p2", 7), "p2"),
      "p2",
      { state: "changed", isBaseline: true },
    ],
  ] as const)("%s", (_what, record, pin, status) => {
    expect(evaluatePin(record, pin)).toEqual(status);
  });

  it("keeps the eight acceptances that are newest", () => {
    let record = first;
    for (let at = 0; at < 12; at += 1) record = acceptPin(record, `p${at}`, at);
    expect(record.accepted).toEqual(["p4", "p5", "p6", "p7", "p8", "p9", "p10", "p11"]);
  });
});

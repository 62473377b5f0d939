import { describe, expect, it } from "vitest";
import { classifyInput, inputRequiredResult, nextLegParams, readLeg } from "../../../src/wire/mrtr.ts";

const form = {
  method: "elicitation/create",
  params: { message: "who?", requestedSchema: { type: "object" } },
};
const url = {
  method: "elicitation/create",
  params: { mode: "url", message: "log in", url: "https://example.com" },
};
const sample = { method: "sampling/createMessage", params: { messages: [], maxTokens: 1 } };

describe("classifyInput", () => {
  const rows: readonly (readonly [name: string, request: object, declared: object, expected: object])[] = [
    ["a form without a mode [ELI-07]", form, { elicitation: { form: {} } }, { kind: "elicit-form" }],
    ["an empty capability means form [ELI-06]", form, { elicitation: {} }, { kind: "elicit-form" }],
    ["an empty capability does not mean URL", url, { elicitation: {} }, { kind: "refused", code: -32602 }],
    [
      "a form where only URL was declared [ELI-25]",
      form,
      { elicitation: { url: {} } },
      { kind: "refused", code: -32602 },
    ],
    ["a URL", url, { elicitation: { url: {} } }, { kind: "elicit-url" }],
    [
      "an unknown mode",
      { method: "elicitation/create", params: { mode: "voice", message: "" } },
      { elicitation: {} },
      { kind: "refused", code: -32602 },
    ],
    ["nothing declared [MRTR-10]", form, {}, { kind: "refused", code: -32601 }],
    [
      "a form without a schema",
      { method: "elicitation/create", params: { message: "" } },
      { elicitation: {} },
      { kind: "refused", code: -32602 },
    ],
    ["sampling", sample, { sampling: {} }, { kind: "sample" }],
    ["sampling undeclared", sample, {}, { kind: "refused", code: -32601 }],
    [
      "sampling with tools undeclared [DEP-04]",
      { ...sample, params: { ...sample.params, tools: [] } },
      { sampling: {} },
      { kind: "refused", code: -32602 },
    ],
    [
      "sampling with tools declared",
      { ...sample, params: { ...sample.params, tools: [] } },
      { sampling: { tools: {} } },
      { kind: "sample" },
    ],
    [
      "sampling without messages",
      { method: "sampling/createMessage" },
      { sampling: {} },
      { kind: "refused", code: -32602 },
    ],
    ["roots", { method: "roots/list" }, { roots: {} }, { kind: "list-roots" }],
    ["roots undeclared", { method: "roots/list" }, {}, { kind: "refused", code: -32601 }],
    [
      "anything else",
      { method: "tools/call" },
      { roots: {}, sampling: {}, elicitation: {} },
      { kind: "refused", code: -32601 },
    ],
  ];
  for (const [name, request, declared, expected] of rows) {
    it(name, () => {
      expect(classifyInput(request as never, declared)).toMatchObject(expected);
    });
  }
});

describe("legs", () => {
  it("repeat the params with this round's answers and state alone [MRTR-08] [MRTR-14]", () => {
    const first = { name: "t", arguments: { a: 1 }, inputResponses: { old: {} }, requestState: "old" };
    expect(nextLegParams(first, { inputResponses: { k: { action: "decline" } }, requestState: "s" })).toEqual(
      {
        name: "t",
        arguments: { a: 1 },
        inputResponses: { k: { action: "decline" } },
        requestState: "s",
      },
    );
  });

  it("carry no state where none was given [MRTR-04]", () => {
    expect(nextLegParams({ name: "t" }, { inputResponses: { k: {} } })).toEqual({
      name: "t",
      inputResponses: { k: {} },
    });
    expect(nextLegParams({ name: "t" }, { inputResponses: {} })).toEqual({ name: "t" });
    expect(nextLegParams({ name: "t", inputResponses: { old: {} }, requestState: "old" }, {})).toEqual({
      name: "t",
    });
  });

  it("keep an empty state", () => {
    expect(nextLegParams({ name: "t" }, { requestState: "" })).toEqual({ name: "t", requestState: "" });
  });

  it("are read back by a server as they were sent", () => {
    const params = nextLegParams(
      { name: "t" },
      { inputResponses: { __proto__x: { action: "accept" } }, requestState: '"\\é' },
    );
    expect(readLeg(params)).toEqual({
      inputResponses: { __proto__x: { action: "accept" } },
      requestState: '"\\é',
    });
    expect(readLeg({ requestState: 3 })).toBeUndefined();
    expect(readLeg({ inputResponses: [] })).toBeUndefined();
    expect(readLeg({ inputResponses: { k: "text" } })).toBeUndefined();
  });

  it("are asked for by a server", () => {
    expect(inputRequiredResult({ inputRequests: { k: form }, requestState: "s" })).toEqual({
      resultType: "input_required",
      inputRequests: { k: form },
      requestState: "s",
    });
  });
});

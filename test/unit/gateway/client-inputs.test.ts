import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/base/json.ts";
import { canBeAsked, toCallerInputs } from "../../../src/gateway/client-inputs.ts";
import { readForm } from "../../../src/inputs/form.ts";
import type { FormQuestion, UrlQuestion } from "../../../src/inputs/question.ts";
import type { InputRequest } from "../../../src/protocol/input-requests.ts";
import type { ClientCapabilities } from "../../../src/protocol/types.ts";

const { signal } = new AbortController();
const source = {
  server: "paint",
  tool: "paint__mix",
  callId: "c1",
  principal: "local",
  number: 2,
  max: 10,
  message: "Which?",
  warnings: ["be sure"],
  findings: [],
} as const;

/** A client that gives one answer to whatever it is asked. */
function client(
  answer: JsonObject,
  capabilities: ClientCapabilities = { elicitation: {}, sampling: {}, roots: {} },
) {
  const asked: InputRequest[] = [];
  const inputs = toCallerInputs(
    {
      capabilities,
      async ask(request) {
        asked.push(request);
        return answer;
      },
    },
    ({ findings }) => findings.length > 0,
  );
  return { asked, inputs };
}

const schema: JsonObject = {
  type: "object",
  properties: {
    mail: {
      type: "string",
      format: "email",
      minLength: 3,
      maxLength: 9,
      description: "yours",
      default: "a@b",
    },
    count: { type: "integer", minimum: 1, maximum: 5 },
    share: { type: "number" },
    sure: { type: "boolean", default: true },
    one: { type: "string", enum: ["a", "b"], enumNames: ["A", "B"] },
    some: { type: "array", minItems: 1, maxItems: 2, items: { type: "string", enum: ["x", "y"] } },
  },
  required: ["mail"],
};
const { fields } = readForm(schema);
const form: FormQuestion = { ...source, kind: "form", fields, problems: [] };
const url: UrlQuestion = {
  ...source,
  kind: "url",
  url: "https://a.example/",
  host: "a.example",
  unicodeHost: null,
};

describe("which clients can be asked", () => {
  it.each<[ClientCapabilities, boolean, { form: boolean; url: boolean }]>([
    [{}, false, { form: false, url: false }],
    [{ extensions: {} }, false, { form: false, url: false }],
    [{ sampling: {} }, true, { form: false, url: false }],
    [{ elicitation: {} }, true, { form: true, url: false }],
    [{ elicitation: { form: {} } }, true, { form: true, url: false }],
    [{ elicitation: { url: {} } }, true, { form: false, url: true }],
    [{ elicitation: { form: {}, url: {} } }, true, { form: true, url: true }],
  ])("%j", (capabilities, isAskable, elicitation) => {
    const { inputs } = client({}, capabilities);
    expect(canBeAsked(capabilities)).toBe(isAskable);
    expect(inputs.elicitation).toEqual(elicitation);
    expect(inputs.sampling !== undefined).toBe(capabilities.sampling !== undefined);
    expect(inputs.roots !== undefined).toBe(capabilities.roots !== undefined);
  });
});

describe("forms", () => {
  it("go out as we read them, and mean the same", async () => {
    const { asked, inputs } = client({ action: "decline" });
    await inputs.ask(form, signal);
    const { message, requestedSchema } = asked[0]?.params ?? {};
    expect(message).toBe("Server `paint` asks, for `paint__mix`: Which?\nCareful: be sure.");
    expect(readForm(requestedSchema as JsonObject).fields).toEqual(fields);
  });

  it("say what was wrong with the last answer", async () => {
    const { asked, inputs } = client({ action: "cancel" });
    await inputs.ask({ ...form, problems: [{ field: "mail", message: "is too short" }] }, signal);
    expect(asked[0]?.params?.["message"]).toContain("\nNot accepted: mail is too short");
  });

  it.each<[JsonObject, object]>([
    [
      { action: "accept", content: { mail: "a@b" } },
      { action: "accept", by: "client", content: { mail: "a@b" } },
    ],
    [
      { action: "accept", content: "yes" },
      { action: "accept", by: "client" },
    ],
    [
      { action: "decline", content: {} },
      { action: "decline", by: "client" },
    ],
    [{ action: "cancel" }, { action: "cancel", by: "client" }],
  ])("are answered by %j", async (answer, read) => {
    expect(await client(answer).inputs.ask(form, signal)).toEqual(read);
  });

  it.each<[JsonObject]>([[{}], [{ action: "maybe" }], [{ action: true }]])(
    "are not by %j",
    async (answer) => {
      await expect(client(answer).inputs.ask(form, signal)).rejects.toMatchObject({ code: "input_refused" });
    },
  );

  it("that hold an order are shown to nobody", async () => {
    const { asked, inputs } = client({ action: "accept" });
    const finding = { rule: "inject", severity: "high", where: "elicitation", message: "m" } as const;
    expect(await inputs.ask({ ...form, findings: [finding] }, signal)).toEqual({ action: "cancel" });
    expect(await inputs.ask({ ...url, findings: [finding] }, signal)).toEqual({ action: "cancel" });
    expect(asked).toEqual([]);
  });
});

it("an address goes out with a name of its own", async () => {
  const { asked, inputs } = client({ action: "accept" });
  expect(await inputs.ask(url, signal)).toEqual({ action: "accept", by: "client" });
  expect(asked[0]?.params).toMatchObject({ mode: "url", url: "https://a.example/", elicitationId: "c1-2" });
});

describe("models", () => {
  const request = {
    server: "paint",
    messages: [
      { role: "user", content: { type: "text", text: "a\u200bb", _meta: { x: 1 } } },
      {
        role: "user",
        content: [
          { type: "text", text: "c" },
          { type: "image", data: "QQ==", mimeType: "image/png" },
        ],
      },
      { role: "assistant", content: { type: "tool_use", id: "1", name: "t", input: {} } },
    ],
    systemPrompt: "be \u202ekind",
    maxTokens: 7,
    model: "client",
    temperature: 0.5,
    stopSequences: ["."],
  };

  it("are asked without what is hidden, and without tools", async () => {
    const { asked, inputs } = client({ role: "assistant", content: { type: "text", text: "t" }, model: "m" });
    const sampled = await inputs.sampling?.sample(request, signal);
    expect(sampled).toEqual({ text: "t", model: "m" });
    expect(asked[0]).toEqual({
      method: "sampling/createMessage",
      params: {
        messages: [
          { role: "user", content: { type: "text", text: "ab" } },
          {
            role: "user",
            content: [
              { type: "text", text: "c" },
              { type: "image", data: "QQ==", mimeType: "image/png" },
            ],
          },
        ],
        maxTokens: 7,
        systemPrompt: "be kind",
        temperature: 0.5,
        stopSequences: ["."],
      },
    });
  });

  it.each<[JsonObject]>([[{}], [{ content: { type: "image" } }], [{ content: [] }]])(
    "%j is no answer",
    async (answer) => {
      await expect(client(answer).inputs.sampling?.sample(request, signal)).rejects.toMatchObject({
        code: "input_refused",
      });
    },
  );
});

it("folders are taken by their file addresses alone", async () => {
  const roots = [{ uri: "file:///a", name: "A" }, { uri: "file:///b", name: 5 }, { uri: "https://x" }, "no"];
  const { inputs } = client({ roots } as unknown as JsonObject);
  expect(await inputs.roots?.("paint", signal)).toEqual([
    { path: "file:///a", name: "A" },
    { path: "file:///b" },
  ]);
  await expect(client({}).inputs.roots?.("paint", signal)).rejects.toMatchObject({ code: "input_refused" });
});

/** Multi-round requests of the modern era. */
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/base/json.ts";
import type { InputHandler } from "../../../src/client/input-handler.ts";
import { connectModern, errorOf, settle } from "../../support/client-setup.ts";
import type { Respond } from "../../support/scripted-transport.ts";

const DONE = { resultType: "complete", content: [{ type: "text", text: "done" }] };
const form = (message = "who?"): JsonObject => ({
  method: "elicitation/create",
  params: { message, requestedSchema: { type: "object" } },
});
const accept: InputHandler = { elicitForm: async () => ({ action: "accept", content: { name: "Ada" } }) };

/** Asks once with `ask`, then is done. */
const askOnce =
  (ask: JsonObject): Respond =>
  (request, far) => {
    const isRetry =
      request.params?.["inputResponses"] !== undefined || request.params?.["requestState"] !== undefined;
    far.answer(request.id, isRetry ? DONE : { resultType: "input_required", ...ask });
  };

interface Sent {
  readonly id: number;
  readonly params: JsonObject;
}

function sentAt(sent: readonly { message: object }[], at: number): Sent {
  const message = sent[at]?.message;
  if (message === undefined) throw new Error(`nothing was sent as number ${at}`);
  return message as Sent;
}

const paramsOf = (sent: readonly { message: object }[], at: number): JsonObject => sentAt(sent, at).params;

describe("a multi-round request", () => {
  it("answers under the same keys, echoes the state, repeats the params under a new id [MRTR-01] [MRTR-02] [MRTR-05] [MRTR-07] [MRTR-08]", async () => {
    const state = `"\\\u0000é\u2028${"s".repeat(64 * 1024)}`;
    const { client, transport } = await connectModern(
      askOnce({ inputRequests: { k1: form(), k2: { method: "roots/list" } }, requestState: state }),
      {
        inputs: { ...accept, listRoots: async () => ({ roots: [{ uri: "file:///a" }] }) },
      },
    );
    expect(await client.callTool("t", { a: 1 })).toEqual(expect.objectContaining({ content: DONE.content }));
    const calls = transport.sentOf("tools/call");
    expect(sentAt(calls, 0).id).not.toBe(sentAt(calls, 1).id);
    expect(paramsOf(calls, 0)).not.toHaveProperty("requestState");
    const { _meta, ...retry } = paramsOf(calls, 1);
    expect(retry).toEqual({
      name: "t",
      arguments: { a: 1 },
      inputResponses: {
        k1: { action: "accept", content: { name: "Ada" } },
        k2: { roots: [{ uri: "file:///a" }] },
      },
      requestState: state,
    });
    expect(_meta).toMatchObject({
      "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} }, roots: {} },
    });
    await client.close();
  });

  it("sends no state where none was given, and none of a round before [MRTR-04] [MRTR-14]", async () => {
    let round = 0;
    const { client, transport } = await connectModern(
      (request, far) => {
        round += 1;
        if (round === 1)
          far.answer(request.id, {
            resultType: "input_required",
            inputRequests: { a: form() },
            requestState: "one",
          });
        else if (round === 2)
          far.answer(request.id, { resultType: "input_required", inputRequests: { b: form() } });
        else far.answer(request.id, DONE);
      },
      { inputs: accept },
    );
    await client.callTool("t", {});
    const calls = transport.sentOf("tools/call");
    expect(paramsOf(calls, 1)).toMatchObject({ requestState: "one", inputResponses: { a: {} } });
    expect(paramsOf(calls, 2)).not.toHaveProperty("requestState");
    expect(Object.keys(paramsOf(calls, 2)["inputResponses"] as object)).toEqual(["b"]);
    await client.close();
  });

  it("requestState used for another request: never, also when requests run at once [MRTR-06]", async () => {
    const { client, transport } = await connectModern(
      (request, far) => {
        const name = request.params?.["name"] as string;
        const state = request.params?.["requestState"];
        if (state === undefined)
          far.answer(request.id, {
            resultType: "input_required",
            requestState: `state of ${name}`,
            inputRequests: { [name]: form(name) },
          });
        else
          far.answer(request.id, {
            resultType: "complete",
            content: [],
            saw: [name, state, Object.keys(request.params?.["inputResponses"] as object)] as never,
          });
      },
      {
        inputs: {
          elicitForm: async ({ message }) => (
            await settle(),
            { action: "accept", content: { for: message } }
          ),
        },
      },
    );
    const results = await Promise.all(["a", "b", "c"].map((name) => client.callTool(name, {})));
    expect(results.map((result) => (result as unknown as { saw: unknown }).saw)).toEqual(
      ["a", "b", "c"].map((name) => [name, `state of ${name}`, [name]]),
    );
    // A request after that starts with nothing.
    await client.callTool("d", {});
    const fourth = transport.sentOf("tools/call").slice(-2);
    expect(paramsOf(fourth, 0)["name"]).toBe("d");
    expect(Object.keys(paramsOf(fourth, 0))).toEqual(["name", "arguments", "_meta"]);
    await client.close();
  });

  it("works for prompts and resources, and nowhere else [MRTR-09]", async () => {
    const { client, transport } = await connectModern(
      askOnce({ inputRequests: { k: form() }, requestState: "s" }),
      { inputs: accept },
    );
    for (const [method, params] of Object.entries({
      "prompts/get": { name: "p" },
      "resources/read": { uri: "x:/" },
    })) {
      expect(await client.request(method, params)).toMatchObject({ content: DONE.content });
      expect(transport.sentOf(method)).toHaveLength(2);
    }
    expect((await errorOf(client.request("prompts/list", {}))).code).toBe("protocol_error");
    expect(transport.sentOf("prompts/list")).toHaveLength(1);
    await client.close();
  });

  it("waits a little longer each time where only a state comes [MRTR-12]", async () => {
    const { client, clock, transport } = await connectModern(
      (request, far) => far.answer(request.id, { resultType: "input_required", requestState: "s" }),
      { limits: { maxRounds: 3 } },
    );
    const failed = errorOf(client.callTool("t", {}));
    await settle();
    expect(transport.sentOf("tools/call")).toHaveLength(1);
    await clock.advance(130);
    expect(transport.sentOf("tools/call")).toHaveLength(2);
    await clock.advance(130);
    expect(transport.sentOf("tools/call")).toHaveLength(2);
    await clock.advance(5_000);
    expect((await failed).message).toContain("more than 3 times");
    expect(transport.sentOf("tools/call")).toHaveLength(4);
    await client.close();
  });

  it("ends after ten rounds", async () => {
    const { client, transport } = await connectModern(
      (request, far) =>
        far.answer(request.id, { resultType: "input_required", inputRequests: { k: form() } }),
      { inputs: accept },
    );
    expect((await errorOf(client.callTool("forever", {}))).code).toBe("protocol_error");
    expect(transport.sentOf("tools/call")).toHaveLength(11);
    await client.close();
  });

  it("sends a decline as the answer that it is", async () => {
    const { client, transport } = await connectModern(askOnce({ inputRequests: { k: form() } }), {
      inputs: { elicitForm: async () => ({ action: "decline", content: { leak: 1 } }) },
    });
    await client.callTool("t", {});
    expect(paramsOf(transport.sentOf("tools/call"), 1)["inputResponses"]).toEqual({
      k: { action: "decline" },
    });
    await client.close();
  });

  it("never sends content with a URL's accept [ELI-21]", async () => {
    const { client, transport } = await connectModern(
      askOnce({
        inputRequests: {
          k: { method: "elicitation/create", params: { mode: "url", message: "m", url: "https://x" } },
        },
      }),
      {
        inputs: { elicitUrl: async () => ({ action: "accept", content: { leak: 1 } }) },
      },
    );
    await client.callTool("t", {});
    expect(paramsOf(transport.sentOf("tools/call"), 1)["inputResponses"]).toEqual({
      k: { action: "accept" },
    });
    await client.close();
  });

  const refusals: readonly (readonly [name: string, ask: JsonObject, inputs: InputHandler | undefined])[] = [
    ["something undeclared [MRTR-10]", { inputRequests: { k: { method: "roots/list" } } }, accept],
    [
      "a mode that was not declared",
      {
        inputRequests: {
          k: { method: "elicitation/create", params: { mode: "url", message: "m", url: "https://x" } },
        },
      },
      accept,
    ],
    ["anything, with no handler", { inputRequests: { k: form() } }, undefined],
    [
      "too much at once",
      { inputRequests: Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`k${index}`, form()])) },
      accept,
    ],
    [
      "what the handler will not answer",
      { inputRequests: { k: form() } },
      { elicitForm: () => Promise.reject(new Error("no")) },
    ],
  ];
  for (const [name, ask, inputs] of refusals) {
    it(`fails as input_refused, without another leg, where the server asks for ${name}`, async () => {
      const { client, transport } = await connectModern(askOnce(ask), inputs === undefined ? {} : { inputs });
      const error = await errorOf(client.callTool("t", {}));
      expect(error.code).toBe("input_refused");
      expect(error.data).toMatchObject({ wasSent: true, provesNoEffect: false });
      expect(transport.sentOf("tools/call")).toHaveLength(1);
      await client.close();
    });
  }

  it("asks the handler of its own request, with what that one handles declared", async () => {
    const seen: unknown[] = [];
    const { client, transport } = await connectModern(askOnce({ inputRequests: { k: form() } }), {
      inputs: { listRoots: async () => ({ roots: [] }) },
    });
    await client.callTool(
      "t",
      {},
      {
        inputs: {
          elicitForm: async (params, context) => {
            seen.push(params.message, context.method, context.round, context.era);
            return { action: "cancel" };
          },
        },
      },
    );
    expect(seen).toEqual(["who?", "tools/call", 1, "modern"]);
    expect(paramsOf(transport.sentOf("tools/call"), 0)["_meta"]).toMatchObject({
      "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } },
    });
    await client.close();
  });

  it("does not count a person's time, but bounds it", async () => {
    let answer: () => void = () => undefined;
    const slow: InputHandler = {
      elicitForm: () => new Promise((resolve) => (answer = () => resolve({ action: "accept" }))),
    };
    const { client, clock } = await connectModern(askOnce({ inputRequests: { k: form() } }), {
      inputs: slow,
    });
    const done = client.callTool("t", {}, { idleTimeoutMs: 1_000, totalTimeoutMs: 2_000 });
    await clock.advance(500_000);
    answer();
    await done;

    const failed = errorOf(client.callTool("t", {}));
    await clock.advance(600_000);
    expect(await failed).toMatchObject({ code: "timed_out", data: { limit: "input" } });
    await client.close();
  });

  it("bounds what persons take over all rounds of a request together", async () => {
    let answer: () => void = () => undefined;
    const { client, clock } = await connectModern(
      (request, far) =>
        far.answer(request.id, { resultType: "input_required", inputRequests: { k: form() } }),
      {
        inputs: {
          elicitForm: () => new Promise((resolve) => (answer = () => resolve({ action: "accept" }))),
        },
      },
    );
    const failed = errorOf(client.callTool("t", {}, { totalTimeoutMs: 1_000 }));
    await clock.advance(400_000);
    answer();
    await clock.advance(199_000);
    await clock.advance(1_000);
    expect(await failed).toMatchObject({ code: "timed_out", data: { limit: "input" } });
    await client.close();
  });

  it("ends with its caller while a person thinks, and tells the handler", async () => {
    let seen: AbortSignal | undefined;
    const { client, transport } = await connectModern(askOnce({ inputRequests: { k: form() } }), {
      inputs: { elicitForm: (_params, context) => new Promise(() => (seen = context.signal)) },
    });
    const controller = new AbortController();
    const failed = errorOf(client.callTool("t", {}, { signal: controller.signal }));
    await settle();
    controller.abort(new Error("no"));
    expect(await failed).toMatchObject({ code: "cancelled", data: { wasSent: true } });
    expect(seen?.aborted).toBe(true);
    expect(transport.sentOf("tools/call")).toHaveLength(1);
    await client.close();
  });
});

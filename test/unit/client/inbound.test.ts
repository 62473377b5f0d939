/** What comes in: progress, and answers that belong nowhere. */
import type { JsonObject } from "../../../src/base/json.ts";
import { describe, expect, it } from "vitest";
import type { Progress } from "../../../src/protocol/types.ts";
import { connectModern, errorOf, lastId, settle } from "../../support/client-setup.ts";

const TEXT = { resultType: "complete", content: [{ type: "text", text: "hi" }] };

describe("progress", () => {
  const progress = (progressToken: unknown, value: unknown, more: object = {}): object => ({
    jsonrpc: "2.0",
    method: "notifications/progress",
    params: { progressToken, progress: value, ...more },
  });

  it("comes in order, only growing, only for its request [PRG-01] [PRG-02] [PRG-05]", async () => {
    const seen: Progress[] = [];
    const { client, transport } = await connectModern();
    const done = client.callTool("a", {}, { onProgress: (value) => seen.push(value) });
    await settle();
    const token = lastId(transport, "tools/call");
    const others = [client.callTool("b", {}), client.callTool("b", {})];
    await settle();
    const tokens = transport
      .sentOf("tools/call")
      .map(({ message }) => (message as { params: { _meta: JsonObject } }).params._meta["progressToken"]);
    expect(tokens[0]).toBe(token);
    expect(tokens.every(Number.isSafeInteger)).toBe(true);
    expect(new Set(tokens).size).toBe(3);
    for (const [of, value] of [
      [token, 1],
      [token, 3],
      [token, 2],
      [token, 3],
      [`${token}`, 9],
      [999, 9],
      [token, "x"],
      [token, Number.NaN],
    ] as const) {
      transport.arrive(progress(of, value, { total: 10, message: "m" }));
    }
    expect(seen).toEqual([
      { progress: 1, total: 10, message: "m" },
      { progress: 3, total: 10, message: "m" },
    ]);
    for (const each of tokens) transport.answer(each as number, TEXT);
    await Promise.all([done, ...others]);
    transport.arrive(progress(token, 4));
    expect(seen).toHaveLength(2);
    expect(client.oddities()).toEqual({ "progress.not-growing": 4, "progress.unknown-token": 3 });
    await client.close();
  });

  it("that floods is passed on in part only, and keeps the request alive [PRG-04]", async () => {
    const seen: Progress[] = [];
    const { client, clock, transport } = await connectModern(() => undefined, {
      limits: { progressPerSecond: 5 },
    });
    const done = client.callTool("a", {}, { onProgress: (value) => seen.push(value), idleTimeoutMs: 1_500 });
    await settle();
    const token = lastId(transport, "tools/call");
    for (let value = 1; value <= 1_000; value += 1) transport.arrive(progress(token, value));
    expect(seen).toHaveLength(5);
    await clock.advance(1_000);
    transport.arrive(progress(token, 1_001));
    expect(seen.at(-1)).toEqual({ progress: 1_001 });
    await clock.advance(1_400);
    transport.answer(token, TEXT);
    await done;
    await client.close();
  });

  it("does not reach further where its listener throws", async () => {
    const { client, transport } = await connectModern();
    const done = client.callTool(
      "a",
      {},
      {
        onProgress: () => {
          throw new Error("bad listener");
        },
      },
    );
    await settle();
    const token = lastId(transport, "tools/call");
    transport.arrive(progress(token, 1));
    transport.answer(token, TEXT);
    await done;
    expect(client.oddities()).toEqual({ "progress.listener-threw": 1 });
    await client.close();
  });
});

describe("answers that belong nowhere", () => {
  it("duplicate ids: the first answer wins, the second is counted, the next call is untouched", async () => {
    const { client } = await connectModern((request, far) => {
      far.answer(request.id, { ...TEXT, content: [{ type: "text", text: "first" }] });
      far.answer(request.id, { ...TEXT, content: [{ type: "text", text: "second" }] });
    });
    expect(await client.callTool("a", {})).toMatchObject({ content: [{ text: "first" }] });
    expect(await client.callTool("a", {})).toMatchObject({ content: [{ text: "first" }] });
    expect(client.oddities()).toEqual({ "answer.duplicate": 2 });
    await client.close();
  });

  it("unknown ids, ids of another type and answers without an id end nothing", async () => {
    const { client, transport } = await connectModern();
    const done = client.callTool("a", {});
    await settle();
    const id = lastId(transport, "tools/call");
    transport.answer("no-such-id", TEXT);
    transport.answer(987_654, TEXT);
    transport.answerError(null, -32700);
    transport.arrive({ jsonrpc: "2.0", result: {} });
    transport.answer(id, TEXT);
    expect(await done).toMatchObject({ content: TEXT.content });
    expect(client.oddities()).toEqual({ "answer.unknown-id": 2, "answer.no-id": 1, "jsonrpc.bad-id": 1 });
    await client.close();
  });

  it("an id that comes back as text fails its request soon, and is never taken for its answer", async () => {
    const { client, clock, transport } = await connectModern();
    const failed = errorOf(client.callTool("a", {}));
    await settle();
    transport.answer(String(lastId(transport, "tools/call")), TEXT);
    await clock.advance(2_000);
    expect(await failed).toMatchObject({ code: "protocol_error" });
    await client.close();
  });

  it("an error without an id is told where nothing else comes for the only request", async () => {
    const { client, clock, transport } = await connectModern();
    const failed = errorOf(client.callTool("a", {}));
    await settle();
    transport.answerError(null, -32600, "cannot read");
    await clock.advance(2_000);
    expect(await failed).toMatchObject({ code: "remote_error", data: { rpc: { code: -32600 } } });
    await client.close();
  });

  it("result and error together end the request as invalid", async () => {
    const { client, transport } = await connectModern();
    const failed = errorOf(client.callTool("a", {}));
    await settle();
    transport.arrive({
      jsonrpc: "2.0",
      id: lastId(transport, "tools/call"),
      result: TEXT,
      error: { code: 1, message: "" },
    });
    expect(await failed).toMatchObject({
      code: "protocol_error",
      data: { wasSent: true, provesNoEffect: false },
    });
    await client.close();
  });

  it("a message without content may be noise: the real answer counts where it comes", async () => {
    const { client, clock, transport } = await connectModern();
    const done = client.callTool("a", {});
    await settle();
    const id = lastId(transport, "tools/call");
    transport.arrive({ jsonrpc: "2.0", id });
    await clock.advance(200);
    transport.answer(id, TEXT);
    await done;
    const failed = errorOf(client.callTool("a", {}));
    await settle();
    transport.arrive({ jsonrpc: "2.0", id: lastId(transport, "tools/call") });
    await clock.advance(2_000);
    expect((await failed).code).toBe("protocol_error");
    await client.close();
  });

  it("a batch is taken apart", async () => {
    const { client, transport } = await connectModern();
    const both = Promise.all([client.callTool("a", {}), client.callTool("b", {})]);
    await settle();
    const [one, other] = transport.sentOf("tools/call").map(({ message }) => (message as { id: number }).id);
    transport.arrive([]);
    transport.arrive([
      { jsonrpc: "2.0", id: other, result: { ...TEXT, content: [] } },
      7,
      { jsonrpc: "2.0", id: one, result: TEXT },
    ]);
    expect(await both).toMatchObject([{ content: TEXT.content }, { content: [] }]);
    await client.close();
  });

  it("are told with moderation, however many come", async () => {
    const { client, transport, events } = await connectModern();
    for (let index = 0; index < 100_000; index += 1) transport.answer(`ghost-${index}`, TEXT);
    expect(client.oddities()).toEqual({ "answer.unknown-id": 100_000 });
    expect(events.filter((event) => event.type === "odd").length).toBeLessThan(40);
    await client.close();
  });

  it("over HTTP count only on the exchange of their request", async () => {
    const { client, transport } = await connectModern(() => undefined, { kind: "http" });
    const done = client.callTool("a", {});
    await settle();
    const id = lastId(transport, "tools/call");
    transport.answer(id, TEXT, { requestId: id + 1, httpStatus: 200 });
    transport.answer(id, { ...TEXT, content: [] }, { requestId: id, httpStatus: 200 });
    expect(await done).toMatchObject({ content: [] });
    expect(client.oddities()).toEqual({ "answer.foreign-stream": 1 });
    await client.close();
  });
});

/** What a server asks during a call, answered by the client of the gateway that made the call: rounds in the modern era, requests on the open stream in the legacy one. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import {
  follow,
  initialize,
  ledgerLine,
  legacy,
  modern,
  openBench,
  send,
  start,
  type GatewayBench,
  type RawAnswer,
} from "../support/gateway-kit.ts";

/** The same server in both eras; one on stdio with `initialize` only where its entry says so. */
const SERVERS = {
  new: { file: "asks.mjs", env: { ERA: "modern" } },
  old: { file: "asks.mjs", env: { ERA: "legacy" }, entry: { inputs: ["elicitation"] } },
  open: {
    file: "asks.mjs",
    env: { ERA: "modern" },
    entry: { inputs: ["elicitation", "sampling", "roots"] },
  },
  shut: { file: "asks.mjs", env: { ERA: "legacy" } },
};
const CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";

let bench: GatewayBench;
beforeAll(async () => {
  bench = await openBench({ servers: SERVERS });
  await send(bench, modern("tools/list"));
});
afterAll(() => bench.close());

const result = ({ json }: RawAnswer): JsonObject => json["result"] as JsonObject;
const error = ({ json }: RawAnswer): JsonObject => json["error"] as JsonObject;
const textOf = (answer: RawAnswer | JsonObject): string => {
  const content = ("json" in answer ? result(answer as RawAnswer) : answer)["content"];
  return String((content as JsonObject[])[0]?.["text"]);
};

/** A modern call of a client that can be asked. */
function ask(name: string, more: JsonObject = {}, capabilities: JsonObject = { elicitation: {} }) {
  return send(bench, modern("tools/call", { name, ...more }, { meta: { [CAPABILITIES]: capabilities } }));
}

/** The question of an `input_required`, and how it is answered. */
function questionOf(answer: RawAnswer) {
  const { inputRequests, requestState, resultType, ...rest } = result(answer);
  expect(resultType).toBe("input_required");
  const [key = ""] = Object.keys(inputRequests as JsonObject);
  const request = (inputRequests as Record<string, JsonObject>)[key];
  return {
    request,
    rest,
    with: (response: JsonObject): JsonObject => ({
      inputResponses: { [key]: response },
      requestState: requestState as string,
    }),
    requestState: requestState as string,
  };
}

describe.each(["new", "old"])("a modern client, server %s", (server) => {
  it("gets the question as a result, in our words, and answers it in the next round [GW-14]", async () => {
    const question = questionOf(await ask(`${server}__form`));
    expect(question.request).toEqual({
      method: "elicitation/create",
      params: {
        mode: "form",
        message: `Server \`${server}\` asks, for \`${server}__form\`: Which colour?`,
        requestedSchema: {
          type: "object",
          properties: {
            colour: { type: "string", title: "colour", minLength: 2 },
            size: { type: "integer", title: "size", default: 3 },
          },
          required: ["colour"],
        },
      },
    });
    expect(question.requestState).toMatch(/^[A-Za-z0-9_-]{32}$/);
    const answer = question.with({ action: "accept", content: { colour: "blue" } });
    expect(textOf(await ask(`${server}__form`, answer))).toContain(
      '{"action":"accept","content":{"colour":"blue","size":3}}',
    );
  });

  it("is asked again where the answer does not fit, or is missing, and may say no", async () => {
    const first = questionOf(await ask(`${server}__form`));
    const second = questionOf(
      await ask(`${server}__form`, first.with({ action: "accept", content: { colour: "b" } })),
    );
    expect(String((second.request?.["params"] as JsonObject)["message"])).toContain("Not accepted: colour");
    const third = questionOf(
      await ask(`${server}__form`, { inputResponses: { other: {} }, requestState: second.requestState }),
    );
    expect(third.request).toEqual(second.request);
    expect(third.requestState).not.toBe(second.requestState);
    expect(textOf(await ask(`${server}__form`, third.with({ action: "decline" })))).toContain(
      '{"action":"decline"}',
    );
  });

  it("is shown an address where it takes addresses, and asked nothing that it did not declare [GW-15]", async () => {
    const url = questionOf(await ask(`${server}__url`, {}, { elicitation: { url: {} } }));
    expect(url.request?.["params"]).toMatchObject({ mode: "url", url: "https://login.example.com/start" });
    const done = await ask(`${server}__url`, url.with({ action: "accept" }), { elicitation: { url: {} } });
    expect(textOf(done)).toContain('{"action":"accept"}');
    for (const [name, capabilities] of [
      [`${server}__url`, { elicitation: {} }],
      [`${server}__form`, { elicitation: { url: {} } }],
      [`${server}__form`, { sampling: {} }],
      [`${server}__form`, {}],
      [`${server}__sample`, { elicitation: {}, sampling: {} }],
      [`${server}__roots`, { elicitation: {}, roots: {} }],
    ] as const) {
      expect([name, result(await ask(name, {}, capabilities))["resultType"]]).toEqual([name, "complete"]);
    }
  });

  it("is never asked for a secret [GW-24]", async () => {
    const answer = await ask(`${server}__secret`);
    expect(result(answer)["resultType"]).toBe("complete");
    expect(answer.text).not.toMatch(/inputRequests|requestedSchema/);
  });

  it("is shown no question that gives orders: it may be a model that answers", async () => {
    const found = Promise.withResolvers<object>();
    const stop = bench.host.onEvent((event) => {
      if (event.type === "finding.raised" && event.callId !== null) found.resolve(event);
    });
    const answer = await ask(`${server}__order`);
    expect(textOf(answer)).toContain('{"action":"cancel"}');
    expect(await found.promise).toMatchObject({ server, finding: { severity: "high" } });
    stop();
  });

  it("a state counts once, for the same request, and no other is taken [GW-14, GW-23]", async () => {
    const args = { arguments: { who: "ann" } };
    const question = questionOf(await ask(`${server}__form`, args));
    const answer = question.with({ action: "accept", content: { colour: "red" } });
    const { requestState, ...without } = answer;
    for (const [name, more] of [
      [`${server}__form`, { ...answer, arguments: { who: "bob" } }],
      [`${server}__form`, answer],
      [`${server}__hold`, { ...answer, ...args }],
      [`${server}__form`, { ...answer, ...args, requestState: `${String(requestState).slice(0, -1)}!` }],
      [`${server}__form`, { ...answer, ...args, requestState: 5 }],
      [`${server}__form`, { ...without, ...args, requestState: "" }],
    ] as const)
      expect([more, error(await ask(name, more))["code"]]).toEqual([more, -32602]);
    expect(textOf(await ask(`${server}__form`, { ...answer, ...args }))).toContain("red");
    expect(error(await ask(`${server}__form`, { ...answer, ...args }))["code"]).toBe(-32602);
  });

  it("who answered is recorded, and nothing that was typed", async () => {
    const answered = Promise.withResolvers<object>();
    const stop = bench.host.onEvent((event) => {
      if (event.type === "input.answered") answered.resolve(event);
    });
    const question = questionOf(await ask(`${server}__form`));
    await ask(`${server}__form`, question.with({ action: "accept", content: { colour: "mauve" } }));
    stop();
    const event = await answered.promise;
    expect(event).toMatchObject({ server, kind: "form", action: "accept", by: "client" });
    expect(JSON.stringify(event)).not.toContain("mauve");
  });
});

it("a server asks a model or for folders only where its entry lets it", async () => {
  const sampling = { sampling: {} };
  const sample = questionOf(await ask("open__sample", {}, sampling));
  expect(sample.request).toEqual({
    method: "sampling/createMessage",
    params: {
      messages: [{ role: "user", content: { type: "text", text: "Tell me all" } }],
      maxTokens: 1_000,
    },
  });
  const said = {
    role: "assistant",
    content: { type: "text", text: "no" },
    model: "m1",
    stopReason: "endTurn",
  };
  expect(textOf(await ask("open__sample", sample.with(said), sampling))).toContain('"text":"no"');
  const roots = questionOf(await ask("open__roots", {}, { roots: {} }));
  const folders = { roots: [{ uri: `file://${bench.dir}`, name: "here" }, { uri: "file:///not/there" }] };
  const told = textOf(await ask("open__roots", roots.with(folders), { roots: {} }));
  expect(told).toContain("here");
  expect(told).not.toContain("not/there");
});

it("a local server with `initialize` is not told that it may ask unless its entry says so", async () => {
  expect(result(await ask("shut__form"))["resultType"]).toBe("complete");
  const declared = bench
    .ledger()
    .filter((line) => line["capabilities"] !== undefined)
    .map((line) => line["capabilities"]);
  expect(declared).toContainEqual({});
});

describe.each(["new", "old"])("a legacy client, server %s", (server) => {
  const call = (id: string, name: string, session: string): Parameters<typeof start>[1] =>
    legacy(session, "tools/call", { name: `${server}__${name}` }, id);
  const respond = (session: string, message: JsonObject): Promise<RawAnswer> =>
    send(bench, { headers: { "mcp-session-id": session }, body: { jsonrpc: "2.0", ...message } });

  it("is asked on the stream of its call, and answers with a message of its own", async () => {
    const session = await initialize(bench, "2025-11-25", { elicitation: { form: {}, url: {} } });
    const { response } = await start(bench, call("c1", "form", session));
    const events = follow(response);
    const [asked] = await events(1);
    expect(asked).toMatchObject({ method: "elicitation/create", params: { mode: "form" } });
    const answer = { action: "accept", content: { colour: "green" } };
    expect((await respond(session, { id: asked?.["id"] ?? "", result: answer })).status).toBe(202);
    const [, done] = await events(2);
    expect(done?.["id"]).toBe("c1");
    expect(textOf(done?.["result"] as JsonObject)).toContain('"colour":"green"');
  });

  it("an address has a name of its own; an error of the client is a no", async () => {
    const session = await initialize(bench, "2025-11-25", { elicitation: { form: {}, url: {} } });
    const { response } = await start(bench, call("c2", "url", session));
    const events = follow(response);
    const [asked] = await events(1);
    expect(asked?.["params"]).toMatchObject({ mode: "url", elicitationId: expect.any(String) });
    await respond(session, { id: asked?.["id"] ?? "", error: { code: -32603, message: "no" } });
    const [, done] = await events(2);
    expect(JSON.stringify(done)).not.toContain('"action":"accept"');
  });

  it("is not asked what it did not declare, nor where it takes no stream", async () => {
    const silent = await initialize(bench);
    expect(textOf(await send(bench, call("c3", "form", silent)))).not.toContain("accept");
    const session = await initialize(bench, "2025-11-25", { elicitation: {} });
    const request = call("c4", "form", session);
    const plain = { ...request, headers: { ...request.headers, accept: "application/json" } };
    const answer = await send(bench, plain);
    expect([answer.headers["content-type"], answer.status]).toEqual(["application/json", 200]);
  });

  it("a call that is taken back takes its question back", async () => {
    const session = await initialize(bench, "2025-11-25", { elicitation: {} });
    const { response } = await start(bench, call("c5", "form", session));
    const events = follow(response);
    const [asked] = await events(1);
    await respond(session, { method: "notifications/cancelled", params: { requestId: "c5" } });
    expect((await events(2))[1]).toMatchObject({
      method: "notifications/cancelled",
      params: { requestId: asked?.["id"] },
    });
  });
});

it("a client that leaves while its call runs on after an answer takes it back [GW-19]", async () => {
  const closed = Promise.withResolvers<object>();
  const stop = bench.host.onEvent((event) => {
    if (event.type === "call.closed" && event.tool === "hold") closed.resolve(event);
  });
  const params = { name: "new__hold", arguments: { ms: 600_000 } };
  const pending = start(
    bench,
    modern("tools/call", params, { meta: { [CAPABILITIES]: { elicitation: {} } } }),
  );
  pending.catch(() => undefined);
  await ledgerLine(bench, (line) => line["begin"] === "hold");
  const { request } = await pending;
  request.destroy();
  expect(await closed.promise).toMatchObject({ outcome: "cancelled" });
  stop();
});

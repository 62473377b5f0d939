/** Resources, prompts and completions through the gateway: two servers with the same URIs and names behind it, one of each era. */
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

const SERVERS = {
  one: { file: "library.mjs", env: { NAME: "one" } },
  two: { file: "library.mjs", env: { NAME: "two", ERA: "modern" } },
};

let bench: GatewayBench;
let session: string;
beforeAll(async () => {
  bench = await openBench({ servers: SERVERS });
  session = await initialize(bench);
});
afterAll(() => bench.close());

type Ask = (method: string, params?: JsonObject) => Promise<RawAnswer>;
const eras: readonly (readonly [string, Ask])[] = [
  ["modern", (method, params) => send(bench, modern(method, params))],
  ["legacy", (method, params) => send(bench, legacy(session, method, params))],
];

const result = ({ json }: RawAnswer): JsonObject => json["result"] as JsonObject;
const error = ({ json }: RawAnswer): JsonObject => json["error"] as JsonObject;
const listOf = (answer: RawAnswer, member: string): readonly JsonObject[] =>
  result(answer)[member] as unknown as readonly JsonObject[];
const contentsOf = (answer: RawAnswer): readonly JsonObject[] => listOf(answer, "contents");
const messagesOf = (answer: RawAnswer): readonly { role: string; content: JsonObject }[] =>
  result(answer)["messages"] as never;

describe.each(eras)("%s", (era, ask) => {
  it("lists the resources of all servers in order, each under a URI of its own, without those that give orders [GW-05] [GW-06]", async () => {
    const uris = listOf(await ask("resources/list"), "resources").map(({ uri }) => uri);
    const names = ["attack", "disguised", "picture", "shared", "slow"];
    expect(uris).toEqual(
      ["one", "two"].flatMap((server) => names.map((name) => `portcullis://${server}/note://${name}`)),
    );
    const shared = listOf(await ask("resources/list"), "resources").find(
      ({ uri }) => uri === "portcullis://one/note://shared",
    );
    expect(shared).toEqual({
      uri: "portcullis://one/note://shared",
      name: "shared",
      title: "Shared",
      mimeType: "application/json",
      size: 12,
    });
  });

  it("reads what was asked for, from the server that the URI names, between marks", async () => {
    for (const server of ["one", "two"]) {
      const uri = `portcullis://${server}/note://shared`;
      const [only, ...more] = contentsOf(await ask("resources/read", { uri }));
      expect(more).toEqual([]);
      expect(only).toMatchObject({ uri, mimeType: "text/plain" });
      expect(only?.["text"]).toContain(`{"from":"${server}"}`);
      expect(only?.["text"]).toContain("Unverified data between the marks");
    }
  });

  it("templates stay templates: what is filled in reaches the server's own", async () => {
    const templates = listOf(await ask("resources/templates/list"), "resourceTemplates");
    expect(templates.map(({ uriTemplate }) => uriTemplate)).toEqual([
      "portcullis://one/note://{topic}/page",
      "portcullis://two/note://{topic}/page",
    ]);
    const [only] = contentsOf(await ask("resources/read", { uri: "portcullis://two/note://cats/page" }));
    expect(only?.["text"]).toContain("about cats");
  });

  it("data comes as data, and what a client could read as text does not", async () => {
    const picture = contentsOf(await ask("resources/read", { uri: "portcullis://one/note://picture" }));
    expect(picture.map(({ uri, mimeType }) => [uri, mimeType])).toEqual([
      ["portcullis://one/note://picture", "image/png"],
      ["portcullis://one/note://picture", "text/plain"],
    ]);
    const disguised = await ask("resources/read", { uri: "portcullis://one/note://disguised" });
    expect(contentsOf(disguised)).toHaveLength(1);
    expect(contentsOf(disguised)[0]).not.toHaveProperty("blob");
  });

  it("a text that gives orders is held back", async () => {
    const [only] = contentsOf(await ask("resources/read", { uri: "portcullis://one/note://attack" }));
    expect(only?.["text"]).not.toContain("evil.example");
    expect(only?.["text"]).toMatch(/held back/u);
  });

  it("what is not there is said so, with its URI, by the code of the era [BASE-15]", async () => {
    const notFound = era === "legacy" ? -32002 : -32602;
    for (const uri of ["portcullis://one/note://none", "portcullis://three/note://shared", "note://shared"]) {
      const answer = await ask("resources/read", { uri });
      expect([uri, error(answer)["code"], error(answer)["data"]]).toEqual([
        uri,
        notFound,
        expect.objectContaining({ uri }),
      ]);
    }
    expect(error(await ask("resources/read", {}))["code"]).toBe(-32602);
  });

  it("lists prompts under exposed names, cleaned", async () => {
    const prompts = listOf(await ask("prompts/list"), "prompts");
    expect(prompts.map(({ name }) => name)).toEqual([
      "one__greet",
      expect.stringMatching(/^one__odd_name--[a-z2-7]{10}$/u),
      "one__picture",
      "two__greet",
      expect.stringMatching(/^two__odd_name--[a-z2-7]{10}$/u),
      "two__picture",
    ]);
    expect(prompts[0]).toEqual({
      name: "one__greet",
      description: "Greets.",
      arguments: [{ name: "who", required: true }],
    });
  });

  it("gets a prompt as one message of the user's, between marks; pictures stand beside it", async () => {
    const answer = await ask("prompts/get", { name: "two__greet", arguments: { who: "Ada" } });
    const [message, ...more] = messagesOf(answer);
    expect([message?.role, message?.content["type"], more]).toEqual(["user", "text", []]);
    expect(message?.content["text"]).toContain("Say hello to Ada");
    const odd = listOf(await ask("prompts/list"), "prompts")[1]?.["name"] ?? "";
    expect(messagesOf(await ask("prompts/get", { name: odd }))[0]?.content["text"]).toContain("odd");
    const picture = messagesOf(await ask("prompts/get", { name: "one__picture" }));
    expect(picture.map(({ content }) => content["type"])).toEqual(["text", "image"]);
  });

  it("a prompt that is not there, or not so, is -32602 [RPC-06]", async () => {
    for (const params of [
      { name: "one__greet" },
      { name: "one__none" },
      { name: "three__greet" },
      { name: "greet" },
      { name: "one__greet", arguments: { who: 5 } },
      { name: 5 },
    ]) {
      expect([params, error(await ask("prompts/get", params))["code"]]).toEqual([params, -32602]);
    }
  });

  it("completes arguments of prompts and templates, under the server's own names [RPC-11] [RPC-12]", async () => {
    const prompt = { type: "ref/prompt", name: "one__greet" };
    const answer = await ask("completion/complete", {
      ref: prompt,
      argument: { name: "who", value: "a" },
      context: { arguments: { tone: "kind" } },
    });
    expect(result(answer)["completion"]).toEqual({ values: ["ada", "alan"], total: 2, hasMore: false });
    expect(await ledgerLine(bench, (line) => line["completed"] === "greet")).toMatchObject({
      server: "one",
      context: { arguments: { tone: "kind" } },
    });
    const template = { type: "ref/resource", uri: "portcullis://two/note://{topic}/page" };
    const topics = await ask("completion/complete", {
      ref: template,
      argument: { name: "topic", value: "" },
    });
    // What has a hidden character would be another value when it is shown.
    expect(result(topics)["completion"]).toMatchObject({ values: ["cats", "dogs"] });
    for (const params of [
      {},
      { ref: prompt },
      { ref: { type: "ref/tool" }, argument: { name: "a", value: "" } },
    ])
      expect(error(await ask("completion/complete", params))["code"]).toBe(-32602);
  });

  it("a cursor of another list, or of nobody, is refused", async () => {
    for (const method of ["resources/list", "resources/templates/list", "prompts/list"])
      expect(error(await ask(method, { cursor: "5" }))["code"]).toBe(-32602);
  });
});

it("lists and reads say how long they may be kept, and for whom [GW-07]", async () => {
  const ask = eras[0]?.[1] as Ask;
  for (const method of ["resources/list", "resources/templates/list", "prompts/list"])
    expect(result(await ask(method))).toMatchObject({
      resultType: "complete",
      ttlMs: 30_000,
      cacheScope: "private",
    });
  const read = await ask("resources/read", { uri: "portcullis://one/note://shared" });
  expect(result(read)).toMatchObject({ ttlMs: 0, cacheScope: "private" });
});

it("reads, prompts and completions are recorded like calls [RPC-11]", async () => {
  const ask = eras[0]?.[1] as Ask;
  await ask("resources/read", { uri: "portcullis://two/note://shared" });
  await ask("prompts/get", { name: "two__greet", arguments: { who: "Eve" } });
  await ask("completion/complete", {
    ref: { type: "ref/prompt", name: "two__greet" },
    argument: { name: "who", value: "g" },
  });
  const calls = (await bench.host.activity({ server: "two", limit: 3 })).map((call) => [
    call.tool,
    call.outcome,
  ]);
  expect(calls).toEqual([
    ["completion/complete", "completed"],
    ["prompts/get", "completed"],
    ["resources/read", "completed"],
  ]);
});

it("a paused server is not read, and says so [RPC-02]", async () => {
  await bench.host.pause("two", "local");
  try {
    const answer = await send(bench, modern("resources/read", { uri: "portcullis://two/note://shared" }));
    expect(error(answer)).toMatchObject({
      code: -32603,
      data: { "portcullis/outcome": { code: "server_paused" } },
    });
  } finally {
    await bench.host.resume("two", "local");
  }
});

describe.each(["one", "two"])("progress and cancellation, server %s", (server) => {
  it("a client that leaves takes its read back, up to the server [GW-19]", async () => {
    const own = await openBench({ servers: SERVERS });
    try {
      const uri = `portcullis://${server}/note://slow`;
      const { request, response } = await start(
        own,
        modern("resources/read", { uri }, { meta: { progressToken: "p" } }),
      );
      const [progress] = await follow(response)(1);
      expect(progress).toMatchObject({
        method: "notifications/progress",
        params: { progressToken: "p", progress: 1, total: 2 },
      });
      request.destroy();
      expect(await ledgerLine(own, (line) => line["cancelled"] !== undefined)).toMatchObject({ server });
    } finally {
      await own.close();
    }
  });
});

describe("changes", () => {
  it("modern: the listen stream tells of lists and of single resources, acknowledged first [GW-20]", async () => {
    const own = await openBench({ servers: SERVERS });
    try {
      const uris = ["portcullis://one/note://shared", "portcullis://two/note://shared"];
      const asked = {
        promptsListChanged: true,
        resourcesListChanged: true,
        resourceSubscriptions: [...uris, "portcullis://three/note://shared", "file:///etc/passwd"],
      };
      await send(own, modern("resources/list"));
      const { request, response } = await start(
        own,
        modern("subscriptions/listen", { notifications: asked }),
      );
      const events = follow(response);
      expect((await events(1))[0]).toMatchObject({
        method: "notifications/subscriptions/acknowledged",
        params: {
          notifications: {
            promptsListChanged: true,
            resourcesListChanged: true,
            resourceSubscriptions: uris,
          },
        },
      });
      for (const [at, server] of ["one", "two"].entries()) {
        await send(
          own,
          modern("tools/call", { name: `${server}__touch`, arguments: { uri: "note://shared" } }),
        );
        expect((await events(at + 2)).at(-1)).toEqual({
          jsonrpc: "2.0",
          method: "notifications/resources/updated",
          params: { uri: uris[at], _meta: { "io.modelcontextprotocol/subscriptionId": 1 } },
        });
      }
      await send(own, modern("tools/call", { name: "one__grow" }));
      const told = (await events(5)).slice(3).map(({ method }) => method);
      expect(told.sort()).toEqual([
        "notifications/prompts/list_changed",
        "notifications/resources/list_changed",
      ]);
      request.destroy();
    } finally {
      await own.close();
    }
  });

  it("legacy: the GET stream does, for what was subscribed to and as long as it is", async () => {
    const own = await openBench({ servers: SERVERS });
    try {
      const id = await initialize(own);
      const uri = "portcullis://one/note://shared";
      const { request, response } = await start(own, {
        method: "GET",
        headers: { "mcp-session-id": id },
      });
      const events = follow(response);
      const ask = (method: string, params: JsonObject): Promise<RawAnswer> =>
        send(own, legacy(id, method, params));
      expect((await ask("resources/subscribe", { uri })).json).toMatchObject({ result: {} });
      await ask("tools/call", { name: "one__touch", arguments: { uri: "note://shared" } });
      expect((await events(1))[0]).toEqual({
        jsonrpc: "2.0",
        method: "notifications/resources/updated",
        params: { uri },
      });
      expect(result(await ask("resources/unsubscribe", { uri }))).toEqual({});
      await ledgerLine(own, (line) => line["method"] === "resources/unsubscribe");
      expect(error(await ask("resources/subscribe", { uri: "note://shared" }))["code"]).toBe(-32602);
      await ask("tools/call", { name: "two__grow" });
      expect((await events(3)).slice(1).map(({ method }) => method)).not.toContain(
        "notifications/resources/updated",
      );
      request.destroy();
    } finally {
      await own.close();
    }
  });

  it("the end of a client ends what it watches", async () => {
    const own = await openBench({ servers: SERVERS });
    try {
      const id = await initialize(own);
      await send(own, legacy(id, "resources/subscribe", { uri: "portcullis://one/note://shared" }));
      await send(own, { method: "DELETE", headers: { "mcp-session-id": id } });
      expect(await ledgerLine(own, (line) => line["method"] === "resources/unsubscribe")).toMatchObject({
        uri: "note://shared",
      });
    } finally {
      await own.close();
    }
  });

  it("a server that starts anew is asked again, and the watcher told that something may be missed", async () => {
    const own = await openBench({ servers: SERVERS });
    try {
      const uri = "portcullis://one/note://shared";
      const listen = { notifications: { resourceSubscriptions: [uri] } };
      const { request, response } = await start(own, modern("subscriptions/listen", listen));
      const events = follow(response);
      await events(1);
      await own.host.reconnect("one");
      expect((await events(2))[1]).toMatchObject({
        method: "notifications/resources/updated",
        params: { uri },
      });
      expect(own.ledger().filter((line) => line["method"] === "resources/subscribe")).toHaveLength(2);
      request.destroy();
    } finally {
      await own.close();
    }
  });
});

/**
 * What does not cross the gateway: a caller's credentials and headers on the way to a server, a server's demands on the way to a
 * caller. The server behind it speaks HTTP in this process and writes down every request, heads and all.
 */
import { mkdtempSync, rmSync } from "node:fs";
import type { IncomingHttpHeaders } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import type { JsonObject } from "../../src/base/json.ts";
import { systemRandom } from "../../src/base/random.ts";
import { openGateway } from "../../src/gateway/gateway.ts";
import { openHost } from "../../src/host/host.ts";
import {
  initialize,
  legacy,
  modern,
  send,
  type GatewayBench,
  type RawRequest,
} from "../support/gateway-kit.ts";
import { startLocalServer } from "../support/local-http.ts";

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

const OWN_TOKEN = "the-gateways-own-token-at-the-server";
const CALLERS = "a-secret-of-the-caller";

interface Seen {
  readonly method: string;
  readonly name: unknown;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

const tool = (name: string, properties: JsonObject = {}): JsonObject => ({
  name,
  inputSchema: { type: "object", properties },
});
const TOOLS = [
  tool("echo"),
  tool("closed"),
  tool("asks"),
  tool("needs"),
  tool("route", { region: { type: "string", "x-mcp-header": "Region" } }),
];
/** What a server may want of a client that can be asked. */
const WANTS = {
  resultType: "input_required",
  inputRequests: {
    k1: { method: "elicitation/create", params: { message: "?", requestedSchema: { type: "object" } } },
  },
  requestState: "state-of-the-server",
};

/** @param answers by method or name of the tool, instead of the usual ones. */
async function startServer(answers: Readonly<Record<string, JsonObject>> = {}) {
  const seen: Seen[] = [];
  const listed = { ttlMs: 60_000, cacheScope: "public" };
  const usual: Readonly<Record<string, JsonObject>> = {
    "server/discover": { supportedVersions: ["2026-07-28"], capabilities: { tools: {} }, ...listed },
    "tools/list": { tools: TOOLS, ...listed },
    asks: WANTS,
  };
  const local = await startLocalServer((request, response, text) => {
    const { id, method, params } = JSON.parse(text) as { id: number; method: string; params: JsonObject };
    const { name } = params;
    seen.push({ method, name, headers: request.headers, text });
    const result = answers[method] ??
      usual[method] ??
      usual[String(name)] ?? { content: [{ type: "text", text: "done" }] };
    const error = { code: -32021, message: "no", data: { requiredCapabilities: { sampling: {} } } };
    response.writeHead(name === "needs" ? 400 : 200, { "content-type": "application/json" });
    const answer = name === "needs" ? { error } : { result: { resultType: "complete", ...result } };
    response.end(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
  });
  ends.push(local.close);
  return { seen, url: local.url, calls: () => seen.filter(({ method }) => method === "tools/call") };
}

async function open(answers?: Readonly<Record<string, JsonObject>>) {
  const server = await startServer(answers);
  const dir = mkdtempSync(join(tmpdir(), "portcullis-boundary-"));
  const up: JsonObject = {
    url: server.url.href,
    source: "own",
    allowPrivateAddresses: true,
    headers: { Authorization: "Bearer ${env:OWN_TOKEN}" },
    tools: { "*": "L0", closed: "off" },
  };
  const host = await openHost({
    config: { mcpServers: { up }, gateway: { listen: "127.0.0.1:0" } },
    stateDir: join(dir, "state"),
    resolveSecret: () => OWN_TOKEN,
  });
  const gateway = await openGateway({
    host,
    config: host.config,
    clock: systemClock,
    random: systemRandom,
    stateDir: join(dir, "state"),
  });
  const close = async (): Promise<void> => {
    gateway.drain();
    await host.close(1_000);
    await gateway.close();
    rmSync(dir, { recursive: true, force: true });
  };
  ends.push(close);
  const bench: GatewayBench = { host, gateway, dir, stateDir: join(dir, "state"), ledger: () => [], close };
  return { bench, server };
}

const result = (answer: { readonly json: JsonObject }): JsonObject => answer.json["result"] as JsonObject;
const withHeaders = (request: RawRequest, headers: RawRequest["headers"]): RawRequest => ({
  ...request,
  headers: { ...request.headers, ...headers },
});

describe("on the way to a server", () => {
  it("goes nothing that a caller sent as its credential, in either era: the server gets its own [GW-09]", async () => {
    const { bench, server } = await open();
    const session = await initialize(bench);
    const secrets = {
      "x-api-key": CALLERS,
      cookie: `a=${CALLERS}`,
      "proxy-authorization": `Bearer ${CALLERS}`,
    };
    const meta = { baggage: `user=${CALLERS}` };
    for (const call of [
      modern("tools/call", { name: "up__echo" }, { meta }),
      legacy(session, "tools/call", { name: "up__echo" }),
    ]) {
      expect(result(await send(bench, withHeaders(call, secrets)))["isError"]).toBeUndefined();
    }
    expect(server.calls()).toHaveLength(2);
    expect(new Set(server.seen.map(({ headers }) => headers.authorization))).toEqual(
      new Set([`Bearer ${OWN_TOKEN}`]),
    );
    const everything = JSON.stringify(server.seen);
    for (const secret of [CALLERS, ...Object.values(bench.gateway.tokens), session])
      expect(everything).not.toContain(secret);
  });

  it("goes no header of a caller, and none of them decides anything: the message does [GW-18]", async () => {
    const { bench, server } = await open();
    const session = await initialize(bench);
    const lies = {
      "mcp-method": "tools/list",
      "mcp-name": "up__echo",
      "mcp-param-region": "Bern",
      "x-other": "1",
    };
    const closed = await send(
      bench,
      withHeaders(legacy(session, "tools/call", { name: "up__closed" }), lies),
    );
    expect(result(closed)).toMatchObject({
      isError: true,
      _meta: { "portcullis/outcome": { code: "tool_off" } },
    });
    expect(server.calls()).toEqual([]);
    const route = legacy(session, "tools/call", { name: "up__route", arguments: { region: "Basel" } });
    expect(result(await send(bench, withHeaders(route, lies)))["isError"]).toBeUndefined();
    const headers = server.calls()[0]?.headers;
    expect(headers).toMatchObject({
      "mcp-method": "tools/call",
      "mcp-name": "route",
      "mcp-param-region": "Basel",
    });
    expect(headers?.["x-other"]).toBeUndefined();
  });
});

describe("on the way to a caller that declared nothing", () => {
  it.each(["asks", "needs"])(
    "goes neither a question nor a demand for a capability, but a result that says what happened: %s [GW-15]",
    async (name) => {
      const { bench } = await open();
      const answer = await send(bench, modern("tools/call", { name: `up__${name}` }));
      expect([answer.status, answer.json["error"]]).toEqual([200, undefined]);
      expect(result(answer)).toMatchObject({ resultType: "complete", isError: true });
      expect(answer.text).not.toMatch(/-32021|inputRequests|requestState|state-of-the-server/);
    },
  );

  it.each(["server/discover", "tools/list"])(
    "goes no question where none may be asked, whatever a server answers: %s [GW-16]",
    async (method) => {
      const { bench } = await open({ "tools/list": WANTS });
      const answer = await send(bench, modern(method));
      expect(result(answer)["resultType"]).toBe("complete");
      expect(answer.text).not.toMatch(/inputRequests|state-of-the-server/);
    },
  );
});

describe("lists", () => {
  it("are the same on every connection, in every conversation and after any call, and are for one caller only [GW-05, GW-08]", async () => {
    const { bench } = await open();
    const list = async (request: RawRequest) => {
      const answer = await send(bench, request);
      return { answer, tools: result(answer)["tools"] };
    };
    const first = await list(modern("tools/list"));
    // The server says `public`; what the gateway offers depends on who asks all the same.
    expect(result(first.answer)).toMatchObject({ cacheScope: "private" });
    expect(first.answer.headers["cache-control"]).toBe("no-store");
    const session = await initialize(bench);
    await send(bench, modern("tools/call", { name: "up__echo" }));
    await send(bench, legacy(session, "tools/call", { name: "up__asks" }));
    for (const again of [
      modern("tools/list"),
      modern("tools/list", {}, { id: "other", meta: { "portcullis/conversation": "another" } }),
      legacy(session, "tools/list"),
    ])
      expect((await list(again)).tools).toEqual(first.tools);
  });
});

describe("a session", () => {
  it("is a name that nobody guesses, and opens nothing by itself [GW-22]", async () => {
    const { bench } = await open();
    const ids = await Promise.all(Array.from({ length: 20 }, () => initialize(bench)));
    expect(new Set(ids).size).toBe(20);
    // 192 random bits.
    for (const id of ids) expect(id).toMatch(/^[A-Za-z0-9_-]{32,}$/);
    const [id = ""] = ids;
    for (const authorization of [undefined, `Bearer ${id}`, `Bearer ${bench.gateway.tokens.admin}`]) {
      for (const request of [legacy(id, "tools/list"), { method: "GET" }, { method: "DELETE" }]) {
        const answer = await send(bench, withHeaders(request, { "mcp-session-id": id, authorization }));
        expect(answer.status).toBe(401);
      }
    }
    expect((await send(bench, legacy(id, "tools/list"))).status).toBe(200);
  });
});

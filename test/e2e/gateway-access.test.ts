/** The two doors over real sockets: what opens one opens nothing of the other, and nobody else's page opens any. */
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { modern, openBench, send, type GatewayBench, type RawRequest } from "../support/gateway-kit.ts";

let bench: GatewayBench;
beforeAll(async () => {
  bench = await openBench();
});
afterAll(async () => bench.close());

const status = { path: "/api/operations/status", body: {} };
const list = modern("tools/list");

const withHeaders = (request: RawRequest, headers: RawRequest["headers"]): RawRequest => ({
  ...request,
  headers: { ...request.headers, ...headers },
});

describe("doors [GW-02, GW-09]", () => {
  it("each token opens its own", async () => {
    expect((await send(bench, list)).status).toBe(200);
    expect((await send(bench, status)).status).toBe(200);
  });

  it("the agent's token opens nothing of the operator's", async () => {
    const { mcp } = bench.gateway.tokens;
    for (const path of [
      "/api/operations/approve",
      "/api/operations/status",
      "/api/events",
      "/api",
      "/api/other",
    ]) {
      const answer = await send(bench, { path, body: {}, headers: { authorization: `Bearer ${mcp}` } });
      expect([path, answer.status]).toEqual([path, 401]);
      expect(answer.json).toMatchObject({ error: { code: "auth_required" } });
    }
  });

  it("the operator's token does not open /mcp, nor does none", async () => {
    for (const authorization of [`Bearer ${bench.gateway.tokens.admin}`, undefined, "Bearer ", "Basic x"]) {
      const answer = await send(bench, withHeaders(list, { authorization }));
      expect(answer.status).toBe(401);
      expect(answer.headers["www-authenticate"]).toBe('Bearer realm="portcullis"');
    }
  });

  it.each([
    ["Host", "evil.example", 421],
    ["Authorization", "Bearer other", 401],
    ["Content-Type", "text/plain", 415],
    ["Origin", "http://evil.example", 403],
  ])("a second %s counts as much as the first", async (name, second, status) => {
    const { host, hostname, port } = new URL(bench.gateway.url);
    const body = JSON.stringify(list.body);
    const lines = Object.entries({
      host,
      origin: bench.gateway.url,
      authorization: `Bearer ${bench.gateway.tokens.mcp}`,
      "content-type": "application/json",
      "content-length": body.length,
      connection: "close",
      ...list.headers,
    }).map(([header, value]) => `${header}: ${value}`);
    const answers: string[] = [];
    for (const more of [[], [`${name}: ${second}`]]) {
      const socket = connect(Number(port), hostname);
      socket.end(["POST /mcp HTTP/1.1", ...lines, ...more, "", body].join("\r\n"));
      const chunks: Buffer[] = [];
      for await (const chunk of socket) chunks.push(chunk as Buffer);
      answers.push(Buffer.concat(chunks).toString("utf8").slice(0, 12));
    }
    expect(answers).toEqual(["HTTP/1.1 200", `HTTP/1.1 ${status}`]);
  });

  it("paths that only look like another door stay where they are", async () => {
    const asAgent = { authorization: `Bearer ${bench.gateway.tokens.mcp}` };
    for (const path of [
      "/mcp/../api/operations/status",
      "//api/operations/status",
      "/API/operations/status",
    ]) {
      const answer = await send(bench, { path, body: {}, headers: asAgent });
      expect([path, answer.status]).toEqual([path, 405]);
    }
    const hidden = await send(bench, { path: "/api/hello/../operations/status", body: {}, headers: asAgent });
    expect(hidden.status).toBe(401);
    expect((await send(bench, { path: "/api/%2e%2e/mcp", body: {}, headers: asAgent })).status).toBe(401);
    expect((await send(bench, { path: "/api?x=/mcp", body: {}, headers: asAgent })).status).toBe(401);
  });

  it.each<[string, RawRequest]>([
    ["/mcp", list],
    ["the API", status],
    ["the console", { method: "GET", path: "/" }],
    ["the greeting", { method: "GET", path: "/api/hello" }],
  ])("%s: a rebound name is 421, a page of another origin 403", async (_name, request) => {
    expect((await send(bench, withHeaders(request, { host: "evil.example" }))).status).toBe(421);
    for (const origin of ["https://evil.example", "null", `${bench.gateway.url}.evil.example`]) {
      expect((await send(bench, withHeaders(request, { origin }))).status).toBe(403);
    }
    expect((await send(bench, withHeaders(request, { origin: bench.gateway.url }))).status).not.toBe(403);
  });
});

describe("headers of what a browser shows [SEC-12]", () => {
  it.each(["/", "/api/operations/nothing", "/api/hello"])("%s", async (path) => {
    const answer = await send(bench, { method: "GET", path });
    expect(answer.headers["content-security-policy"]).toContain("default-src 'self'");
    expect(answer.headers["content-security-policy"]).toContain("frame-ancestors 'none'");
    expect(answer.headers).toMatchObject({
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "x-frame-options": "DENY",
    });
    if (path.startsWith("/api")) expect(answer.headers["cache-control"]).toBe("no-store");
    expect(answer.headers["set-cookie"]).toBeUndefined();
  });

  it("/mcp is not kept by anybody", async () => {
    expect((await send(bench, list)).headers).toMatchObject({
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
    });
  });
});

describe("a door without a token", () => {
  it("is open for agents on loopback where the operator wants it so, and says it; Host and Origin still count", async () => {
    const warnings: string[] = [];
    const own = await openBench({ requireToken: false, onWarning: (message) => warnings.push(message) });
    try {
      expect(warnings).toHaveLength(1);
      expect((await send(own, withHeaders(list, { authorization: undefined }))).status).toBe(200);
      expect(
        (await send(own, withHeaders(list, { authorization: undefined, host: "evil.example" }))).status,
      ).toBe(421);
      expect((await send(own, withHeaders(status, { authorization: undefined }))).status).toBe(401);
    } finally {
      await own.close();
    }
  });

  it("a listener for other machines says so and needs tokens", async () => {
    const warnings: string[] = [];
    const own = await openBench({ listen: "0.0.0.0:0", onWarning: (message) => warnings.push(message) });
    try {
      expect(warnings.join()).toContain("other machines");
      const local = { gateway: { ...own.gateway, url: own.gateway.url.replace("0.0.0.0", "127.0.0.1") } };
      const reached = { ...own, ...local };
      expect((await send(reached, list)).status).toBe(200);
      expect((await send(reached, withHeaders(list, { authorization: undefined }))).status).toBe(401);
      expect((await send(reached, withHeaders(list, { host: "evil.example" }))).status).toBe(421);
    } finally {
      await own.close();
    }
  });
});

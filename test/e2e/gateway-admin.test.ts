/** The admin API and the console's files over real sockets. */
import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import {
  findGateway,
  gatewayFilePath,
  gatewayProof,
  readGatewayFile,
} from "../../src/operations/gateway-file.ts";
import {
  follow,
  modern,
  nextEvents,
  openBench,
  send,
  start,
  type GatewayBench,
} from "../support/gateway-kit.ts";

let bench: GatewayBench;
beforeAll(async () => {
  bench = await openBench();
});
afterAll(async () => bench.close());

const operate = (name: string, body: JsonObject, headers = {}) =>
  send(bench, { path: `/api/operations/${name}`, body, headers });

describe("operations", () => {
  it("run by name and answer as --json does", async () => {
    const answer = await operate("call-tool", { server: "peer", tool: "echo", arguments: { text: "hi" } });
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({
      outcome: "completed",
      grade: "L0",
      content: [{ type: "text", text: "hi" }],
    });
    expect((await operate("status", {})).json).toMatchObject({ servers: [{ name: "peer", state: "ready" }] });
  });

  it.each<[string, string, JsonObject, number, string]>([
    ["an unknown operation", "destroy", {}, 400, "usage"],
    ["a name of Object.prototype", "constructor", {}, 400, "usage"],
    ["a member that is none", "status", { nonsense: true }, 400, "usage"],
    ["an unknown server", "explain", { server: "nobody", tool: "x" }, 404, "unknown_server"],
    ["an approval that is not there", "approve", { id: "x" }, 404, "not_found"],
    ["to be denied", "deny", { id: "x" }, 404, "not_found"],
    ["a standing approval that is not there", "revoke", { id: "x" }, 404, "not_found"],
    ["a call that is not there", "activity", { call: "x" }, 404, "not_found"],
    ["to be taken back", "undo", { call: "x" }, 404, "not_found"],
    ["of which nothing is kept", "release", { call: "x" }, 404, "not_found"],
  ])("%s: an error with code, message and help", async (_name, operation, input, status, code) => {
    const answer = await operate(operation, input);
    expect(answer.status).toBe(status);
    expect(answer.json).toEqual({ error: { code, message: expect.any(String), help: expect.any(String) } });
  });

  it.each([
    [
      "a key given twice",
      '{"server":"peer","server":"nobody"}',
      "line 1, column 18: this key stands here twice",
    ],
    ["`__proto__` as a key", '{"__proto__":{}}', "`__proto__` cannot be a name"],
    ["a number beyond all numbers", '{"limit":1e400}', "1e400 cannot be carried exactly"],
  ])("%s is refused as the command line does", async (_name, body, message) => {
    const answer = await send(bench, { path: "/api/operations/status", body });
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({
      error: { code: "usage", message: expect.stringContaining(message) },
    });
  });

  it("no body, or another method", async () => {
    const answerTo = async (method: string) => {
      const headers = {
        authorization: `Bearer ${bench.gateway.tokens.admin}`,
        "content-type": "application/json",
      };
      const { status } = await fetch(new URL("/api/operations/status", bench.gateway.url), {
        method,
        headers,
      });
      return status;
    };
    expect(await answerTo("POST")).toBe(400);
    for (const method of ["PUT", "PATCH", "DELETE"])
      expect([method, await answerTo(method)]).toEqual([method, 405]);
  });

  it("a body that is not JSON, or too large", async () => {
    const path = "/api/operations/status";
    expect((await send(bench, { path, body: "{" })).status).toBe(400);
    expect((await send(bench, { path, body: "{}", headers: { "content-type": "text/plain" } })).status).toBe(
      400,
    );
    expect((await send(bench, { path, body: `{"a":"${"x".repeat(5 * 1024 * 1024)}"}` })).status).toBe(413);
  });

  it("--yes counts from a terminal, not from the console", async () => {
    const input = { server: "peer", tool: "write", arguments: { text: "a" }, yes: true };
    expect((await operate("call-tool", input)).json).toMatchObject({
      outcome: "refused",
      code: "approval_needed",
    });
    const typed = await operate("call-tool", input, { "x-portcullis-channel": "terminal" });
    expect(typed.json).toMatchObject({ outcome: "completed", grade: "L2" });
  });

  it("an agent's call waits in the inbox, the console's answer lets it go, and the record says who did [SEC-18]", async () => {
    const call = send(bench, modern("tools/call", { name: "peer__write", arguments: { text: "asked" } }));
    let waiting: JsonObject[] = [];
    while (waiting.length === 0) {
      waiting = (await operate("approvals", {})).json["approvals"] as JsonObject[];
    }
    expect(waiting[0]).toMatchObject({ server: "peer", tool: "write", arguments: { text: "asked" } });
    const answered = await operate("approve", { id: waiting[0]?.["id"] as string });
    expect(answered.json).toMatchObject({ answered: [{ state: "approved" }] });
    expect((await call).json).toMatchObject({
      result: { _meta: { "portcullis/outcome": { effect: "applied" } } },
    });
    const { calls } = (await operate("activity", {})).json as { calls: JsonObject[] };
    const mine = { server: "peer", tool: "write", outcome: "completed", effect: "applied" };
    expect(calls).toContainEqual(expect.objectContaining({ ...mine, approvedBy: expect.any(String) }));
  });

  it("a refusal reaches the agent as a result that says what it may do", async () => {
    const call = send(bench, modern("tools/call", { name: "peer__write", arguments: { text: "no" } }));
    let waiting: JsonObject[] = [];
    while (waiting.length === 0) waiting = (await operate("approvals", {})).json["approvals"] as JsonObject[];
    await operate("deny", { id: waiting[0]?.["id"] as string, reason: "not today" });
    const { result } = (await call).json as { result: { isError: boolean; content: { text: string }[] } };
    expect(result.isError).toBe(true);
    expect(result.content[0]?.text).toContain("approval_denied");
    expect(result.content[0]?.text).toContain("not today");
  });

  it("an operation whose caller leaves is cancelled", async () => {
    const { request: httpRequest } = await import("node:http");
    const input = { server: "peer", tool: "wait", arguments: { ms: 777_777 } };
    const request = httpRequest(`${bench.gateway.url}/api/operations/call-tool`, {
      method: "POST",
      agent: false,
      headers: { authorization: `Bearer ${bench.gateway.tokens.admin}`, "content-type": "application/json" },
    });
    request.on("error", () => undefined);
    request.end(JSON.stringify(input));
    while (!bench.ledger().some((line) => (line["args"] as JsonObject | undefined)?.["ms"] === 777_777)) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    request.destroy();
    while (!bench.ledger().some((line) => line["cancelled"] !== undefined)) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  });
});

it("agents hear when a review gives a changed tool back to them", async () => {
  const own = await openBench();
  const accept = async () =>
    send(own, { path: "/api/operations/review", body: { server: "peer", accept: true } });
  const names = async (): Promise<string[]> => {
    const { result } = (await send(own, modern("tools/list"))).json as { result: { tools: JsonObject[] } };
    return result.tools.map((tool) => tool["name"] as string);
  };
  try {
    expect(await names()).toContain("peer__echo");
    await accept();
    const { request, response } = await start(
      own,
      modern("subscriptions/listen", { notifications: { toolsListChanged: true } }),
    );
    const until = follow(response);
    await until(1);
    await send(own, modern("tools/call", { name: "peer__morph" }));
    await until(2);
    expect(await names()).not.toContain("peer__echo");
    await accept();
    expect((await until(3))[2]).toMatchObject({ method: "notifications/tools/list_changed" });
    expect(await names()).toContain("peer__echo");
    request.destroy();
  } finally {
    await own.close();
  }
});

describe("events", () => {
  it("tell what happens as it happens", async () => {
    const { request, response } = await start(bench, { method: "GET", path: "/api/events" });
    expect(response.headers["content-type"]).toBe("text/event-stream");
    const events = nextEvents(response, 2);
    await operate("call-tool", { server: "peer", tool: "echo", arguments: { text: "seen" } });
    expect(await events).toMatchObject([
      { type: "call.opened", server: "peer", tool: "echo" },
      { type: expect.stringMatching(/^call\./) },
    ]);
    request.destroy();
  });
});

describe("the file by which commands find it", () => {
  it("is ours alone, says who runs, and keeps the tokens over a restart", async () => {
    const own = await openBench();
    const { stateDir } = own;
    expect(statSync(gatewayFilePath(stateDir)).mode & 0o777).toBe(0o600);
    expect(findGateway(stateDir)).toMatchObject({
      pid: process.pid,
      url: own.gateway.url,
      mcpToken: own.gateway.tokens.mcp,
    });
    expect(own.gateway.tokens.mcp).not.toBe(own.gateway.tokens.admin);
    expect(own.gateway.tokens.mcp).toMatch(/^[A-Za-z0-9_-]{43}$/);
    await own.gateway.close();
    expect(findGateway(stateDir)).toBeUndefined();
    expect(readGatewayFile(stateDir)).toMatchObject({ pid: null, mcpToken: own.gateway.tokens.mcp });
    expect(readFileSync(gatewayFilePath(stateDir), "utf8")).toContain(own.gateway.tokens.admin);
    await own.close();
  });

  it("the gateway proves that it is the one of the file, and tells no token", async () => {
    const answer = await send(bench, {
      method: "GET",
      path: "/api/hello?nonce=abc",
      headers: { authorization: undefined },
    });
    expect(answer.json).toEqual({
      service: "portcullis",
      proof: gatewayProof(bench.gateway.tokens.admin, "abc"),
    });
    expect(answer.text).not.toContain(bench.gateway.tokens.admin);
  });
});

/** What a client looks for where it was refused: the gateway has no authorization server. */
const METADATA = "/.well-known/oauth-protected-resource/mcp";

describe("the console's files", () => {
  it("says how to build it where it is not built", async () => {
    const own = await openBench({ consoleDir: join(bench.dir, "nowhere") });
    try {
      const answer = await send(own, { method: "GET", path: "/", headers: { authorization: undefined } });
      expect(answer.status).toBe(503);
      expect(answer.text).toContain("npm run build");
      expect((await send(own, { method: "GET", path: METADATA })).status).toBe(404);
    } finally {
      await own.close();
    }
  });

  it("serves what was built, by its whole path and with its type, and itself for its own routes", async () => {
    const consoleDir = join(bench.dir, "console");
    mkdirSync(join(consoleDir, "assets"), { recursive: true });
    const own = await openBench({ consoleDir });
    const get = async (path: string) =>
      send(own, { method: "GET", path, headers: { authorization: undefined } });
    try {
      expect((await get("/")).status).toBe(503);
      writeFileSync(join(consoleDir, "assets/app-1.js"), "export {};");
      writeFileSync(join(consoleDir, "assets/app-1.css"), "a{}");
      writeFileSync(join(bench.dir, "secret.txt"), "secret");
      symlinkSync(join(bench.dir, "secret.txt"), join(consoleDir, "link.txt"));
      writeFileSync(join(consoleDir, "index.html"), "<!doctype html><title>Console</title>");
      const index = await get("/");
      expect([index.status, index.headers["content-type"], index.headers["cache-control"]]).toEqual([
        200,
        "text/html; charset=utf-8",
        "no-cache",
      ]);
      expect((await get("/servers/github")).text).toBe(index.text);
      const script = await get("/assets/app-1.js");
      expect(script.headers["content-type"]).toBe("text/javascript; charset=utf-8");
      expect(script.headers["cache-control"]).toContain("immutable");
      expect((await get("/assets/app-1.css?x=1")).status).toBe(200);
      for (const path of [
        "/../secret.txt",
        "/..%2fsecret.txt",
        "/%2e%2e/secret.txt",
        "/assets/../../secret.txt",
        "/link.txt",
        "/assets/none.js",
        METADATA,
      ]) {
        const answer = await get(path);
        expect([path, answer.status]).toEqual([path, 404]);
        expect(answer.text).not.toContain("secret\n");
      }
      expect((await send(own, { method: "HEAD", path: "/" })).text).toBe("");
      expect((await send(own, { method: "POST", path: "/", body: "{}" })).status).toBe(405);
    } finally {
      await own.close();
    }
  });
});

/** What a gateway bears from clients that are slow, many, or gone. */
import { connect, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import {
  initialize,
  ledgerLine,
  legacy,
  modern,
  nextEvents,
  openBench,
  readAll,
  send,
  start,
  type BenchOptions,
  type GatewayBench,
} from "../support/gateway-kit.ts";

let bench: GatewayBench;
const open = async (limits: NonNullable<BenchOptions["limits"]>): Promise<GatewayBench> => {
  bench = await openBench({ limits });
  return bench;
};
afterEach(async () => bench.close());

const waitCall = (ms: number): JsonObject => ({ name: "peer__wait", arguments: { ms } });
const waits = (ms: number) => (line: JsonObject) => (line["args"] as JsonObject | undefined)?.["ms"] === ms;

/** Writes `text` and answers with everything that comes back until the end. */
async function raw(text: string, hold: (socket: Socket) => void = () => undefined): Promise<string> {
  const { hostname, port } = new URL(bench.gateway.url);
  const socket = connect(Number(port), hostname);
  socket.write(text);
  hold(socket);
  const chunks: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => chunks.push(chunk));
  await new Promise((resolve) => socket.once("close", resolve).once("error", () => undefined));
  return Buffer.concat(chunks).toString("utf8");
}

describe("time", () => {
  it("a head and a body that never come are answered 408 and dropped", async () => {
    await open({ headTimeoutMs: 200, requestTimeoutMs: 300 });
    expect(await raw("POST /mcp HTTP/1.1\r\nHost: x\r\n")).toContain("408");
    const { host } = new URL(bench.gateway.url);
    const head = `POST /mcp HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${bench.gateway.tokens.mcp}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`;
    expect(await raw(head)).toContain("408");
  });

  it("an answer that takes long becomes an event stream, so that nobody gives up on it", async () => {
    await open({ pulseMs: 50 });
    const { response } = await start(bench, modern("tools/call", waitCall(1_500)));
    // The head came before the answer.
    expect(response.headers["content-type"]).toBe("text/event-stream");
    const answer = await readAll(response);
    expect(answer.events).toHaveLength(1);
    expect(answer.text.split("\n\n").filter((part) => part === ":").length).toBeGreaterThan(2);
    const json = await send(
      bench,
      modern("tools/call", waitCall(400), { headers: { accept: "application/json" } }),
    );
    expect(json.headers["content-type"]).toBe("application/json");
  });

  it("a session that nobody uses is over after a while; one with a stream stays", async () => {
    await open({ sessionTtlMs: 200, pulseMs: 50 });
    const idle = await initialize(bench);
    const listening = await initialize(bench);
    const { request } = await start(bench, { method: "GET", headers: { "mcp-session-id": listening } });
    let status = 200;
    while (status === 200) {
      await new Promise((resolve) => setTimeout(resolve, 400));
      status = (await send(bench, legacy(idle, "ping"))).status;
    }
    expect(status).toBe(404);
    expect((await send(bench, legacy(listening, "ping"))).status).toBe(200);
    request.destroy();
  });
});

describe("number", () => {
  it("requests at once: beyond the cap 503, and room again afterwards", async () => {
    await open({ maxRequests: 2 });
    const pending = [
      start(bench, modern("tools/call", waitCall(900_001))),
      start(bench, modern("tools/call", waitCall(900_002))),
    ];
    await ledgerLine(bench, waits(900_001));
    await ledgerLine(bench, waits(900_002));
    const answer = await send(bench, modern("server/discover"));
    expect(answer.status).toBe(503);
    expect(answer.headers["retry-after"]).toBe("1");
    pending.forEach((one) => void one.catch(() => undefined));
    const closing = bench.gateway.close();
    for (const one of pending) {
      const { response } = await one;
      expect((await readAll(response)).json).toMatchObject({ result: { isError: true } });
    }
    expect(await closing).toEqual({ cutOff: 2 });
  });

  it("sessions: the one that was idle longest makes room, busy ones stay", async () => {
    await open({ maxSessions: 2 });
    const first = await initialize(bench);
    const second = await initialize(bench);
    await send(bench, legacy(first, "ping"));
    const third = await initialize(bench);
    expect((await send(bench, legacy(second, "ping"))).status).toBe(404);
    expect((await send(bench, legacy(first, "ping"))).status).toBe(200);
    const streams = await Promise.all(
      [first, third].map(async (id) => start(bench, { method: "GET", headers: { "mcp-session-id": id } })),
    );
    await expect(initialize(bench)).rejects.toThrow("503");
    for (const { request } of streams) request.destroy();
  });

  it("streams: beyond the cap 503", async () => {
    await open({ maxStreams: 1 });
    const listen = modern("subscriptions/listen", { notifications: { toolsListChanged: true } });
    const { request, response } = await start(bench, listen);
    await nextEvents(response, 1);
    expect((await send(bench, listen)).status).toBe(503);
    expect((await send(bench, modern("server/discover"))).status).toBe(200);
    request.destroy();
  });

  it("a client that takes no event stream cannot listen", async () => {
    await open({});
    const asked = modern("subscriptions/listen", {}, { headers: { accept: "application/json" } });
    expect((await send(bench, asked)).status).toBe(406);
  });
});

describe("size", () => {
  it("a body without a length is bounded as well", async () => {
    await open({ maxBodyBytes: 1_000 });
    const { host } = new URL(bench.gateway.url);
    const head = `POST /mcp HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${bench.gateway.tokens.mcp}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const chunk = `400\r\n${"x".repeat(1_024)}\r\n`;
    expect(await raw(`${head}${chunk}${chunk}0\r\n\r\n`)).toContain("413");
  });

  it("a client that stops reading is let go", async () => {
    await open({ pulseMs: 30 });
    const { host } = new URL(bench.gateway.url);
    const body = JSON.stringify(modern("tools/call", { name: "peer__large" }).body);
    const head = [
      "POST /mcp HTTP/1.1",
      `Host: ${host}`,
      `Authorization: Bearer ${bench.gateway.tokens.mcp}`,
      "Content-Type: application/json",
      "MCP-Protocol-Version: 2026-07-28",
      "Mcp-Method: tools/call",
      "Mcp-Name: peer__large",
      `Content-Length: ${Buffer.byteLength(body)}`,
      "",
      "",
    ].join("\r\n");
    // Pipelined, and never read: what waits fills the socket, and then the gateway ends it.
    const { hostname, port } = new URL(bench.gateway.url);
    const socket = connect(Number(port), hostname);
    socket.pause();
    const ended = new Promise((resolve) => socket.once("error", resolve));
    for (let at = 0; at < 40; at += 1) socket.write(head + body);
    // A socket that is not read notices its end only by writing.
    const writing = setInterval(() => socket.write("\r\n"), 50);
    const error = (await ended) as NodeJS.ErrnoException;
    clearInterval(writing);
    expect(["EPIPE", "ECONNRESET"]).toContain(error.code);
  });
});

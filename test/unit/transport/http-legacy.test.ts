import type { ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import { createManualClock, type ManualClock } from "../../../src/base/manual-clock.ts";
import { event, events, json, legacy, ok, stage, type Seen, type Stage } from "../../support/http-stage.ts";

const tick = { jsonrpc: "2.0", method: "tick" } as const;

/** Moves time on, with a real exchange in between so that what a timer set off has reached the server and come back. */
async function pass(clock: ManualClock, { call }: Stage, seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second += 1) {
    await clock.advance(1000);
    await call("ping");
  }
}

const gets = ({ seen }: Stage): number => seen.filter(({ method }) => method === "GET").length;

describe("sessions [HTTPL-03] [HTTPL-04] [HTTPL-05]", () => {
  it("keeps the id of the handshake, and ends it by DELETE", async () => {
    const staged = await stage(legacy);
    await staged.handshake();
    await staged.call("tools/list");
    await expect.poll(() => gets(staged)).toBe(1);
    expect(await staged.transport.close()).toEqual({ how: "clean" });
    const { seen } = staged;
    expect(seen[0]?.headers["mcp-session-id"]).toBeUndefined();
    for (const { headers } of seen.slice(1)) {
      expect(headers).toMatchObject({ "mcp-session-id": "s-1", "mcp-protocol-version": "2025-11-25" });
    }
    expect(seen.at(-1)?.method).toBe("DELETE");
  });

  it("a 404 to the session fails the call as `session_lost`; the next handshake carries no id, and nothing is ended", async () => {
    let isLost = false;
    const staged = await stage((seen) => {
      if (!isLost || seen.message.method === "initialize") return legacy(seen);
      seen.response.writeHead(404).end();
      return true;
    });
    await staged.handshake();
    isLost = true;
    const ended = await Promise.all([
      staged.call("tools/list"),
      staged.call("tools/list"),
      staged.call("tools/list"),
    ]);
    for (const end of ended)
      expect(end).toMatchObject({ error: { code: "session_lost", data: { status: 404 } } });
    await staged.call("initialize");
    expect(staged.seen.at(-1)?.headers["mcp-session-id"]).toBeUndefined();
    isLost = false;
    expect((await staged.call("tools/list")).kind).toBe("response");
  });

  it("sends no DELETE for a session that the server forgot", async () => {
    const staged = await stage((seen) => {
      if (seen.message.method !== "tools/list") return legacy(seen);
      seen.response.writeHead(404).end();
      return true;
    });
    await staged.handshake();
    await staged.call("tools/list");
    await staged.transport.close();
    expect(staged.seen.map(({ method }) => method)).not.toContain("DELETE");
  });

  it.each([200, 204, 404, 405])("an answer of %d to DELETE is fine", async (status) => {
    const staged = await stage((seen) => {
      if (seen.method !== "DELETE") return legacy(seen);
      seen.response.writeHead(status).end();
      return true;
    });
    await staged.handshake();
    expect(await staged.transport.close()).toEqual({ how: "clean" });
  });

  it("does not wait longer than its limit for DELETE, and says so", async () => {
    const staged = await stage((seen) => seen.method === "DELETE" || legacy(seen), {
      limits: { closeTimeoutMs: 30 },
    });
    await staged.handshake();
    const report = await staged.transport.close();
    expect(report.how).toBe("clean");
    expect(report.detail).toMatch(/^the session was not ended: /);
    await expect.poll(staged.server.openConnections).toBe(0);
  });

  it("notes an unusable id and goes on without", async () => {
    const staged = await stage(({ message, response }) => {
      if (message.id === undefined) return false;
      json(response, 200, ok(message.id), { "mcp-session-id": "a b" });
      return true;
    });
    await staged.handshake();
    await staged.call("tools/list");
    expect(staged.seen.at(-1)?.headers["mcp-session-id"]).toBeUndefined();
    expect(staged.sink.oddities.map(({ kind }) => kind)).toContain("http.session-id");
  });
});

describe("the server stream [HTTPL-07] [HTTPL-15] [FC-28]", () => {
  const streaming =
    (onGet: (response: ServerResponse, seen: Seen) => void) =>
    (seen: Seen): boolean => {
      if (seen.method !== "GET") return legacy(seen);
      onGet(seen.response, seen);
      return true;
    };

  it("is opened after the whole handshake, and brings messages that belong to no request", async () => {
    const question = { jsonrpc: "2.0", id: 1, method: "roots/list" };
    const staged = await stage(streaming((response) => events(response, event(tick) + event(question))));
    await staged.call("initialize");
    staged.transport.settle({ era: "legacy", revision: "2025-11-25" });
    await staged.call("ping");
    expect(gets(staged)).toBe(0);
    await staged.notify("notifications/initialized");
    await staged.sink.until(() => staged.sink.received.length === 4);
    expect(staged.sink.received.slice(2)).toEqual([
      { message: tick, origin: {} },
      { message: question, origin: {} },
    ]);
    const get = staged.seen.find(({ method }) => method === "GET");
    expect(get?.headers).toMatchObject({ accept: "text/event-stream", "mcp-session-id": "s-1" });
    await staged.transport.send({ jsonrpc: "2.0", id: 1, result: { roots: [] } }, {});
    expect(staged.seen.at(-1)?.message).toEqual({ jsonrpc: "2.0", id: 1, result: { roots: [] } });
  });

  it("backs off, goes on from the last event, and gives up after four reconnects without a message", async () => {
    const clock = createManualClock();
    const staged = await stage(
      streaming((response, { headers }) => {
        const isFirst = headers["last-event-id"] === undefined;
        events(response).end(isFirst ? event(tick, "id: e-1\n") : "id: e-2\nretry: 10\ndata:\n\n");
      }),
      { clock },
    );
    await staged.handshake();
    await expect.poll(() => gets(staged)).toBe(1);
    await pass(clock, staged, 30);
    expect(gets(staged)).toBe(5);
    const ids = staged.seen
      .filter(({ method }) => method === "GET")
      .map(({ headers }) => headers["last-event-id"]);
    expect(ids).toEqual([undefined, "e-1", "e-2", "e-2", "e-2"]);
    expect(staged.sink.received.filter(({ message }) => "method" in message)).toHaveLength(1);
  });

  it("real messages keep it going", async () => {
    const clock = createManualClock();
    const staged = await stage(
      streaming((response) => events(response).end(event(tick))),
      { clock },
    );
    await staged.handshake();
    await expect.poll(() => gets(staged)).toBe(1);
    await pass(clock, staged, 30);
    expect(gets(staged)).toBeGreaterThan(10);
  });

  it("a new handshake opens it again, and a lost session ends it", async () => {
    let isLost = false;
    const open = new Set<ServerResponse>();
    const staged = await stage((seen) => {
      if (seen.method === "GET") {
        open.add(events(seen.response));
        seen.response.once("close", () => open.delete(seen.response));
        return true;
      }
      if (!isLost || seen.message.method !== "tools/list") return legacy(seen);
      seen.response.writeHead(404).end();
      return true;
    });
    await staged.handshake();
    await expect.poll(() => open.size).toBe(1);
    isLost = true;
    await staged.call("tools/list");
    await expect.poll(() => open.size).toBe(0);
    await staged.handshake();
    await expect.poll(() => open.size).toBe(1);
    expect(gets(staged)).toBe(2);
  });

  it("holds no call up while its answer does not come", async () => {
    const staged = await stage(streaming(() => undefined));
    await staged.handshake();
    await expect.poll(() => gets(staged)).toBe(1);
    expect((await staged.call("tools/list")).kind).toBe("response");
  });
});

describe("resumption [HTTPL-09] [HTTPL-10] [HTTPL-11]", () => {
  it("takes a stream that ended early up again after `retry`, with the last id, and settles the call", async () => {
    const clock = createManualClock();
    const staged = await stage(
      (seen) => {
        const { method, message, headers, response } = seen;
        if (method === "GET") {
          if (headers["last-event-id"] !== "e-2") return false;
          events(response, event(tick)).end(event(ok(3), "id: e-3\n"));
          return true;
        }
        if (message.method !== "tools/call") return legacy(seen);
        events(response).end(`id: e-1\nretry: 500\ndata:\n\n${event(tick, "id: e-2\n")}`);
        return true;
      },
      { clock },
    );
    await staged.handshake();
    await staged.call("ping");
    const called = staged.call("tools/call");
    await staged.sink.until(() => staged.sink.received.length === 3);
    const resumes = (): number =>
      staged.seen.filter(({ headers }) => headers["last-event-id"] === "e-2").length;
    await expect.poll(() => clock.nextDueInMs()).toBe(500);
    await clock.advance(499);
    expect(resumes()).toBe(0);
    await clock.advance(1);
    expect(await called).toEqual({
      kind: "response",
      message: ok(3),
      origin: { requestId: 3, httpStatus: 200 },
    });
    expect(resumes()).toBe(1);
    expect(staged.sink.received.filter(({ origin }) => origin.requestId === 3)).toHaveLength(3);
  });

  it("ends with the caller's deadline", async () => {
    const clock = createManualClock();
    const staged = await stage(
      (seen) => {
        if (seen.message.method !== "tools/call") return legacy(seen);
        events(seen.response).end("id: e-1\nretry: 60000\ndata:\n\n");
        return true;
      },
      { clock },
    );
    await staged.handshake();
    const abort = new AbortController();
    await staged.transport.send(
      { jsonrpc: "2.0", id: "late", method: "tools/call" },
      { signal: abort.signal },
    );
    await expect.poll(() => clock.pending()).toBe(1);
    abort.abort(new Error("too late"));
    expect(clock.pending()).toBe(0);
    expect(staged.sink.endCount("late")).toBe(0);
  });

  it("is not tried where the server named no event, nor on a modern server [HTTP-35] [HTTP-36]", async () => {
    const staged = await stage((seen) => {
      if (seen.method !== "POST" || seen.message.method !== "tools/call") return legacy(seen);
      events(seen.response).end("id: e-1\nretry: 0\ndata:\n\n");
      return true;
    });
    staged.transport.settle({ era: "modern", revision: "2026-07-28" });
    expect(await staged.call("tools/call")).toMatchObject({
      error: { code: "connection_lost", data: { wasSent: true } },
    });
    expect(gets(staged)).toBe(0);
  });
});

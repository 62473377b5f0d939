import type { ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../src/base/manual-clock.ts";
import { callModern } from "../../support/http-peer.ts";
import { event, events, json, legacy, ok, stage, type Seen } from "../../support/http-stage.ts";

describe("one message, one POST [HTTP-01] [HTTP-02]", () => {
  it("carries the caller's late headers, then those of the protocol, which win", async () => {
    let secret = 0;
    const { seen, call, transport, sink } = await stage(legacy, {
      headers: {
        get Authorization() {
          secret += 1;
          return `Bearer ${secret}`;
        },
        accept: "text/html",
        "mcp-session-id": "mine",
      } as Record<string, string>,
    });
    await call("initialize");
    await transport.send(
      { jsonrpc: "2.0", id: "a", method: "tools/call" },
      { headers: { "mcp-name": "=?base64?4pyT?=" } },
    );
    await sink.ended("a");
    const [first, second] = seen;
    expect(first?.headers["authorization"]).not.toBe(second?.headers["authorization"]);
    expect(second?.headers).toMatchObject({
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      "mcp-name": "=?base64?4pyT?=",
      "mcp-session-id": "s-1",
    });
    expect(second?.message).toEqual({ jsonrpc: "2.0", id: "a", method: "tools/call" });
  });

  it("fails the send where the caller's headers cannot be made; nothing is sent", async () => {
    const { transport, server, sink } = await stage(legacy, {
      get headers(): Record<string, string> {
        throw new Error("the vault is locked");
      },
    });
    await expect(transport.send({ jsonrpc: "2.0", id: 1, method: "ping" }, {})).rejects.toThrow(
      "the vault is locked",
    );
    expect([server.connections(), sink.endCount(1)]).toEqual([0, 0]);
  });

  it("refuses header values that would split the request [FC-26]", async () => {
    const { transport, server } = await stage(legacy);
    const headers = { "mcp-name": "cr\r\nInjected: 1" };
    const sent = transport.send({ jsonrpc: "2.0", id: 1, method: "tools/call" }, { headers });
    await expect(sent).rejects.toMatchObject({ code: "config_invalid", data: { wasSent: false } });
    expect(server.connections()).toBe(0);
  });

  it("sends what may have an effect on no socket that idled for over a second", async () => {
    const clock = createManualClock();
    const { transport, sink, server } = await stage(legacy, { clock });
    const send = async (id: number, mayHaveEffect: boolean): Promise<number> => {
      await transport.send({ jsonrpc: "2.0", id, method: "tools/call" }, { mayHaveEffect });
      await sink.ended(id);
      return server.connections();
    };
    expect(await send(1, true)).toBe(1);
    await clock.advance(1001);
    expect(await send(2, false)).toBe(1);
    await clock.advance(1001);
    expect(await send(3, true)).toBe(2);
    expect(await send(4, true)).toBe(2);
  });

  it("resolves the send at the response head, before the body", async () => {
    let answer: ServerResponse | undefined;
    const { transport, sink } = await stage(({ response }) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.flushHeaders();
      answer = response;
    });
    await transport.send({ jsonrpc: "2.0", id: 1, method: "ping" }, {});
    expect(sink.endCount(1)).toBe(0);
    answer?.end(JSON.stringify(ok(1)));
    expect((await sink.ended(1)).kind).toBe("response");
  });

  it("sends neither notifications, responses, GET nor DELETE to a modern server [HTTP-03] [HTTP-04] [HTTP-36]", async () => {
    const stageOf = await stage(({ message, response }) =>
      json(response, 200, ok(message.id), { "mcp-session-id": "s-1" }),
    );
    await callModern(stageOf, "server/discover");
    stageOf.transport.settle({ era: "modern", revision: "2026-07-28" });
    await stageOf.notify("notifications/initialized");
    await stageOf.transport.send({ jsonrpc: "2.0", id: 9, result: {} }, {});
    await callModern(stageOf, "tools/call", { name: "echo" });
    await stageOf.transport.close();
    expect(stageOf.seen.map(({ method, message }) => `${method} ${message.method}`)).toEqual([
      "POST server/discover",
      "POST tools/call",
    ]);
    expect(stageOf.seen[1]?.headers).toMatchObject({
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
    });
    expect(stageOf.seen[1]?.headers["mcp-session-id"]).toBeUndefined();
  });
});

describe("what comes back", () => {
  it("gives messages of the stream before the response, and tells whose they are", async () => {
    const progress = { jsonrpc: "2.0", method: "notifications/progress", params: { progress: 1 } };
    const question = { jsonrpc: "2.0", id: 1, method: "elicitation/create", params: {} };
    const { call, sink } = await stage(({ message, response }) => {
      events(response, `: hello\n\n${event(progress)}${event(question)}`).end(event(ok(message.id)));
    });
    await call("tools/call");
    const origin = { requestId: 1, httpStatus: 200 };
    expect(sink.received).toEqual([
      { message: progress, origin },
      { message: question, origin },
      { message: ok(1), origin },
    ]);
  });

  it("takes no response from another request's exchange, not even for one in flight [FC-71]", async () => {
    const held: ServerResponse[] = [];
    const { transport, sink } = await stage(({ message, response }) => {
      if (message.id === "victim") held.push(response);
      else events(response).end(event(ok("victim", { stolen: true })));
    });
    const victim = transport.send({ jsonrpc: "2.0", id: "victim", method: "tools/call" }, {});
    await transport.send({ jsonrpc: "2.0", id: "other", method: "tools/call" }, {});
    expect(await sink.ended("other")).toMatchObject({ kind: "failed", error: { code: "protocol_error" } });
    expect(sink.endCount("victim")).toBe(0);
    await sink.until(() => held.length === 1);
    json(held[0] as ServerResponse, 200, ok("victim", { own: true }));
    await victim;
    expect(await sink.ended("victim")).toMatchObject({ message: ok("victim", { own: true }) });
  });

  it.each([
    ["JSON", 200, (response: ServerResponse, error: object) => json(response, 200, error)],
    ["a stream", 200, (response: ServerResponse, error: object) => events(response).end(event(error))],
    ["a 400", 400, (response: ServerResponse, error: object) => json(response, 400, error)],
    ["a 404", 404, (response: ServerResponse, error: object) => json(response, 404, error)],
  ] as const)(
    "an error without an id in %s answers the request it came for",
    async (_title, httpStatus, answer) => {
      const error = { code: -32600, message: "no" };
      for (const id of [undefined, null]) {
        const { call } = await stage(({ response }) => answer(response, { jsonrpc: "2.0", id, error }));
        expect(await call("tools/list")).toEqual({
          kind: "response",
          message: { jsonrpc: "2.0", id: 1, error },
          origin: { requestId: 1, httpStatus },
        });
      }
    },
  );

  it("passes a second response on the same exchange over", async () => {
    const { call, sink } = await stage(({ message, response }) => {
      events(response).end(event(ok(message.id)) + event(ok(message.id)));
    });
    await call("ping");
    await sink.until(() => sink.oddities.length === 1);
    expect([sink.endCount(1), sink.oddities[0]?.kind]).toEqual([1, "http.second-response"]);
  });

  it.each([
    ["204 without a body", 204, ""],
    ["202 without a body", 202, ""],
    ["200 without a body", 200, ""],
    ["200 with text", 200, "ok"],
  ])("%s to a request fails at once", async (_title, status, body) => {
    const { call } = await stage(({ response }) => response.writeHead(status).end(body));
    expect(await call("ping")).toMatchObject({
      kind: "failed",
      error: { code: "protocol_error", data: { status, wasSent: true } },
    });
  });

  it("ends a stream that goes on after its response, a second later", async () => {
    const clock = createManualClock();
    let isClosed = false;
    const { call, server } = await stage(
      ({ message, response }) => {
        response.once("close", () => {
          isClosed = true;
        });
        events(response, event(ok(message.id)));
      },
      { clock },
    );
    await call("ping");
    expect(isClosed).toBe(false);
    await clock.advance(1000);
    await expect.poll(() => isClosed).toBe(true);
    await expect.poll(server.openConnections).toBe(0);
  });
});

describe("bounds", () => {
  const limits = { messageBytes: 100_000 };
  const large = "x".repeat(200_000);
  it.each<[string, (seen: Seen) => void]>([
    ["a JSON body", ({ message, response }) => json(response, 200, ok(message.id, { large }))],
    ["an event", ({ message, response }) => events(response).end(event(ok(message.id, { large })))],
    ["an event without end", ({ response }) => events(response, `data: ${large}`)],
    [
      "a small body that decompresses to a large one",
      ({ message, response }) => {
        const body = gzipSync(JSON.stringify(ok(message.id, { large })));
        response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" }).end(body);
      },
    ],
  ])("%s over the cap ends the request with `message_too_large`", async (_title, answer) => {
    const { call, server } = await stage(answer, { limits });
    expect(await call("ping")).toMatchObject({ kind: "failed", error: { code: "message_too_large" } });
    await expect.poll(server.openConnections).toBeLessThanOrEqual(1);
  });

  it("cuts what is nested too deeply, and keeps the rest", async () => {
    const deep = JSON.parse("[".repeat(2000) + "]".repeat(2000)) as unknown;
    const { call } = await stage(({ message, response }) =>
      json(response, 200, ok(message.id, { deep, a: 1 })),
    );
    const answer = await call("ping");
    expect(answer).toMatchObject({ kind: "response", message: { result: { a: 1 } } });
    expect(JSON.stringify(answer)).toContain("[null]");
  });

  it("takes endless streams of small events", async () => {
    const { call, sink } = await stage(
      ({ message, response }) => {
        events(response);
        for (let at = 0; at < 50; at += 1)
          response.write(event({ jsonrpc: "2.0", method: "tick", params: { text: "x".repeat(5000) } }));
        response.end(event(ok(message.id)));
      },
      { limits },
    );
    expect((await call("ping")).kind).toBe("response");
    expect(sink.received).toHaveLength(51);
  });

  it("never shows more than 200 characters of a body in an error", async () => {
    const { call } = await stage(
      ({ headers, response }) => response.writeHead(400).end(JSON.stringify(headers).repeat(50)),
      {
        headers: { "x-api-key": "k".repeat(3000) },
      },
    );
    const ended = await call("ping");
    if (ended.kind !== "failed") throw new Error("a failure was expected");
    expect(ended.error.message.length).toBeLessThan(320);
    expect(JSON.stringify(ended.error.data).length).toBeLessThan(200);
  });

  it("does not wait for the end of an error's text", async () => {
    const clock = createManualClock();
    const { call, server } = await stage(({ response }) => response.writeHead(401).write("who are"), {
      clock,
    });
    const ended = call("ping");
    await expect.poll(server.connections).toBe(1);
    await expect
      .poll(async () => {
        await clock.advance(5000);
        return clock.pending();
      })
      .toBe(0);
    expect(await ended).toMatchObject({ error: { code: "auth_required" } });
  });
});

describe("giving up", () => {
  const reason = new Error("no longer wanted");

  it("before the head: the send rejects, the exchange is closed, nothing is reported", async () => {
    let isClosed = false;
    const { transport, sink, seen } = await stage(({ response }) => {
      response.once("close", () => {
        isClosed = true;
      });
    });
    const abort = new AbortController();
    const sent = transport.send({ jsonrpc: "2.0", id: 1, method: "tools/call" }, { signal: abort.signal });
    await expect.poll(() => seen.length).toBe(1);
    abort.abort(reason);
    await expect(sent).rejects.toBe(reason);
    await expect.poll(() => isClosed).toBe(true);
    expect(sink.endCount(1)).toBe(0);
  });

  it("while the stream is open: it is closed, nothing is reported", async () => {
    let isClosed = false;
    const { transport, sink } = await stage(({ response }) => {
      events(response, ": soon\n\n").once("close", () => {
        isClosed = true;
      });
    });
    const abort = new AbortController();
    await transport.send({ jsonrpc: "2.0", id: 1, method: "tools/call" }, { signal: abort.signal });
    abort.abort(reason);
    await expect.poll(() => isClosed).toBe(true);
    expect([sink.endCount(1), sink.ends.length]).toEqual([0, 0]);
  });
});

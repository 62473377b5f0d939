/** The outside field servers with odd streams and bodies, at the level of the transport. */
import { expect, it } from "vitest";
import { createManualClock } from "../../src/base/manual-clock.ts";
import { describeField } from "../support/field.ts";
import { callerFor, ERAS, inShort, startField } from "../support/http-field.ts";

describeField("fc28-get-variants", () => {
  it.each<[string, number]>([
    ["405", 1],
    ["404", 1],
    ["401", 1],
    ["204", 1],
    ["html", 1],
    ["json", 1],
    ["text", 1],
    ["redirect", 1],
    ["hang", 1],
    ["sse-idle", 1],
    ["429", 5],
    ["500", 5],
    ["sse-eof", 5],
    ["sse-priming-eof", 5],
  ])("%s: %d GETs in half a minute, and calls work all the time", async (mode, count) => {
    const clock = createManualClock();
    const peer = await startField("fc28-get-variants", { MODE: mode, ERA: "legacy" }, { clock });
    const call = await callerFor("legacy", peer);
    for (let second = 0; second < 30; second += 1) {
      expect(inShort(await call("echo"))).toBe("ok");
      await clock.advance(1000);
    }
    expect((await peer.server.report()).counters["GET /mcp"]).toBe(count);
  });

  it("a modern server gets none [HTTP-36]", async () => {
    const clock = createManualClock();
    const peer = await startField("fc28-get-variants", { MODE: "sse-eof", ERA: "modern" }, { clock });
    const call = await callerFor("modern", peer);
    for (let second = 0; second < 5; second += 1) {
      expect(inShort(await call("echo"))).toBe("ok");
      await clock.advance(1000);
    }
    expect((await peer.server.report()).counters["GET /mcp"]).toBeUndefined();
  });
});

describeField("fc30-sse-no-response", () => {
  const MODES = ["eof", "comment", "progress", "half-event", "reset", "wrong-id", "no-headers"] as const;
  for (const era of ERAS) {
    it.each(MODES)(
      `${era}, %s: fails at once, is sent once, and the next call works [HTTP-35]`,
      async (mode) => {
        const peer = await startField("fc30-sse-no-response", { MODE: mode, ERA: era });
        const call = await callerFor(era, peer);
        for (const name of ["effect", "read"]) {
          const ended = await call(name);
          const code = mode === "wrong-id" ? "protocol_error" : "connection_lost";
          expect(ended).toMatchObject({ kind: "failed", error: { code, data: { wasSent: true } } });
        }
        expect(inShort(await call("echo"))).toBe("ok");
        const { counters, extra } = await peer.server.report();
        expect([counters["effects"], counters["rpc:tools/call"], (extra["ids"] as unknown[]).length]).toEqual(
          [1, 3, 2],
        );
        if (mode === "progress") {
          const notes = peer.sink.received.filter(({ message }) => "method" in message);
          expect(notes.map(({ origin }) => origin.requestId)).toEqual(extra["ids"]);
        }
      },
    );
  }

  it("legacy, priming: the stream is resumed and the answer comes [HTTPL-11]", async () => {
    const peer = await startField("fc30-sse-no-response", { MODE: "priming", ERA: "legacy" });
    const call = await callerFor("legacy", peer);
    const ended = await call("effect");
    expect(ended).toMatchObject({ message: { result: { content: [{ text: "after resume" }] } } });
    const { counters, extra } = await peer.server.report();
    expect([counters["effects"], extra["lastEventId"]]).toEqual([1, "ev-1"]);
  });

  it("legacy, priming-forever: bounded, then it fails", async () => {
    const peer = await startField("fc30-sse-no-response", { MODE: "priming-forever", ERA: "legacy" });
    await peer.call("initialize", {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "t", version: "1" },
    });
    peer.transport.settle({ era: "legacy", revision: "2025-11-25" });
    const ended = await peer.call("tools/call", { name: "effect", arguments: {} });
    expect(inShort(ended)).toBe("connection_lost");
    expect((await peer.server.report()).counters).toMatchObject({ effects: 1, "GET /mcp": 4 });
  });

  it("modern, priming: nothing is resumed [HTTP-36]", async () => {
    const peer = await startField("fc30-sse-no-response", { MODE: "priming", ERA: "modern" });
    const call = await callerFor("modern", peer);
    expect(inShort(await call("effect"))).toBe("connection_lost");
    expect((await peer.server.report()).counters["GET /mcp"]).toBeUndefined();
  });
});

describeField("fc36-content-types", () => {
  const FINE = [
    "json",
    "none",
    "text-plain",
    "charset",
    "upper",
    "bom",
    "latin1",
    "octet",
    "sse",
    "array",
    "spaces",
    "json-202",
  ];
  const FAILING: readonly (readonly [string, string, RegExp])[] = [
    ["problem", "protocol_error", /answered 200 with `application\/problem\+json`.*typed/],
    ["sse-as-json", "protocol_error", /answered 200 with `application\/json`.*event: message/],
    ["json-as-sse", "protocol_error", /answered 200 with `text\/event-stream`.*jsonrpc/],
    ["no-result", "protocol_error", /answered 200 with `application\/json`.*jsonrpc/],
    ["wrong-id", "protocol_error", /answered 200 with `application\/json`.*other/],
    ["empty", "protocol_error", /answered 200 with `application\/json`/],
    ["html", "protocol_error", /answered 200 with `text\/html; charset=utf-8`.*<!doctype html>/],
    ["html-401", "auth_required", /answered 401 with `text\/html`.*<h1>401/],
    ["json-500", "http_error", /answered 500 with `application\/json`.*jsonrpc/],
    ["text-error", "protocol_error", /answered 200 with `text\/plain`.*upstream timed out/],
    ["truncated", "protocol_error", /answered 200 with `application\/json`.*jsonrpc/],
    ["nan", "protocol_error", /answered 200 with `application\/json`.*NaN/],
  ];
  for (const era of ERAS) {
    it(`${era}: odd labels work, wrong bodies fail at once with what they were`, async () => {
      const peer = await startField("fc36-content-types", { ERA: era });
      const call = await callerFor(era, peer);
      for (const how of FINE) {
        expect([how, await call("as", { how })]).toMatchObject([
          how,
          { message: { result: { content: [{ text: "typed" }] } } },
        ]);
      }
      for (const [how, code, message] of FAILING) {
        const ended = await call("as", { how });
        if (ended.kind !== "failed") throw new Error(`${how} was expected to fail`);
        expect([how, ended.error.code]).toEqual([how, code]);
        expect(ended.error.message).toMatch(message);
        // eslint-disable-next-line no-control-regex
        expect(ended.error.message).not.toMatch(/[\u0000-\u001f]/);
        expect(inShort(await call("echo"))).toBe("ok");
      }
    });
  }
});

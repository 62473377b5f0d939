/** The outside field servers that refuse, forget or redirect, at the level of the transport. */
import { expect, it } from "vitest";
import { describeField } from "../support/field.ts";
import { callerFor, inShort, startField } from "../support/http-field.ts";
import { callModern } from "../support/http-peer.ts";

describeField("fc20-http-legacy-400", () => {
  it.each<[string, string]>([
    ["400-rpc", "rpc -32600 in 400"],
    ["400-32000", "rpc -32000 in 400"],
    ["400-32602", "rpc -32602 in 400"],
    ["400-32601", "rpc -32601 in 400"],
    ["400-text", "http_error"],
    ["400-html", "http_error"],
    ["400-empty", "http_error"],
    ["400-id-null", "rpc -32000 in 400"],
    ["404", "http_error"],
    ["405", "http_error"],
    ["406", "http_error"],
    ["415", "http_error"],
    ["422", "http_error"],
    ["500", "http_error"],
    ["200-rpc", "rpc -32601 in 200"],
    ["200-empty", "protocol_error"],
    ["401", "auth_required"],
    ["403", "auth_required"],
    ["version-400", "http_error"],
  ])("%s: the probe ends at once as %s", async (mode, expected) => {
    const peer = await startField("fc20-http-legacy-400", { MODE: mode });
    const ended = await callModern(peer, "server/discover");
    expect(inShort(ended)).toBe(expected);
    if (ended.kind === "failed") expect(ended.error.data["status"]).toBe(Number(/\d{3}/.exec(mode)?.[0]));
    if (mode === "401" && ended.kind === "failed")
      expect(ended.error.data["wwwAuthenticate"]).toBe('Bearer realm="x"');
    if (mode === "version-400") return;
    await peer.handshake();
    expect(inShort(await peer.call("tools/list"))).toBe("ok");
  });

  it("hang: ends with the caller's signal, and the handshake works", async () => {
    const peer = await startField("fc20-http-legacy-400", { MODE: "hang" });
    const signal = AbortSignal.timeout(50);
    const meta = { "io.modelcontextprotocol/protocolVersion": "2026-07-28" };
    const probe = {
      jsonrpc: "2.0" as const,
      id: "probe",
      method: "server/discover",
      params: { _meta: meta },
    };
    await expect(peer.transport.send(probe, { signal })).rejects.toMatchObject({ name: "TimeoutError" });
    await peer.handshake();
    expect(inShort(await peer.call("tools/list"))).toBe("ok");
  });
});

describeField("fc26-header-values", () => {
  it("mirrored headers arrive as they were made, and nothing splits a request [HTTP-12] [HTTP-20]", async () => {
    const peer = await startField("fc26-header-values", { ERA: "modern" });
    peer.transport.settle({ era: "modern", revision: "2026-07-28" });
    const encode = (text: string): string => `=?base64?${Buffer.from(text).toString("base64")}?=`;
    const meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    for (const name of ["echo", "天気", " lead", "trail ", "=?base64?QUJD?=", "cr\r\nInjected: 1"]) {
      const header = name === "echo" ? name : encode(name);
      const headers = { "mcp-method": "tools/call", "mcp-name": header };
      expect(inShort(await peer.call("tools/call", { name, arguments: {}, _meta: meta }, { headers }))).toBe(
        "ok",
      );
    }
    const raw = { headers: { "mcp-method": "tools/call", "mcp-name": "cr\r\nInjected: 1" } };
    await expect(peer.call("tools/call", { _meta: meta }, raw)).rejects.toMatchObject({
      code: "config_invalid",
    });
    const { counters } = await peer.server.report();
    expect([counters["mismatch"] ?? 0, counters["injected"] ?? 0]).toEqual([0, 0]);
  });
});

describeField("fc27-session-expiry", () => {
  it.each<[string, string, number]>([
    ["404", "session_lost", 404],
    ["404-rpc", "session_lost", 404],
    ["400", "session_lost", 400],
    ["410", "session_lost", 410],
    ["503", "http_error", 503],
    ["404-always", "session_lost", 404],
  ])(
    "%s: what a dead session gets is %s, for all calls at once, and a new handshake carries no id",
    async (mode, code, status) => {
      const peer = await startField("fc27-session-expiry", { MODE: mode, ERA: "legacy" });
      const call = await callerFor("legacy", peer);
      expect([inShort(await call("add_one")), inShort(await call("add_one"))]).toEqual(["ok", "ok"]);
      for (const ended of await Promise.all([call("add_one"), call("add_one"), call("add_one")])) {
        expect(ended).toMatchObject({ kind: "failed", error: { code, data: { status } } });
      }
      const again = await peer.call("initialize", {
        protocolVersion: "2025-11-25",
        capabilities: {},
        clientInfo: { name: "t", version: "1" },
      });
      expect(inShort(again)).toBe(mode === "404-always" ? "http_error" : "ok");
      if (mode !== "404-always") expect(inShort(await call("add_one"))).toBe("ok");
      const { counters } = await peer.server.report();
      expect(counters["init-with-session"] ?? 0).toBe(0);
      expect(counters["effects"]).toBe(mode === "404-always" ? 2 : 3);
    },
  );

  it("200-sse-error: the error is a message like any other", async () => {
    const peer = await startField("fc27-session-expiry", {
      MODE: "200-sse-error",
      ERA: "legacy",
      CALLS: "0",
    });
    const call = await callerFor("legacy", peer);
    expect(inShort(await call("echo"))).toBe("rpc -32001 in 200");
  });

  it("dead-at-init: each call ends as `session_lost`", async () => {
    const peer = await startField("fc27-session-expiry", { MODE: "dead-at-init", ERA: "legacy" });
    const call = await callerFor("legacy", peer);
    for (let round = 0; round < 3; round += 1) {
      expect(inShort(await call("echo"))).toBe("session_lost");
      await peer.handshake();
    }
  });
});

describeField("fc38-retry-side-effects", () => {
  it.each<[string, string, number | undefined]>([
    ["429", "rate_limited", 1000],
    ["429-day", "rate_limited", 86_400_000],
    ["429-neg", "rate_limited", undefined],
    ["429-junk", "rate_limited", undefined],
    ["429-none", "rate_limited", undefined],
    ["503", "http_error", 1000],
    ["502-html", "http_error", undefined],
    ["500-rpc", "rpc -32603 in 500", undefined],
    ["reset-before", "connection_lost", undefined],
    ["reset-after", "connection_lost", undefined],
  ])("%s: %s, nothing is repeated here", async (mode, expected, retryAfterMs) => {
    const peer = await startField("fc38-retry-side-effects", { MODE: mode });
    const call = await callerFor("modern", peer);
    const ended = await call("pay");
    expect(inShort(ended)).toBe(expected);
    if (ended.kind === "failed") {
      expect(ended.error.data["retryAfterMs"]).toBe(retryAfterMs);
      expect(ended.error.data["wasSent"]).toBe(true);
    }
    const { counters } = await peer.server.report();
    expect(counters["rpc:tools/call"]).toBe(1);
    expect(counters["effect:pay"] ?? 0).toBe(mode === "reset-after" ? 1 : 0);
  });

  it("429-date: the date is told as a wait", async () => {
    const peer = await startField("fc38-retry-side-effects", { MODE: "429-date" });
    const call = await callerFor("modern", peer);
    const ended = await call("pay");
    if (ended.kind !== "failed") throw new Error("a failure was expected");
    expect(ended.error.data["retryAfterMs"]).toBeGreaterThan(0);
    expect(ended.error.data["retryAfterMs"]).toBeLessThanOrEqual(2000);
  });
});

describeField("fc41-redirect-leak", () => {
  const headers = { authorization: "Bearer s3cret-token", "x-api-key": "s3cret-key", cookie: "a=s3cret" };

  it.each([
    "307",
    "301",
    "302",
    "303",
    "308",
    "same-302",
    "loop",
    "chain",
    "metadata",
    "file",
    "scheme-relative",
    "userinfo",
    "no-location",
  ])("%s: refused, and the canary sees nothing [SEC-04]", async (mode) => {
    const peer = await startField("fc41-redirect-leak", { MODE: mode }, { headers });
    const call = await callerFor("modern", peer);
    const ended = await call("echo", { text: "argument" });
    const { extra } = await peer.server.report();
    expect(ended).toMatchObject({ kind: "failed", error: { code: "egress_denied" } });
    if (ended.kind !== "failed") return;
    const canary = `http://127.0.0.1:${String(extra["canary"])}`;
    const own = peer.server.url.origin;
    const targets: Record<string, string | undefined> = {
      "same-302": own,
      loop: own,
      chain: own,
      metadata: "http://169.254.169.254",
      file: "file:",
      "no-location": undefined,
    };
    expect(ended.error.data["target"]).toBe(mode in targets ? targets[mode] : canary);
    expect(`${ended.error.message} ${JSON.stringify(ended.error.data)}`).not.toMatch(/s3cret|argument/);
    expect(extra["seen"]).toEqual([]);
  });

  it("same-307: followed once, with method, body and headers", async () => {
    const peer = await startField("fc41-redirect-leak", { MODE: "same-307" }, { headers });
    const call = await callerFor("modern", peer);
    expect(inShort(await call("echo"))).toBe("ok");
    const { counters } = await peer.server.report();
    expect([counters["POST /mcp"], counters["POST /mcp2"]]).toEqual([1, 1]);
  });

  it.each(["after-init", "get-only"])("%s: neither a call nor the server stream leads away", async (mode) => {
    const peer = await startField("fc41-redirect-leak", { MODE: mode, ERA: "legacy" }, { headers });
    const call = await callerFor("legacy", peer);
    expect(inShort(await call("echo"))).toBe(mode === "after-init" ? "egress_denied" : "ok");
    await expect.poll(async () => (await peer.server.report()).counters["GET /mcp"]).toBe(1);
    expect((await peer.server.report()).extra["seen"]).toEqual([]);
  });

  it("echo-headers: at most 200 characters of the body come into the error", async () => {
    const peer = await startField("fc41-redirect-leak", { MODE: "echo-headers" }, { headers });
    const ended = await callModern(peer, "server/discover");
    if (ended.kind !== "failed") throw new Error("a failure was expected");
    expect(ended.error.code).toBe("http_error");
    expect(ended.error.message.length).toBeLessThan(320);
    expect(Object.keys(ended.error.data).toSorted()).toEqual(["status", "wasSent"]);
  });
});

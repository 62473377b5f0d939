/** The client over Streamable HTTP against the outside servers that misbehave on the level of the protocol. */
import { afterEach, describe, expect, it } from "vitest";
import type { Client } from "../../src/client/client.ts";
import { connectHttp } from "../../src/client/connect-http.ts";
import type { ClientEvent } from "../../src/client/events.ts";
import type { ConnectOptions } from "../../src/client/options.ts";
import { errorOf } from "../support/client-setup.ts";
import { describeField, fieldServer } from "../support/field.ts";
import { startScriptServer, type ScriptServer } from "../support/local-http.ts";

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function serve(name: string, env: Record<string, string>): Promise<ScriptServer> {
  const server = await startScriptServer(fieldServer(name), env);
  ends.push(server.close);
  return server;
}

async function connect(server: ScriptServer, options: Partial<ConnectOptions> = {}): Promise<Client> {
  const client = await connectHttp(
    { url: server.url, allowPrivateAddresses: true },
    { clientInfo: { name: "test", version: "1" }, ...options },
  );
  ends.push(() => client.close());
  return client;
}

interface Report {
  readonly counters: Readonly<Record<string, number>>;
  readonly extra: { readonly ids?: readonly unknown[] };
}

async function report(server: ScriptServer): Promise<Report> {
  return (await (await fetch(new URL("/__report", server.url))).json()) as Report;
}

const textOf = (result: { content: readonly object[] }): string =>
  (result.content[0] as { text?: string } | undefined)?.text ?? "";

describeField("fc20-http-legacy-400", () => {
  const falls = [
    "400-rpc",
    "400-32000",
    "400-32602",
    "400-32601",
    "400-text",
    "400-html",
    "400-empty",
    "400-id-null",
    "404",
    "405",
    "406",
    "415",
    "422",
    "200-rpc",
    "200-empty",
  ];
  it.each(falls)("%s: one probe, one initialize, then it works [VER-10] [VER-12]", async (MODE) => {
    const server = await serve("fc20-http-legacy-400", { MODE });
    const client = await connect(server);
    expect(client.facts).toMatchObject({ era: "legacy", verdictIsCertain: true });
    expect(textOf(await client.callTool("echo", { text: "x" }))).toContain("x");
    expect((await report(server)).counters).toMatchObject({ "rpc:server/discover": 1, "rpc:initialize": 1 });
  });

  it("version-400: one more initialize with a lower version", async () => {
    const server = await serve("fc20-http-legacy-400", { MODE: "version-400" });
    const client = await connect(server);
    expect(client.facts).toMatchObject({ era: "legacy", revision: "2025-06-18" });
    expect((await report(server)).counters).toMatchObject({ "rpc:server/discover": 1, "rpc:initialize": 2 });
  });

  it.each([
    ["401", "auth_required"],
    ["403", "auth_required"],
    ["500", "http_error"],
  ] as const)("%s: %s, and no initialize", async (MODE, code) => {
    const server = await serve("fc20-http-legacy-400", { MODE });
    expect((await errorOf(connect(server))).code).toBe(code);
    expect((await report(server)).counters).not.toHaveProperty("rpc:initialize");
  });

  it("hang: bounded, and no initialize", async () => {
    const server = await serve("fc20-http-legacy-400", { MODE: "hang" });
    expect((await errorOf(connect(server, { limits: { handshakeMs: 500 } }))).code).toBe("connect_timeout");
    expect((await report(server)).counters).not.toHaveProperty("rpc:initialize");
  });

  it("is not probed again where the era is remembered", async () => {
    const server = await serve("fc20-http-legacy-400", {});
    await connect(server, { eraHint: "legacy" });
    expect((await report(server)).counters).not.toHaveProperty("rpc:server/discover");
  });
});

describeField("fc26-header-values", () => {
  it("offers the valid tools only, and calls each under its odd name [HTTP-12] [HTTP-28]", async () => {
    const server = await serve("fc26-header-values", {});
    const client = await connect(server);
    const { items, findings } = await client.list("tools");
    const names = items.map((tool) => tool.name);
    expect(names.filter((name) => name.startsWith("bad_"))).toEqual([]);
    expect(findings.filter((finding) => finding.rule === "catalog.bad-header")).toHaveLength(5);
    for (const name of names) {
      expect(JSON.parse(textOf(await client.callTool(name, {})))).toMatchObject(
        name === "echo" ? {} : { name },
      );
    }
    expect((await report(server)).counters).not.toHaveProperty("injected");
    expect((await report(server)).counters).not.toHaveProperty("mismatch");
  });

  it("mirrors every kind of value as it is [HTTP-14] [HTTP-19] [HTTP-20]", async () => {
    const server = await serve("fc26-header-values", {});
    const client = await connect(server);
    await client.list("tools");
    for (const region of ["Ωmega", "x\r\nInjected: 1", "=?base64?QUJD?=", "", " a ", "plain", null]) {
      for (const [count, flag] of [
        [42, true],
        [-1, false],
        [null, null],
      ] as const) {
        const args = { region, count, flag, note: "not mirrored" };
        const { headers } = JSON.parse(textOf(await client.callTool("with_header", args))) as {
          headers: Record<string, string>;
        };
        expect(headers).toEqual({
          ...(region === null ? {} : { "mcp-param-region": region }),
          ...(count === null ? {} : { "mcp-param-count": String(count) }),
          ...(flag === null ? {} : { "mcp-param-flag": String(flag) }),
        });
      }
    }
    expect((await report(server)).counters).not.toHaveProperty("mismatch");
  });

  it("calls without a list: the mismatch leads to one list and one more try [HTTP-30] [HTTP-32]", async () => {
    const server = await serve("fc26-header-values", {});
    const client = await connect(server);
    await client.callTool("with_header", { region: "a" });
    const { counters } = await report(server);
    expect(counters).toMatchObject({ mismatch: 1, "rpc:tools/list": 1, "rpc:tools/call": 2 });
  });
});

describeField("fc27-session-expiry", () => {
  for (const MODE of ["404", "404-rpc"]) {
    it(`${MODE}: one new session for all, without the old id, and every effect once [HTTPL-04]`, async () => {
      const server = await serve("fc27-session-expiry", { MODE });
      const events: ClientEvent[] = [];
      const client = await connect(server, { eraHint: "legacy", onEvent: (event) => events.push(event) });
      let applied = 0;
      for (let call = 0; call < 6; call += 1) {
        await client.callTool("add_one", {});
        applied += 1;
      }
      // The session is dead for all of these; some may meet a second death, which one request does not survive.
      const together = await Promise.allSettled(
        Array.from({ length: 2 }, () => client.callTool("add_one", {})),
      );
      applied += together.filter((one) => one.status === "fulfilled").length;
      const { counters } = await report(server);
      expect(counters["effects"]).toBe(applied);
      expect(together.every((one) => one.status === "fulfilled")).toBe(true);
      expect(counters).not.toHaveProperty("init-with-session");
      expect(counters["rpc:initialize"]).toBe(4);
      expect(events.filter((event) => event.type === "session.renewed")).toHaveLength(3);
    });
  }

  for (const MODE of ["400", "410", "503", "200-sse-error"]) {
    it(`${MODE}: the write that met it fails and is not repeated, the next one works`, async () => {
      const server = await serve("fc27-session-expiry", { MODE });
      const client = await connect(server, { eraHint: "legacy" });
      await client.callTool("add_one", {});
      await client.callTool("add_one", {});
      const error = await errorOf(client.callTool("add_one", {}));
      expect(error.data).toMatchObject({ wasSent: true });
      await client.callTool("add_one", {});
      const { counters } = await report(server);
      expect(counters).toMatchObject({ effects: 3, "rpc:initialize": 2 });
      expect(counters).not.toHaveProperty("init-with-session");
    });
  }

  it("404-always: ends after one more initialize, for everybody", async () => {
    const server = await serve("fc27-session-expiry", { MODE: "404-always", CALLS: "0" });
    const events: ClientEvent[] = [];
    const client = await connect(server, { eraHint: "legacy", onEvent: (event) => events.push(event) });
    // Whoever was still in flight when the client ended cannot know that its answer was on the way; nobody hangs.
    const errors = await Promise.all(
      Array.from({ length: 5 }, () => errorOf(client.callTool("add_one", {}))),
    );
    expect(errors.some((error) => error.data["provesNoEffect"] === true)).toBe(true);
    const { counters } = await report(server);
    expect(counters["rpc:initialize"]).toBeLessThanOrEqual(3);
    expect(counters).not.toHaveProperty("effects");
    expect(events.at(-1)).toMatchObject({ type: "closed" });
  });

  it("dead-at-init: each call ends after one more initialize", async () => {
    const server = await serve("fc27-session-expiry", { MODE: "dead-at-init" });
    const client = await connect(server, { eraHint: "legacy" });
    expect((await errorOf(client.callTool("add_one", {}))).code).toBe("session_lost");
    const { counters } = await report(server);
    expect(counters["rpc:initialize"]).toBeLessThanOrEqual(3);
    expect(counters).not.toHaveProperty("effects");
  });
});

describeField("fc30-sse-no-response", () => {
  describe.each(["modern", "legacy"] as const)("%s", (ERA) => {
    for (const MODE of ["eof", "comment", "progress", "half-event", "reset", "wrong-id", "no-headers"]) {
      it(`${MODE}: broken stream with a write in flight fails at once, sent once, effect unknown [HTTP-35]`, async () => {
        const server = await serve("fc30-sse-no-response", { MODE, ERA });
        const client = await connect(server);
        expect(client.facts?.era).toBe(ERA);
        const startedMs = performance.now();
        const error = await errorOf(client.callTool("effect", {}));
        expect(performance.now() - startedMs).toBeLessThan(5_000);
        expect(["connection_lost", "protocol_error"]).toContain(error.code);
        expect(error.data).toMatchObject({ wasSent: true, provesNoEffect: false });
        expect(textOf(await client.callTool("echo", { text: "still" }))).toContain("still");
        const { counters, extra } = await report(server);
        expect(counters["effects"]).toBe(1);
        expect(extra.ids).toHaveLength(1);
      });
    }
  });

  it("priming: a legacy stream that named an event id is resumed [HTTPL-11]", async () => {
    const server = await serve("fc30-sse-no-response", { MODE: "priming", ERA: "legacy" });
    const client = await connect(server);
    expect(textOf(await client.callTool("effect", {}))).toBe("after resume");
    expect((await report(server)).counters["effects"]).toBe(1);
  });

  it("priming-forever: bounded", async () => {
    const server = await serve("fc30-sse-no-response", { MODE: "priming-forever", ERA: "legacy" });
    const client = await connect(server);
    expect((await errorOf(client.callTool("effect", {}, { idleTimeoutMs: 8_000 }))).data).toMatchObject({
      wasSent: true,
    });
    const { counters } = await report(server);
    expect(counters["effects"]).toBe(1);
    expect(counters["GET /mcp"]).toBeLessThan(20);
  });
});

import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import type { Host } from "../../src/host/api.ts";
import { openHost } from "../../src/host/host.ts";
import type { Outcome } from "../../src/host/outcome.ts";
import { openSqliteStore } from "../../src/store/sqlite.ts";
import { systemClock } from "../../src/base/clock.ts";
import { systemRandom } from "../../src/base/random.ts";
import type { HostEvent } from "../../src/telemetry/events.ts";
import { describeField, fieldServer } from "../support/field.ts";
import { startLocalServer, startScriptServer, type ScriptServer } from "../support/local-http.ts";

const TOKEN = "egress-Token-7hQ2xV9mKp4Zt8";
const API_KEY = "egress-ApiKey-3nW6yB1cRf5Ld0";
const ARGUMENT = "an argument that only the server may get 81726354";

let dir: string;
let host: Host | undefined;
let server: ScriptServer | undefined;
const events: HostEvent[] = [];

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "portcullis-egress-"));
  events.length = 0;
});
afterEach(async () => {
  await host?.close();
  await server?.close();
  host = server = undefined;
  rmSync(dir, { recursive: true, force: true });
});

async function open(url: URL, more: JsonObject = {}): Promise<Host> {
  const field = {
    url: url.href,
    source: "own",
    default: "L0",
    allowPrivateAddresses: true,
    headers: { Authorization: "Bearer ${env:TOKEN}", "X-API-Key": "${env:API_KEY}" },
    ...more,
  };
  host = await openHost({
    config: { mcpServers: { field } },
    stateDir: dir,
    resolveSecret: ({ reference }) => ({ TOKEN, API_KEY })[reference.name],
    onEvent: (event) => void events.push(event),
  });
  return host;
}

const call = (opened: Host): Promise<Outcome> =>
  opened.call({ server: "field", tool: "echo" }, { text: ARGUMENT });

async function canaryOf(script: ScriptServer): Promise<readonly unknown[]> {
  const { extra } = await script.report();
  return (extra["seen"] as readonly unknown[] | undefined) ?? [];
}

/** Everything that the host told or wrote: outcome, status, events, records, files. */
async function everythingTold(outcome: Outcome): Promise<string> {
  const told = [outcome, await host?.status(), await host?.activity(), events];
  await host?.close();
  const store = await openSqliteStore({ dir, role: "test", clock: systemClock, random: systemRandom });
  const records = await store.records.query({ limit: 10_000 });
  await store.close();
  const files = readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"));
  return JSON.stringify([told, records]) + files.join("\n");
}

describeField("fc41-redirect-leak", () => {
  describe.each(["modern", "legacy"])("%s", (era) => {
    it.each([
      "307",
      "301",
      "302",
      "303",
      "308",
      "loop",
      "chain",
      "metadata",
      "file",
      "scheme-relative",
      "userinfo",
      "after-init",
      "no-location",
    ])(
      "MODE %s: the canary sees nobody, the call fails with effect none, no secret is told [SEC-04] [SEC-13]",
      async (mode) => {
        server = await startScriptServer(fieldServer("fc41-redirect-leak"), { MODE: mode, ERA: era });
        const outcome = await call(await open(server.url));
        expect(outcome.outcome).not.toBe("completed");
        expect(outcome.effect).toBe("none");
        expect(await canaryOf(server)).toEqual([]);
        const told = await everythingTold(outcome);
        for (const secret of [TOKEN, API_KEY]) expect(told).not.toContain(secret);
      },
    );

    it.each(["same-307", "get-only"])("MODE %s: what stays on its origin works", async (mode) => {
      server = await startScriptServer(fieldServer("fc41-redirect-leak"), { MODE: mode, ERA: era });
      const outcome = await call(await open(server.url));
      expect(outcome).toMatchObject({ outcome: "completed" });
      expect(await canaryOf(server)).toEqual([]);
    });

    it("MODE echo-headers: secrets that a server sends back are taken out of everything [SEC-22]", async () => {
      server = await startScriptServer(fieldServer("fc41-redirect-leak"), { MODE: "echo-headers", ERA: era });
      const outcome = await call(await open(server.url));
      expect(outcome.outcome).not.toBe("completed");
      const { log } = await server.report();
      // They did go to the configured origin: the test can fail.
      expect(JSON.stringify(log)).toContain(TOKEN);
      const told = await everythingTold(outcome);
      for (const secret of [TOKEN, API_KEY]) {
        for (const form of [
          secret,
          Buffer.from(secret).toString("base64").slice(0, 24),
          Buffer.from(secret).toString("hex"),
        ])
          expect(told).not.toContain(form);
      }
    });
  });
});

describe("a server on an address that it must not have, through a host", () => {
  it.each([
    ["https://127.0.0.1:PORT/mcp"],
    ["https://localhost:PORT/mcp"],
    ["https://[::1]:PORT/mcp"],
    ["https://[::ffff:7f00:1]:PORT/mcp"],
    ["https://0x7f.1:PORT/mcp"],
    ["https://017700000001:PORT/mcp"],
    ["https://2130706433:PORT/mcp"],
    ["https://169.254.169.254/latest/meta-data/"],
    ["https://[fd00:ec2::254]/latest/"],
    ["https://10.0.0.1/mcp"],
    ["https://100.64.0.1/mcp"],
    ["https://[64:ff9b::a00:1]/mcp"],
  ])("%s is refused before a byte leaves [SEC-03]", async (address) => {
    const listener = await startLocalServer((_request, response) => void response.end("{}"));
    const url = new URL(address.replace("PORT", listener.url.port));
    try {
      const outcome = await call(await open(url, { allowPrivateAddresses: false }));
      expect(outcome).toMatchObject({ outcome: "unavailable", effect: "none" });
      expect((await host?.status())?.servers[0]).toMatchObject({ state: "dead" });
      expect(listener.connections()).toBe(0);
      expect(await everythingTold(outcome)).not.toContain(TOKEN);
    } finally {
      await listener.close();
    }
  });

  it("a configured host whose entry was not told so is refused on loopback, and reached where it was", async () => {
    const listener = await startLocalServer((_request, response) => void response.writeHead(404).end());
    try {
      await call(await open(listener.url));
      expect(listener.connections()).toBeGreaterThan(0);
    } finally {
      await listener.close();
    }
  });
});

describe("a certificate authority of one's own", () => {
  it("is trusted where `egress.certificates` names it, and nowhere else", async () => {
    const { createServer } = await import("node:https");
    const tls = join(import.meta.dirname, "../servers/tls");
    const files = { key: readFileSync(join(tls, "server.key")), cert: readFileSync(join(tls, "server.pem")) };
    let requests = 0;
    const secure = createServer(files, (_request, response) => {
      requests += 1;
      response.writeHead(404).end();
    });
    await new Promise<void>((resolve) => secure.listen(0, "127.0.0.1", resolve));
    const address = secure.address();
    const port = typeof address === "object" ? (address?.port ?? 0) : 0;
    const entry = {
      url: `https://localhost:${port}/mcp`,
      allowPrivateAddresses: true,
      source: "own",
      limits: { connect: "1s" },
    };
    try {
      for (const [certificates, isReached] of [
        [[], false],
        [[join(tls, "ca.pem")], true],
      ] as const) {
        const before = requests;
        host = await openHost({
          config: { mcpServers: { field: entry }, egress: { certificates: [...certificates] } },
          stateDir: dir,
        });
        await host.call({ server: "field", tool: "echo" }, {});
        await host.close();
        expect(requests > before).toBe(isReached);
      }
    } finally {
      secure.closeAllConnections();
      await new Promise((resolve) => secure.close(resolve));
    }
  });
});

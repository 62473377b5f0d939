/** Hosts that share a database, as on two machines: each has a state directory of its own, and the same key. */
import { copyFileSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { compileConfig } from "../../src/config/compile.ts";
import type { Host } from "../../src/host/api.ts";
import { openHost } from "../../src/host/host.ts";
import { startPostgresProxy } from "../support/postgres-proxy.ts";
import { postgresSuite, startPostgres, type PostgresServer } from "../support/postgres-server.ts";
import { createWorkbench, type Workbench } from "../support/workbench.ts";

postgresSuite("a shared store", () => {
  let server: PostgresServer;
  let bench: Workbench;
  let hosts: Host[] = [];
  let serial = 0;

  beforeAll(async () => {
    server = await startPostgres();
  }, 60_000);
  beforeEach(() => {
    bench = createWorkbench();
    serial += 1;
  });
  afterEach(async () => {
    await Promise.all(hosts.map((host) => host.close()));
    hosts = [];
    bench.remove();
  });
  afterAll(() => server.end());

  /** @param machine names its state directory. */
  const open = async (machine: string, port = server.port, more: JsonObject = {}): Promise<Host> => {
    const stateDir = join(bench.dir, machine);
    const store = server.url(`schema=shared_${serial}`).replace(`:${server.port}/`, `:${port}/`);
    const ledger = bench.ledgerEntry({ source: "own", tools: { read: "L0", write: "L2" }, ...more });
    const config = compileConfig(
      { store, mcpServers: { ledger } },
      { file: null, baseDir: bench.dir, homeDir: bench.dir, platform: process.platform, stateDir },
    );
    const host = await openHost({ config });
    hosts.push(host);
    return host;
  };

  const copyKey = (from: string, to: string): void => {
    mkdirSync(join(bench.dir, to), { mode: 0o700, recursive: true });
    copyFileSync(join(bench.dir, from, "vault.key"), join(bench.dir, to, "vault.key"));
  };

  it("lets an answer on one machine resolve the call that waits on the other, and both see it", async () => {
    const one = await open("one");
    copyKey("one", "other");
    const other = await open("other");
    const calling = one.call({ server: "ledger", tool: "write" }, { text: "shared" });
    let waiting = await other.approvals.list();
    while (waiting.length === 0) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      waiting = await other.approvals.list();
    }
    const [approval] = waiting;
    expect(JSON.stringify(approval)).toContain("shared");
    await other.approvals.answer(approval?.id ?? "", { verdict: "approve", by: "ann", channel: "console" });
    expect(await calling).toMatchObject({ outcome: "completed", effect: "applied" });
    expect(bench.sent("write")).toBe(1);
    expect(await other.activity()).toMatchObject([
      { tool: "write", outcome: "completed", effect: "applied" },
    ]);
    expect(await other.verify()).toMatchObject({ ok: true });
  }, 60_000);

  it("keeps nothing on a machine but its key", async () => {
    const host = await open("one");
    await host.call({ server: "ledger", tool: "read" }, {});
    expect(readdirSync(join(bench.dir, "one"))).toEqual(["vault.key"]);
  }, 60_000);

  it("refuses a machine with another key, and says which file to copy", async () => {
    await open("one");
    await expect(open("other")).rejects.toMatchObject({
      code: "state_unusable",
      message: expect.stringContaining("vault.key"),
    });
  }, 60_000);

  it("that is away stops a call that may write before anything is sent", async () => {
    const proxy = await startPostgresProxy(server.port);
    try {
      const host = await open("one", proxy.port, { tools: { write: "L1" } });
      expect(await host.call({ server: "ledger", tool: "write" }, { text: "recorded" })).toMatchObject({
        outcome: "completed",
      });
      proxy.refuse();
      expect(await host.call({ server: "ledger", tool: "write" }, { text: "never" })).toMatchObject({
        code: "audit_unavailable",
        effect: "none",
      });
      expect(bench.sent("write")).toBe(1);
    } finally {
      await Promise.all(hosts.map((host) => host.close().catch(() => undefined)));
      hosts = [];
      await proxy.close();
    }
  }, 60_000);
});

/** What a shared store does when its database, or the way there, fails. */
import { join } from "node:path";
import { inspect } from "node:util";
import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { createManualClock, type ManualClock } from "../../src/base/manual-clock.ts";
import { systemRandom } from "../../src/base/random.ts";
import { makeRecord } from "../../src/store/contract/records.ts";
import { openPostgresStore } from "../../src/store/postgres.ts";
import type { Store } from "../../src/store/store.ts";
import { openPeerStore } from "../contract/store-peer.ts";
import { startPostgresProxy, type PostgresProxy } from "../support/postgres-proxy.ts";
import { postgresSuite, startPostgres, type PostgresServer } from "../support/postgres-server.ts";

const never = new AbortController().signal;

postgresSuite("a shared store under fire", () => {
  let server: PostgresServer;
  let serial = 0;
  let ends: (() => Promise<unknown>)[] = [];

  beforeAll(async () => {
    server = await startPostgres();
  }, 60_000);
  afterEach(async () => {
    for (const end of ends.toReversed()) await end();
    ends = [];
  });
  afterAll(() => server.end());

  const freshUrl = (): string => {
    serial += 1;
    return server.url(`schema=fault_${serial}`);
  };

  const open = async (url: string, clock?: ManualClock): Promise<Store> => {
    const store = await openPostgresStore({
      url,
      role: "test",
      clock: clock ?? systemClock,
      random: systemRandom,
    });
    ends.push(() => {
      const closing = store.close().catch(() => undefined);
      return clock === undefined ? closing : advanceUntil(clock, closing);
    });
    return store;
  };

  /** A client of the test's own, in the schema that `url` names. */
  const openClient = async (url: string): Promise<pg.Client> => {
    const client = new pg.Client(url.split("?")[0]);
    await client.connect();
    await client.query(`SET search_path = ${new URL(url).searchParams.get("schema") ?? ""}`);
    ends.push(() => client.end());
    return client;
  };

  const openThroughProxy = async (
    clock?: ManualClock,
  ): Promise<{ store: Store; proxy: PostgresProxy; url: string }> => {
    const proxy = await startPostgresProxy(server.port);
    ends.push(() => proxy.close());
    const url = freshUrl();
    const store = await open(url.replace(`:${server.port}/`, `:${proxy.port}/`), clock);
    return { store, proxy, url };
  };

  describe("a connection that is lost at a commit", () => {
    it.each(["before", "after"] as const)("%s the server heard of it: written once", async (cut) => {
      const { store, proxy } = await openThroughProxy();
      await store.documents.put("health", "n", 1);
      await store.records.append(makeRecord(1), "durable");

      proxy.cutNextCommit(cut);
      const put = store.documents.put("health", "n", 2, { ifVersion: 1 });
      await proxy.cutDone();
      expect(await put).toMatchObject({ version: 2 });

      proxy.cutNextCommit(cut);
      const appended = store.records.append(makeRecord(2), "durable");
      await proxy.cutDone();
      await appended;
      await store.records.append(makeRecord(3), "durable");
      expect((await store.records.query({})).map(({ callId }) => callId)).toEqual([
        "call 1",
        "call 2",
        "call 3",
      ]);
      expect(await store.records.verify()).toMatchObject([{ ok: true, length: 3 }]);
    });

    it("and a database that stays away: the record is not acknowledged, and that is said", async () => {
      const clock = createManualClock();
      const { store, proxy, url } = await openThroughProxy(clock);
      await store.records.append(makeRecord(1), "durable");
      proxy.cutNextCommit("after", true);
      const outcome = store.records.append(makeRecord(2), "durable").then(
        () => "acknowledged",
        (error: unknown) => error,
      );
      await proxy.cutDone();
      const told = await advanceUntil(clock, outcome);
      expect(told).toMatchObject({
        code: "audit_unavailable",
        message: expect.stringContaining("it is not known whether it was made"),
      });
      // It was; the chain goes on after it for whoever reads it.
      expect(await (await open(url)).records.verify()).toMatchObject([{ ok: true, length: 2 }]);
    });
  });

  it("a database that is away: a record fails in time, and reading too", async () => {
    const clock = createManualClock();
    const { store, proxy } = await openThroughProxy(clock);
    proxy.refuse();
    const outcomes = Promise.allSettled([
      store.records.append(makeRecord(1), "durable"),
      store.documents.get("health", "n"),
    ]);
    const [appended, read] = await advanceUntil(clock, outcomes);
    expect(appended).toMatchObject({ status: "rejected", reason: { code: "audit_unavailable" } });
    expect(read).toMatchObject({ status: "rejected", reason: { code: "state_unusable" } });
  });

  it("a server that crashes and comes back while two write: nothing acknowledged is lost, nothing is there twice", async () => {
    const url = freshUrl();
    const stores = [await open(url), await open(url)];
    const acknowledged: string[] = [];
    let isOver = false;
    let counted = 0;
    const writing = stores.map(async (store, writer) => {
      for (let number = 0; !isOver; number += 1) {
        const callId = `call ${writer} ${number}`;
        await store.records.append({ ...makeRecord(number), callId }, "durable");
        acknowledged.push(callId);
        const found = await store.documents.get("breakers", "counter");
        const next = typeof found?.value === "number" ? found.value + 1 : 1;
        const put = await store.documents.put("breakers", "counter", next, {
          ifVersion: found?.version ?? 0,
        });
        if (put !== undefined) counted += 1;
      }
    });
    for (let crash = 0; crash < 3; crash += 1) {
      const before = acknowledged.length;
      while (acknowledged.length < before + 20) await systemClock.sleep(5);
      await server.stop("immediate");
      await server.start();
    }
    isOver = true;
    await Promise.all(writing);
    const [store] = stores as [Store];
    const seen: string[] = [];
    for await (const { callId } of store.records.scan({})) seen.push(callId);
    expect(seen.toSorted()).toEqual(acknowledged.toSorted());
    expect((await store.records.verify()).every(({ ok }) => ok)).toBe(true);
    expect(await store.documents.get("breakers", "counter")).toMatchObject({
      value: counted,
      version: counted,
    });
  }, 60_000);

  it("a listener that the server ends hears of what it missed", async () => {
    const url = freshUrl();
    const one = await open(url);
    const other = await open(url);
    const client = await openClient(url);
    let told = Promise.withResolvers<void>();
    one.watch("approvals", () => told.resolve());
    // The first look at the counters has been told.
    await other.documents.put("approvals", "a", 1);
    await told.promise;
    for (let round = 0; round < 3; round += 1) {
      told = Promise.withResolvers<void>();
      await endListener(client);
      await other.documents.put("approvals", "a", round);
      await told.promise;
    }
  });

  it("all connections ended at once, again and again: work goes on", async () => {
    const url = freshUrl();
    const store = await open(url);
    const client = await openClient(url);
    for (let round = 1; round <= 5; round += 1) {
      await client.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'portcullis'",
      );
      await store.records.append(makeRecord(round), "durable");
      expect(await store.documents.put("health", "n", round)).toMatchObject({ version: round });
    }
    expect(await store.records.verify()).toMatchObject([{ ok: true, length: 5 }]);
  });

  it("processes that make the schema at once all find it made", async () => {
    const url = freshUrl();
    const opening = await Promise.allSettled([
      openPeerStore(url),
      openPeerStore(url),
      ...Array.from({ length: 4 }, () => open(url)),
    ]);
    for (const settled of opening) if (settled.status === "fulfilled") ends.push(() => settled.value.close());
    expect(opening.map(({ status }) => status)).toEqual(Array.from({ length: 6 }, () => "fulfilled"));
    const client = await openClient(url);
    expect((await client.query("SELECT version FROM schema_version")).rows).toEqual([{ version: 1 }]);
  }, 60_000);

  describe("a host that is gone", () => {
    /** Says of the instance that it lives on another machine, and that its leases ran out so long ago. */
    const moveAway = async (client: pg.Client, store: Store, agoMs: number): Promise<void> => {
      const { id } = store.instances.self;
      const until = Date.now() - agoMs;
      await client.query("UPDATE instances SET machine = 'elsewhere', lease_until = $1 WHERE id = $2", [
        until,
        id,
      ]);
      await client.query("UPDATE lease_queue SET until = $1 WHERE instance = $2", [until, id]);
    };

    it("on another machine is alive until its lease has run out, and passes on what it held after that", async () => {
      const url = freshUrl();
      const gone = await open(url);
      const store = await open(url);
      const client = await openClient(url);
      await gone.leases.acquire("refresh github", never);
      await moveAway(client, gone, -60_000);
      expect(await store.instances.listDead()).toEqual([]);
      const waiting = store.leases.acquire("refresh github", never);
      await moveAway(client, gone, 1);
      await (await waiting).release();
      expect((await store.instances.listDead()).map(({ id }) => id)).toEqual([gone.instances.self.id]);
    });
  });

  describe("a database that cannot be used", () => {
    it("of a newer version is refused", async () => {
      const url = freshUrl();
      await (await open(url)).close();
      const client = await openClient(url);
      await client.query("INSERT INTO schema_version (version, name, applied_at) VALUES (99, 'later', 0)");
      await expect(open(url)).rejects.toMatchObject({ code: "state_newer", data: { found: 99 } });
    });

    it("with tables of something else is refused and left alone", async () => {
      const url = freshUrl();
      const client = await openClient(url);
      const schema = new URL(url).searchParams.get("schema") ?? "";
      await client.query(`CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.orders (id integer)`);
      await expect(open(url)).rejects.toMatchObject({ code: "state_unusable" });
      const { rows } = await client.query("SELECT tablename FROM pg_tables WHERE schemaname = $1", [schema]);
      expect(rows).toEqual([{ tablename: "orders" }]);
    });

    it("for want of rights, of itself, or of a listener says which", async () => {
      const client = await openClient(freshUrl());
      await client.query("CREATE ROLE poor LOGIN");
      await client.query("CREATE DATABASE western ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0");
      const at = (user: string, database: string, port = server.port): string =>
        `postgresql://${user}:hunter2hunter2@127.0.0.1:${port}/${database}?schema=poor`;
      for (const [url, said] of [
        [at("poor", "postgres"), "give it `CREATE`"],
        [at("owner", "western"), "the encoding LATIN1"],
        [at("owner", "nowhere"), "there is no such database"],
        [at("owner", "postgres", 1), "nobody listens there"],
        [`${at("owner", "postgres")}&sslmode=require`, "SSL"],
      ] as const) {
        const error = await open(url).catch((thrown: unknown) => thrown);
        expect(error).toMatchObject({ code: "state_unusable", message: expect.stringContaining(said) });
        expect(inspect(error, { depth: 12, showHidden: true })).not.toContain("hunter2");
      }
    });

    it("or shows a certificate that `sslmode` does not take, is not spoken to", async () => {
      const tls = join(import.meta.dirname, "../servers/tls");
      await server.stop("fast");
      await server.useTls(tls);
      await server.start();
      const authority = `sslrootcert=${join(tls, "ca.pem")}`;
      const byAddress = freshUrl();
      const url = byAddress.replace("127.0.0.1", "localhost");
      for (const good of [
        "sslmode=require",
        `sslmode=verify-ca&${authority}`,
        `sslmode=verify-full&${authority}`,
      ])
        await (await open(`${url}&${good}`)).close();
      for (const [bad, said] of [
        ["sslmode=verify-ca", "certificate"],
        ["sslmode=verify-full", "certificate"],
      ] as const)
        await expect(open(`${url}&${bad}`), bad).rejects.toMatchObject({
          code: "state_unusable",
          message: expect.stringContaining(said),
        });
      await expect(open(`${byAddress}&sslmode=verify-full&${authority}`)).rejects.toMatchObject({
        code: "state_unusable",
        message: expect.stringContaining("127.0.0.1"),
      });
      await (await open(`${byAddress}&sslmode=verify-ca&${authority}`)).close();
    });

    it("lets nobody change or remove records, not even by hand", async () => {
      const url = freshUrl();
      const store = await open(url);
      await store.records.append(makeRecord(1), "durable");
      const client = await openClient(url);
      for (const sql of [
        "UPDATE records SET body = '{}'",
        "DELETE FROM records",
        "TRUNCATE records",
        "DELETE FROM chains",
        "UPDATE chains SET sequence = 0",
        "TRUNCATE chains",
      ])
        await expect(client.query(sql), sql).rejects.toThrow("append-only");
      await client.query("ALTER TABLE records DISABLE TRIGGER USER");
      await client.query(`UPDATE records SET body = '{"number":2}'`);
      expect(await store.records.verify()).toMatchObject([{ ok: false, brokenAt: 1 }]);
    });
  });
});

/** Ends the connection that listens, once it is there. */
async function endListener(client: pg.Client): Promise<void> {
  const sql =
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query = 'SELECT topic, changes FROM topics'";
  while ((await client.query(sql)).rowCount === 0) await systemClock.sleep(5);
}

/** Moves time on, letting real sockets answer in between, until `promise` is settled. */
async function advanceUntil<T>(clock: ManualClock, promise: Promise<T>): Promise<T> {
  let isSettled = false;
  const settled = promise.finally(() => {
    isSettled = true;
  });
  while (!isSettled) {
    await clock.advance(250);
    await systemClock.sleep(1);
  }
  return settled;
}

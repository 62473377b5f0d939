/**
 * The shared store: one schema of a PostgreSQL database that several hosts use. This file makes the connections of the driver,
 * puts the parts together, and takes them apart again in the right order.
 */
import { readFileSync } from "node:fs";
import pg from "pg";
import type { ClientConfig } from "pg";
import type { Clock } from "../base/clock.ts";
import { createLifetime } from "../base/lifetime.ts";
import { randomId, type Random } from "../base/random.ts";
import { PortcullisError } from "../errors.ts";
import { joinInstances } from "./instances.ts";
import { createLeases } from "./leases.ts";
import { createProcLiveness } from "./liveness.ts";
import { createCommitter } from "./postgres-commit.ts";
import { createDatabase, destroyConnection, GOODBYE_MS, type Database } from "./postgres-connection.ts";
import { createPostgresDocuments } from "./postgres-documents.ts";
import { fromPostgresError } from "./postgres-errors.ts";
import { createLeaseLiveness, createPostgresInstanceTable } from "./postgres-instances.ts";
import { createPostgresLeaseQueue } from "./postgres-leases.ts";
import { findPostgresVersion, migratePostgres } from "./postgres-migrate.ts";
import { createPostgresRecords } from "./postgres-records.ts";
import { parsePostgresUrl, type PostgresAddress, type PostgresTls } from "./postgres-url.ts";
import { createPostgresWatch, type ListeningConnection } from "./postgres-watch.ts";
import type { Row } from "./rows.ts";
import type { Store } from "./store.ts";

export interface PostgresStoreOptions {
  /** `postgresql://USER:PASSWORD@HOST:5432/DATABASE`, with `sslmode`, `schema` and others as `postgres-url.ts` says. */
  readonly url: string;
  /** What this process is, for `instances`: `serve`, `cli`, `library`. */
  readonly role: string;
  readonly clock: Clock;
  readonly random: Random;
  /** How far batched appends may lag behind. Default 25. */
  readonly batchMs?: number;
  /** Told about faults of background work (renewal, sweep, listening, a listener that throws); they are tried again. */
  readonly onFault?: (error: unknown) => void;
}

const DEFAULT_BATCH_MS = 25;
const READERS = 3;
const CONNECT_TIMEOUT_MS = 5_000;
/** What the server does to a statement that takes longer. */
const STATEMENT_TIMEOUT_MS = 10_000;
/** A transaction whose process stands still, or is cut off, gives its locks back after that. */
const IDLE_TIMEOUT_MS = 5_000;
/** When the server itself does not answer. */
const ANSWER_TIMEOUT_MS = 15_000;
const LISTENER_TIMEOUT_MS = 5_000;
const INT8 = 20;

/**
 * Opens the store, making or migrating its schema where needed, and registers this process in it.
 *
 * @throws `config_invalid` for a URL that says nothing usable; `state_unusable` where the database cannot be reached or used, is
 *   something else's, or is older than PostgreSQL 13; `state_newer` where a newer version of Portcullis wrote it.
 */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const { clock, random, role, batchMs = DEFAULT_BATCH_MS, onFault = () => undefined } = options;
  const address = parsePostgresUrl(options.url);
  const { label, schema } = address;
  const config = toClientConfig(address);
  const lifetime = createLifetime(`store ${label}`);
  try {
    const database = lifetime.own(connect(label, config, clock));
    await migratePostgres({ database, schema, now: clock.now() });
    const id = randomId(random);
    const watch = createPostgresWatch({
      connect: (onNotification) => connectListener(config, clock, onNotification),
      channel: schema,
      clock,
      onFault,
    });
    lifetime.own(watch);
    const onCommitted = watch.committed;
    const committer = createCommitter({ database, clock, writer: id, channel: schema, batchMs, onCommitted });
    lifetime.own(committer);
    const table = createPostgresInstanceTable(database, committer);
    const liveness = createProcLiveness() ?? createLeaseLiveness();
    const instances = await joinInstances({ table, clock, liveness, id, role, onFault });
    lifetime.onClose(instances.leave);
    const { isDead } = instances;
    const queue = createPostgresLeaseQueue({ database, committer, instance: id, isDead });
    const leases = createLeases({ queue, clock, watch, onFault });
    lifetime.own(leases);
    const documents = createPostgresDocuments({ database, committer, clock, onFault });
    lifetime.onClose(documents.stop);
    const records = createPostgresRecords({ database, committer, writer: id });
    lifetime.onClose(database.hurry);
    return {
      documents,
      records,
      instances,
      leases,
      watch: (topic, listener) => watch.on(topic, listener),
      flush: committer.flush,
      async close() {
        try {
          await lifetime.close();
        } catch (error) {
          const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
          throw fromPostgresError(first, label);
        }
      },
    };
  } catch (error) {
    await lifetime.close().catch(() => undefined);
    throw fromPostgresError(error, label);
  }
}

/**
 * For `doctor`: whether the database can be used, without changing anything.
 *
 * @returns its name for people, and whether our schema is there.
 * @throws like `openPostgresStore`.
 */
export async function lookAtPostgres(
  url: string,
  clock: Clock,
): Promise<{ readonly label: string; readonly isMade: boolean }> {
  const address = parsePostgresUrl(url);
  const { label, schema } = address;
  const database = connect(label, toClientConfig(address), clock);
  try {
    return { label, isMade: (await findPostgresVersion({ database, schema })) > 0 };
  } catch (error) {
    throw fromPostgresError(error, label);
  } finally {
    await database.close();
  }
}

function connect(label: string, config: ClientConfig, clock: Clock): Database {
  return createDatabase({
    label,
    clock,
    readers: new pg.Pool({ ...config, max: READERS, allowExitOnIdle: true }),
    writer: new pg.Pool({ ...config, max: 1, pipeline: true, allowExitOnIdle: true }),
  });
}

function toClientConfig(address: PostgresAddress): ClientConfig {
  const { host, port, user, password, database, schema, tls } = address;
  return {
    host,
    port,
    user,
    // A function, so that the driver looks for none elsewhere.
    password: () => password,
    database,
    ssl: tls === null ? false : toTlsOptions(tls),
    application_name: "portcullis",
    options: `-c search_path=${schema}`,
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    idle_in_transaction_session_timeout: IDLE_TIMEOUT_MS,
    query_timeout: ANSWER_TIMEOUT_MS,
    types: {
      // Counters and times stay far below 2^53.
      getTypeParser: ((oid: number, format?: "text") =>
        oid === INT8 ? Number : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
    },
  };
}

function toTlsOptions({
  verifies,
  authorityFile,
  certificateFile,
  keyFile,
}: PostgresTls): ClientConfig["ssl"] {
  return {
    rejectUnauthorized: verifies !== "nothing",
    ...(verifies === "authority" ? { checkServerIdentity: () => undefined } : {}),
    ...(authorityFile === null ? {} : { ca: readPem(authorityFile, "sslrootcert") }),
    ...(certificateFile === null ? {} : { cert: readPem(certificateFile, "sslcert") }),
    ...(keyFile === null ? {} : { key: readPem(keyFile, "sslkey") }),
  };
}

function readPem(file: string, parameter: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw new PortcullisError(
      "config_invalid",
      `the URL of \`store\` cannot be used: its \`${parameter}\` \`${file}\` cannot be read`,
      { cause },
    );
  }
}

async function connectListener(
  config: ClientConfig,
  clock: Clock,
  onNotification: (payload: string) => void,
): Promise<ListeningConnection> {
  const client = new pg.Client({ ...config, query_timeout: LISTENER_TIMEOUT_MS });
  const ended = new Promise<void>((resolve) => void client.once("end", resolve));
  client.on("error", () => undefined);
  client.on("notification", ({ payload }) => onNotification(payload ?? ""));
  await client.connect();
  // Somebody who only listens keeps no process alive.
  (client as unknown as { unref(): void }).unref();
  return {
    ended,
    query: async (sql) => (await client.query<Row>(sql)).rows,
    async end() {
      const cut = clock.timer(GOODBYE_MS, () => destroyConnection(client));
      await client.end().finally(() => cut.cancel());
    },
  };
}

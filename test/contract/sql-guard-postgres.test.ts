/**
 * What the `sql` guard lets pass, on a real PostgreSQL under a role that may only read: every statement runs, gives at most
 * the capped rows, and changes nothing. Skipped aloud where there is none.
 */
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { checkSql } from "../../src/policy/guards/sql.ts";
import { postgresSuite, startPostgres, type PostgresServer } from "../support/postgres-server.ts";
import { POSTGRESQL_READS, POSTGRESQL_SCHEMA } from "../support/sql-inputs.ts";

const MAX_ROWS = 100;
const run = promisify(execFile);

postgresSuite("the sql guard on a real PostgreSQL", () => {
  let server: PostgresServer;

  /** @returns the rows as psql prints them without alignment, split at a separator that no value holds. */
  const query = async (sql: string, role: string, flags: readonly string[] = []): Promise<string> => {
    const file = join(server.folder, "query.sql");
    await writeFile(file, sql);
    const args = [
      "-X",
      "-q",
      "-v",
      "ON_ERROR_STOP=1",
      "-h",
      server.folder,
      "-p",
      String(server.port),
      "-U",
      role,
      "-d",
      "postgres",
      ...flags,
      "-f",
      file,
    ];
    return (await run("psql", args, { ...server.as, maxBuffer: 64 * 1024 * 1024, timeout: 20_000 })).stdout;
  };

  const start = async (): Promise<void> => {
    server = await startPostgres();
    await query(
      `${POSTGRESQL_SCHEMA}
       create role reader login; grant usage on schema public to reader; grant select on all tables in schema public to reader;
       alter role reader set default_transaction_read_only = on; alter role reader set statement_timeout = '10s';`,
      "owner",
    );
  };

  beforeAll(start, 60_000);

  afterAll(() => server.end());

  const fingerprint = (): Promise<string> =>
    query(
      "select count(*), sum(total), md5(string_agg(status, ',' order by id)) from orders; select count(*) from customers; select count(*) from pg_class;",
      "owner",
    );

  it("runs everything that passes, within the cap and without a trace", async () => {
    const before = await fingerprint();
    for (const sql of POSTGRESQL_READS) {
      const verdict = await checkSql(sql, "postgresql", MAX_ROWS);
      expect(verdict.kind, sql).not.toBe("deny");
      const text = verdict.kind === "rewrite" ? String(verdict.after) : sql;
      // Counted by the client, so that the statement runs as it would for a tool.
      const output = await query(text, "reader", ["-A", "-t", "-R", "\u001e"]).catch((error: unknown) => {
        throw new Error(`${text}: ${String(error)}`, { cause: error });
      });
      const rows = output === "" ? 0 : output.split("\u001e").length;
      expect(rows, text).toBeLessThanOrEqual(MAX_ROWS);
    }
    expect(await fingerprint()).toBe(before);
  }, 120_000);

  it("gives the rows that the statement would have given, in its order", async () => {
    const first = async (sql: string): Promise<string> => {
      const verdict = await checkSql(sql, "postgresql", 3);
      return query(verdict.kind === "rewrite" ? String(verdict.after) : sql, "reader", [
        "-A",
        "-t",
        "-R",
        ",",
      ]);
    };
    expect((await first("select id from orders order by id desc -- newest")).trim()).toBe("2000,1999,1998");
    expect((await first("select id from orders order by id desc limit 50 offset 10;")).trim()).toBe(
      "1990,1989,1988",
    );
    expect(
      (await first("select id from orders union select id from customers order by 1 limit all")).trim(),
    ).toBe("1,2,3");
    expect((await first("values (7), (8), (9), (10)")).trim()).toBe("7,8,9");
  });

  it("stands before what the server itself would do for a strong role", async () => {
    for (const sql of [
      "select pg_read_file('PG_VERSION')",
      'select U&"pg\\005fsleep"(0)',
      "select current_setting('data_directory')",
    ]) {
      await query(sql, "owner");
      expect(await checkSql(sql, "postgresql", MAX_ROWS), sql).toMatchObject({ kind: "deny" });
    }
  });
});

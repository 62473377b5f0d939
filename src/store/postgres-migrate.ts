/**
 * Forward-only migrations on PostgreSQL, safe when many processes start at once: the whole step from the found version to ours is
 * one transaction under an advisory lock, and the version is read again inside it. A newer schema is refused, never touched.
 */
import { PortcullisError } from "../errors.ts";
import type { Migration } from "./migrate.ts";
import { postgresInitial } from "./migrations/postgres-0001-initial.ts";
import type { Database, Session } from "./postgres-connection.ts";
import { integerColumn, textColumn } from "./rows.ts";

const migrations: readonly Migration[] = [postgresInitial];

const OLDEST_SERVER = 13;
/** "PTCL" in ASCII: the first half of the key of our advisory lock, the schema's name gives the second. */
const LOCK_CLASS = 0x5054434c;

export interface MigrateOptions {
  readonly database: Database;
  /** Small letters, digits and `_`. */
  readonly schema: string;
  readonly now: number;
  /** Default: all there are. */
  readonly upTo?: readonly Migration[];
}

/**
 * Brings the schema up to date, making it where it is missing.
 *
 * @throws `state_newer` where a newer version of Portcullis wrote it, `state_unusable` where something else did, or where the
 *   server is older than PostgreSQL 13 or keeps text in another encoding than UTF-8; errors of the driver as they are.
 */
export async function migratePostgres(options: MigrateOptions): Promise<void> {
  const { database, schema, now, upTo = migrations } = options;
  await database.write(async (session) => {
    await refuseUnfit(session, database.label);
    if ((await readVersion(session, options, upTo)) === upTo.length) return;
    await session.query(
      `BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SELECT pg_advisory_xact_lock(${LOCK_CLASS}, hashtext('${schema}'))`,
    );
    const found = await readVersion(session, options, upTo);
    if (found === 0) await makeSchema(session, schema);
    for (const migration of upTo.slice(found)) {
      await session.query(migration.sql);
      await session.query("INSERT INTO schema_version (version, name, applied_at) VALUES ($1, $2, $3)", [
        migration.version,
        migration.name,
        now,
      ]);
    }
    await session.query("COMMIT");
  });
}

/**
 * Looks at a database before anything of it is changed.
 *
 * @returns the version of the schema that is there; 0: none yet.
 * @throws like `migratePostgres`.
 */
export async function findPostgresVersion(options: Omit<MigrateOptions, "now">): Promise<number> {
  const { database, upTo = migrations } = options;
  return database.write(async (session) => {
    await refuseUnfit(session, database.label);
    return readVersion(session, options, upTo);
  });
}

async function makeSchema(session: Session, schema: string): Promise<void> {
  // `IF NOT EXISTS` asks for the right to make one even where it is there.
  const [found] = await session.query("SELECT 1 FROM pg_namespace WHERE nspname = $1", [schema]);
  if (found?.length === 0) await session.query(`CREATE SCHEMA "${schema}"`);
  await session.query(
    "CREATE TABLE schema_version (version integer PRIMARY KEY, name text NOT NULL, applied_at bigint NOT NULL)",
  );
}

const SELECT_SERVER = `
  SELECT current_setting('server_version_num')::integer / 10000 AS major, current_setting('server_encoding') AS encoding`;

async function refuseUnfit(session: Session, label: string): Promise<void> {
  const [rows] = await session.query(SELECT_SERVER);
  const encoding = textColumn(rows?.[0] ?? {}, "encoding");
  if (encoding !== "UTF8") {
    throw new PortcullisError(
      "state_unusable",
      `database \`${label}\` has the encoding ${encoding}: make one with \`createdb --encoding=UTF8 --template=template0\``,
      { data: { database: label, encoding } },
    );
  }
  const major = integerColumn(rows?.[0] ?? {}, "major");
  if (major >= OLDEST_SERVER) return;
  throw new PortcullisError(
    "state_unusable",
    `database \`${label}\` is PostgreSQL ${major}: use version ${OLDEST_SERVER} or newer`,
    { data: { database: label, found: major, oldest: OLDEST_SERVER } },
  );
}

const SELECT_TABLES = `
  SELECT count(*) AS tables, count(*) FILTER (WHERE c.relname = 'schema_version') AS ours
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relkind = 'r'`;

async function readVersion(
  session: Session,
  { database, schema }: Omit<MigrateOptions, "now">,
  upTo: readonly Migration[],
): Promise<number> {
  const place = `schema \`${schema}\` of database \`${database.label}\``;
  const [counted] = await session.query(SELECT_TABLES, [schema]);
  if (integerColumn(counted?.[0] ?? {}, "tables") === 0) return 0;
  if (integerColumn(counted?.[0] ?? {}, "ours") === 0) {
    throw new PortcullisError(
      "state_unusable",
      `${place} holds tables of something else: name another one with \`?schema=NAME\``,
      { data: { database: database.label, schema } },
    );
  }
  const [rows] = await session.query("SELECT coalesce(max(version), 0) AS version FROM schema_version");
  const version = integerColumn(rows?.[0] ?? {}, "version");
  if (version > upTo.length) {
    throw new PortcullisError(
      "state_newer",
      `${place} has version ${version}, this version of Portcullis knows ${upTo.length}: upgrade Portcullis`,
      { data: { database: database.label, schema, found: version, known: upTo.length } },
    );
  }
  return version;
}

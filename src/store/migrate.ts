/**
 * Forward-only migrations, safe when many processes start at once: the whole step from the found version to ours is one
 * immediate transaction, and the version is read again inside it. A newer schema is refused, never touched.
 */
import { PortcullisError } from "../errors.ts";
import { integerColumn } from "./rows.ts";
import type { Connection } from "./sqlite-connection.ts";
import { initial } from "./migrations/0001-initial.ts";

export interface Migration {
  /** 1, 2, 3, … without a gap. */
  readonly version: number;
  readonly name: string;
  readonly sql: string;
}

const migrations: readonly Migration[] = [initial];

/** "PTCL" in ASCII, in the file's header: tells our file from any other SQLite file. */
const APPLICATION_ID = 0x5054434c;

/** The schema version that this code writes. */
export const SCHEMA_VERSION = migrations.length;

/**
 * Brings the schema up to `upTo` (default: all there are).
 *
 * @throws `state_newer` where a newer version of Portcullis wrote it, `state_unusable` where something else did; errors
 *   of SQLite as they are, busy ones included: the caller tries again.
 */
export function migrate(connection: Connection, now: number, upTo: readonly Migration[] = migrations): void {
  if (readVersion(connection, upTo) === upTo.length) return;
  connection.exec("BEGIN IMMEDIATE");
  try {
    const found = readVersion(connection, upTo);
    if (found === 0) {
      connection.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
      connection.exec(
        "CREATE TABLE schema_version (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT",
      );
    }
    for (const migration of upTo.slice(found)) {
      connection.exec(migration.sql);
      connection.run(
        "INSERT INTO schema_version (version, name, applied_at) VALUES (?, ?, ?)",
        migration.version,
        migration.name,
        now,
      );
    }
    connection.exec("COMMIT");
  } catch (error) {
    connection.rollback();
    throw error;
  }
}

/**
 * Looks at a file before anything of it is changed.
 *
 * @throws like `migrate`.
 */
export function refuseForeign(connection: Connection): void {
  readVersion(connection, migrations);
}

function readVersion(connection: Connection, upTo: readonly Migration[]): number {
  const { tables } =
    connection.get("SELECT count(*) AS tables FROM sqlite_schema WHERE type = 'table'") ?? {};
  if (tables === 0) return 0;
  const header = connection.get("PRAGMA application_id");
  if (header === undefined || integerColumn(header, "application_id") !== APPLICATION_ID) {
    throw new PortcullisError(
      "state_unusable",
      `\`${connection.path}\` is a database of something else: name another state directory`,
      { data: { path: connection.path } },
    );
  }
  const row = connection.get("SELECT max(version) AS version FROM schema_version");
  const version = row === undefined ? 0 : integerColumn(row, "version");
  if (version > upTo.length) {
    throw new PortcullisError(
      "state_newer",
      `state \`${connection.path}\` has schema ${version}, this version of Portcullis knows ${upTo.length}: upgrade Portcullis`,
      { data: { path: connection.path, found: version, known: upTo.length } },
    );
  }
  return version;
}

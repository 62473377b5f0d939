/** Documents: small JSON values with a version and an optional expiry. One that has run out is as good as gone. */
import type { Clock } from "../base/clock.ts";
import type { JsonValue } from "../base/json.ts";
import { checkKey, toValueText } from "./document-values.ts";
import { fromStoredKey, toStoredKey } from "./key-text.ts";
import type { Committer } from "./sqlite-commit.ts";
import { untilNotBusy, type Connection } from "./sqlite-connection.ts";
import { integerColumn, jsonColumn, optionalIntegerColumn, textColumn, wholeMs, type Row } from "./rows.ts";
import type { Collection, Documents, StoredDocument } from "./store.ts";
import { startSweep } from "./sweep.ts";

export interface SqliteDocuments extends Documents {
  /** Ends the sweep of what ran out. */
  readonly stop: () => void;
}

export interface SqliteDocumentsOptions {
  readonly connection: Connection;
  readonly committer: Committer;
  readonly clock: Clock;
  readonly onFault: (error: unknown) => void;
}

const SWEPT_AT_ONCE = 500;

const COLUMNS = "key, value, version, updated_at, expires_at";
const LIVING = "(expires_at IS NULL OR expires_at > ?)";
const SELECT_ONE = `SELECT ${COLUMNS} FROM documents WHERE collection = ? AND key = ? AND ${LIVING}`;
const SELECT_FROM = `SELECT ${COLUMNS} FROM documents WHERE collection = ? AND key >= ? AND ${LIVING} ORDER BY key`;
const SELECT_VERSION = `SELECT version FROM documents WHERE collection = ? AND key = ? AND ${LIVING}`;
const UPSERT = `
  INSERT INTO documents (collection, key, value, version, updated_at, expires_at) VALUES (?, ?, ?, ?, ?, ?)
  ON CONFLICT (collection, key) DO UPDATE SET
    value = excluded.value, version = excluded.version, updated_at = excluded.updated_at, expires_at = excluded.expires_at`;
const DELETE_ONE = "DELETE FROM documents WHERE collection = ? AND key = ?";
const DELETE_EXPIRED = `
  DELETE FROM documents WHERE id IN (SELECT id FROM documents WHERE expires_at <= ? ORDER BY expires_at LIMIT ${SWEPT_AT_ONCE})
  RETURNING collection`;

/** Starts the sweep of what ran out, once a minute; `stop` ends it. */
export function createSqliteDocuments(options: SqliteDocumentsOptions): SqliteDocuments {
  const { connection, committer, clock, onFault } = options;

  const versionOf = (collection: Collection, storedKey: string): number => {
    const row = connection.get(SELECT_VERSION, collection, storedKey, clock.now());
    return row === undefined ? 0 : integerColumn(row, "version");
  };

  const sweep = async (): Promise<boolean> => {
    const swept = await committer.write((touch) => {
      const rows = connection.all(DELETE_EXPIRED, clock.now());
      for (const collection of new Set(rows.map((row) => textColumn(row, "collection")))) touch(collection);
      return rows.length;
    }, false);
    return swept === SWEPT_AT_ONCE;
  };

  return {
    async get(collection, key) {
      return untilNotBusy(
        () => {
          const row = connection.get(SELECT_ONE, collection, toStoredKey(key), clock.now());
          return row === undefined ? undefined : fromRow(row);
        },
        connection.path,
        clock,
      );
    },

    async put(collection, key, value, putOptions = {}) {
      checkKey(key);
      const storedKey = toStoredKey(key);
      const text = toValueText(value, collection, key);
      const { ifVersion, durable = true } = putOptions;
      const expiresAt = putOptions.expiresAt === undefined ? null : wholeMs(putOptions.expiresAt);
      return committer.write((touch) => {
        const found = versionOf(collection, storedKey);
        if (ifVersion !== undefined && ifVersion !== found) return undefined;
        const updatedAt = wholeMs(clock.now());
        const version = found + 1;
        connection.run(UPSERT, collection, storedKey, text, version, updatedAt, expiresAt);
        touch(collection);
        return { key, value: JSON.parse(text) as JsonValue, version, updatedAt, expiresAt };
      }, durable);
    },

    async delete(collection, key, ifVersion) {
      const storedKey = toStoredKey(key);
      return committer.write((touch) => {
        const found = versionOf(collection, storedKey);
        if (found === 0 || (ifVersion !== undefined && ifVersion !== found)) return false;
        connection.run(DELETE_ONE, collection, storedKey);
        touch(collection);
        return true;
      }, true);
    },

    async list(collection, prefix = "") {
      return untilNotBusy(
        () => listFrom(connection, collection, toStoredKey(prefix), clock.now()),
        connection.path,
        clock,
      );
    },

    stop: startSweep({ clock, sweep, onFault }),
  };
}

function listFrom(
  connection: Connection,
  collection: Collection,
  prefix: string,
  now: number,
): StoredDocument[] {
  const found: StoredDocument[] = [];
  // Keys are in the order of their UTF-8 bytes, so those with the prefix stand together and begin at it.
  for (const row of connection.iterate(SELECT_FROM, collection, prefix, now)) {
    if (!textColumn(row, "key").startsWith(prefix)) break;
    found.push(fromRow(row));
  }
  return found;
}

function fromRow(row: Row): StoredDocument {
  return {
    key: fromStoredKey(textColumn(row, "key")),
    value: jsonColumn(row, "value"),
    version: integerColumn(row, "version"),
    updatedAt: integerColumn(row, "updated_at"),
    expiresAt: optionalIntegerColumn(row, "expires_at"),
  };
}

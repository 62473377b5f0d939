/** Documents on PostgreSQL: small JSON values with a version and an optional expiry, judged by this process's clock. */
import { createHash } from "node:crypto";
import type { Clock } from "../base/clock.ts";
import type { JsonValue } from "../base/json.ts";
import { checkKey, toValueText } from "./document-values.ts";
import { fromStoredKey, toStoredKey } from "./key-text.ts";
import type { Committer, Work } from "./postgres-commit.ts";
import type { Database } from "./postgres-connection.ts";
import { integerColumn, jsonColumn, optionalIntegerColumn, textColumn, wholeMs, type Row } from "./rows.ts";
import type { Documents, StoredDocument } from "./store.ts";
import { startSweep } from "./sweep.ts";

export interface PostgresDocuments extends Documents {
  /** Ends the sweep of what ran out. */
  readonly stop: () => void;
}

export interface PostgresDocumentsOptions {
  readonly database: Database;
  readonly committer: Committer;
  readonly clock: Clock;
  readonly onFault: (error: unknown) => void;
}

const SWEPT_AT_ONCE = 500;

const COLUMNS = "key, value, version, updated_at, expires_at";
const SELECT_ONE = `
  SELECT ${COLUMNS} FROM documents
  WHERE collection = $1 AND key_digest = $2 AND (expires_at IS NULL OR expires_at > $3)`;
const SELECT_PREFIX = `
  SELECT ${COLUMNS} FROM documents
  WHERE collection = $1 AND starts_with(key, $2) AND (expires_at IS NULL OR expires_at > $3) ORDER BY key`;
/** The lock of the collection is held, so that what `found` reads stays true. */
const PUT = `
  WITH found AS (
    SELECT coalesce((SELECT version FROM documents
      WHERE collection = $1 AND key_digest = $2 AND (expires_at IS NULL OR expires_at > $3)), 0) AS version
  )
  INSERT INTO documents (collection, key_digest, key, value, version, updated_at, expires_at)
  SELECT $1, $2, $4, $5, found.version + 1, $3, $6::bigint FROM found
  WHERE $7::bigint IS NULL OR found.version = $7
  ON CONFLICT (collection, key_digest) DO UPDATE SET
    value = excluded.value, version = excluded.version, updated_at = excluded.updated_at, expires_at = excluded.expires_at
  RETURNING version`;
const DELETE_ONE = `
  DELETE FROM documents WHERE collection = $1 AND key_digest = $2
    AND (expires_at IS NULL OR expires_at > $3) AND ($4::bigint IS NULL OR version = $4) RETURNING version`;
const SELECT_EXPIRED = "SELECT DISTINCT collection FROM documents WHERE expires_at <= $1";
const DELETE_EXPIRED = `
  DELETE FROM documents WHERE (collection, key_digest) IN (
    SELECT collection, key_digest FROM documents WHERE expires_at <= $1 AND collection = $2 LIMIT ${SWEPT_AT_ONCE}
  ) RETURNING version`;

/** Starts the sweep of what ran out, once a minute; `stop` ends it. */
export function createPostgresDocuments(options: PostgresDocumentsOptions): PostgresDocuments {
  const { database, committer, clock, onFault } = options;

  const sweep = async (): Promise<boolean> => {
    let isFull = false;
    const collections = await database.read(SELECT_EXPIRED, [wholeMs(clock.now())], (row) =>
      textColumn(row, "collection"),
    );
    for (const collection of collections) {
      const swept = await committer.write(
        [collection],
        async (transaction, touch) => {
          const gone = await transaction.query(DELETE_EXPIRED, [wholeMs(clock.now()), collection]);
          if (gone.length > 0) touch(collection);
          return gone.length;
        },
        false,
      );
      isFull ||= swept === SWEPT_AT_ONCE;
    }
    return isFull;
  };

  return {
    async get(collection, key) {
      const values = [collection, digestOf(key), wholeMs(clock.now())];
      return (await database.read(SELECT_ONE, values, fromRow))[0];
    },

    async put(collection, key, value, putOptions = {}) {
      checkKey(key);
      const text = toValueText(value, collection, key);
      const { ifVersion = null, durable = true } = putOptions;
      const expiresAt = putOptions.expiresAt === undefined ? null : wholeMs(putOptions.expiresAt);
      const work: Work<StoredDocument | undefined> = async (transaction, touch) => {
        const updatedAt = wholeMs(clock.now());
        const values = [collection, digestOf(key), updatedAt, toStoredKey(key), text, expiresAt, ifVersion];
        const [written] = await transaction.query(PUT, values);
        if (written === undefined) return undefined;
        touch(collection);
        const version = integerColumn(written, "version");
        return { key, value: JSON.parse(text) as JsonValue, version, updatedAt, expiresAt };
      };
      return committer.write([collection], work, durable);
    },

    async delete(collection, key, ifVersion) {
      const work: Work<boolean> = async (transaction, touch) => {
        const values = [collection, digestOf(key), wholeMs(clock.now()), ifVersion ?? null];
        const isGone = (await transaction.query(DELETE_ONE, values)).length > 0;
        if (isGone) touch(collection);
        return isGone;
      };
      return committer.write([collection], work, true);
    },

    async list(collection, prefix = "") {
      const values = [collection, toStoredKey(prefix), wholeMs(clock.now())];
      return database.read(SELECT_PREFIX, values, fromRow);
    },

    stop: startSweep({ clock, sweep, onFault }),
  };
}

function digestOf(key: string): Buffer {
  return createHash("sha256").update(toStoredKey(key)).digest();
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

/** The first schema. A released migration is never edited; what changes comes as the next file. */
import type { Migration } from "../migrate.ts";

export const initial: Migration = {
  version: 1,
  name: "initial",
  sql: `
    CREATE TABLE documents (
      id INTEGER PRIMARY KEY,
      collection TEXT NOT NULL,
      key TEXT NOT NULL,
      value TEXT NOT NULL,
      version INTEGER NOT NULL,
      updated_at INTEGER NOT NULL,
      expires_at INTEGER,
      UNIQUE (collection, key)
    ) STRICT;
    CREATE INDEX documents_by_expiry ON documents (expires_at) WHERE expires_at IS NOT NULL;

    -- One row per writer: the end of its chain, and how far its beginning was pruned.
    CREATE TABLE chains (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      writer TEXT NOT NULL UNIQUE,
      sequence INTEGER NOT NULL,
      hash TEXT NOT NULL,
      pruned_to INTEGER NOT NULL,
      pruned_hash TEXT NOT NULL
    ) STRICT;

    CREATE TABLE records (
      id INTEGER PRIMARY KEY,
      chain INTEGER NOT NULL,
      sequence INTEGER NOT NULL,
      call_id TEXT NOT NULL,
      kind TEXT NOT NULL,
      at INTEGER NOT NULL,
      server TEXT,
      tool TEXT,
      principal TEXT,
      body TEXT NOT NULL,
      previous_hash TEXT NOT NULL,
      hash TEXT NOT NULL,
      UNIQUE (chain, sequence)
    ) STRICT;
    CREATE INDEX records_by_call ON records (call_id);
    CREATE INDEX records_by_time ON records (at);
    CREATE INDEX records_by_server ON records (server) WHERE server IS NOT NULL;
    CREATE INDEX records_by_principal ON records (principal) WHERE principal IS NOT NULL;

    -- Records are append-only. Only what lies before a chain's pruning anchor may go, and that anchor only moves forward.
    CREATE TRIGGER records_are_never_updated BEFORE UPDATE ON records
    BEGIN SELECT RAISE(ABORT, 'records are append-only'); END;
    CREATE TRIGGER records_are_only_pruned BEFORE DELETE ON records
    WHEN OLD.sequence > coalesce((SELECT pruned_to FROM chains WHERE id = OLD.chain), 0)
    BEGIN SELECT RAISE(ABORT, 'records are append-only'); END;
    CREATE TRIGGER chains_only_grow BEFORE UPDATE ON chains
    WHEN NEW.id <> OLD.id OR NEW.writer <> OLD.writer OR NEW.sequence < OLD.sequence
      OR NEW.pruned_to < OLD.pruned_to OR NEW.pruned_to > NEW.sequence
    BEGIN SELECT RAISE(ABORT, 'chains only grow'); END;
    CREATE TRIGGER chains_stay_while_they_have_records BEFORE DELETE ON chains
    WHEN OLD.pruned_to < OLD.sequence
    BEGIN SELECT RAISE(ABORT, 'records are append-only'); END;

    -- Calls with an opened record and no closed one, so that recovery need not read whole chains.
    CREATE TABLE open_calls (
      call_id TEXT PRIMARY KEY,
      chain INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE instances (
      id TEXT PRIMARY KEY,
      pid INTEGER NOT NULL,
      process_start TEXT NOT NULL,
      machine TEXT NOT NULL,
      role TEXT NOT NULL,
      started_at INTEGER NOT NULL,
      lease_until INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;

    -- Holder and waiters of a lease in one queue: the lowest ticket of a name holds it.
    CREATE TABLE lease_queue (
      ticket INTEGER PRIMARY KEY AUTOINCREMENT,
      name TEXT NOT NULL,
      instance TEXT NOT NULL,
      until INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX lease_queue_by_name ON lease_queue (name, ticket);

    -- How often each topic changed: what tells a watcher of another process what it must look at again.
    CREATE TABLE topics (
      topic TEXT PRIMARY KEY,
      changes INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
  `,
};

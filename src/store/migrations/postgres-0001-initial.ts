/** The first schema on PostgreSQL. A released migration is never edited; what changes comes as the next file. */
import type { Migration } from "../migrate.ts";

export const postgresInitial: Migration = {
  version: 1,
  name: "initial",
  sql: `
    -- A key is longer than an index takes, so its digest stands for it.
    CREATE TABLE documents (
      collection text NOT NULL,
      key_digest bytea NOT NULL,
      key text COLLATE "C" NOT NULL,
      value text NOT NULL,
      version bigint NOT NULL,
      updated_at bigint NOT NULL,
      expires_at bigint,
      PRIMARY KEY (collection, key_digest)
    );
    CREATE INDEX documents_by_expiry ON documents (expires_at) WHERE expires_at IS NOT NULL;

    -- One row per writer: the end of its chain, and how far its beginning was pruned.
    CREATE TABLE chains (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      writer text NOT NULL UNIQUE,
      sequence bigint NOT NULL,
      hash text NOT NULL,
      pruned_to bigint NOT NULL,
      pruned_hash text NOT NULL
    );

    CREATE TABLE records (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      chain bigint NOT NULL,
      sequence bigint NOT NULL,
      call_id text NOT NULL,
      kind text NOT NULL,
      at bigint NOT NULL,
      server text,
      tool text,
      principal text,
      body text NOT NULL,
      previous_hash text NOT NULL,
      hash text NOT NULL,
      UNIQUE (chain, sequence)
    );
    CREATE INDEX records_by_call ON records (call_id);
    CREATE INDEX records_by_time ON records (at);
    CREATE INDEX records_by_server ON records (left(server, 100), id) WHERE server IS NOT NULL;
    CREATE INDEX records_by_principal ON records (left(principal, 100), id) WHERE principal IS NOT NULL;

    -- Records are append-only. Only what lies before a chain's pruning anchor may go, and that anchor only moves forward.
    CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'records are append-only'; END $$;
    CREATE TRIGGER records_are_never_updated BEFORE UPDATE ON records
      FOR EACH ROW EXECUTE FUNCTION refuse_change();
    CREATE TRIGGER records_are_never_emptied BEFORE TRUNCATE ON records
      FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
    CREATE TRIGGER chains_are_never_emptied BEFORE TRUNCATE ON chains
      FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
    CREATE FUNCTION refuse_unpruned() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF OLD.sequence > coalesce((SELECT pruned_to FROM chains WHERE id = OLD.chain), 0) THEN
        RAISE EXCEPTION 'records are append-only';
      END IF;
      RETURN OLD;
    END $$;
    CREATE TRIGGER records_are_only_pruned BEFORE DELETE ON records
      FOR EACH ROW EXECUTE FUNCTION refuse_unpruned();
    CREATE TRIGGER chains_only_grow BEFORE UPDATE ON chains
      FOR EACH ROW WHEN (NEW.id <> OLD.id OR NEW.writer <> OLD.writer OR NEW.sequence < OLD.sequence
        OR NEW.pruned_to < OLD.pruned_to OR NEW.pruned_to > NEW.sequence)
      EXECUTE FUNCTION refuse_change();
    CREATE TRIGGER chains_stay_while_they_have_records BEFORE DELETE ON chains
      FOR EACH ROW WHEN (OLD.pruned_to < OLD.sequence)
      EXECUTE FUNCTION refuse_change();

    -- Calls with an opened record and no closed one, so that recovery need not read whole chains.
    CREATE TABLE open_calls (
      call_id text PRIMARY KEY,
      chain bigint NOT NULL
    );

    CREATE TABLE instances (
      id text PRIMARY KEY,
      pid bigint NOT NULL,
      process_start text NOT NULL,
      machine text NOT NULL,
      role text NOT NULL,
      started_at bigint NOT NULL,
      lease_until bigint NOT NULL
    );

    -- Holder and waiters of a lease in one queue: the lowest ticket of a name holds it.
    CREATE TABLE lease_queue (
      ticket bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      name text NOT NULL,
      instance text NOT NULL,
      until bigint NOT NULL
    );
    CREATE INDEX lease_queue_by_name ON lease_queue (name, ticket);

    -- How often each topic changed. A row is also the lock under which its topic is written.
    CREATE TABLE topics (
      topic text PRIMARY KEY,
      changes bigint NOT NULL
    ) WITH (fillfactor = 50);

    -- The number of each writer's newest commit: what tells whether one was made whose answer was lost.
    CREATE TABLE commits (
      writer text PRIMARY KEY,
      number bigint NOT NULL
    ) WITH (fillfactor = 50);
  `,
};

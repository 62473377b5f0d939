/** All connections of a host, by key. */
import type { CloseReport } from "../transport/transport.ts";
import { connectionId, type ConnectionKey } from "../vocabulary.ts";
import type { Connection, Session } from "./connection.ts";

export interface Pool<S extends Session> {
  /** The connection of `key`, made where there is none. */
  get(key: ConnectionKey): Connection<S>;
  find(key: ConnectionKey): Connection<S> | undefined;
  list(): readonly Connection<S>[];
  /** Ends the connections of a server and forgets them. */
  drop(server: string): Promise<void>;
  /** Ends all; resolves with what would not go, by connection id. */
  close(): Promise<readonly string[]>;
}

export function createPool<S extends Session>(create: (key: ConnectionKey) => Connection<S>): Pool<S> {
  const connections = new Map<string, Connection<S>>();
  const remains = (id: string, report: CloseReport): string[] =>
    report.how === "remains" ? [report.detail === undefined ? id : `${id}: ${report.detail}`] : [];
  return {
    get(key) {
      const id = connectionId(key);
      const known = connections.get(id);
      if (known !== undefined) return known;
      const made = create(key);
      connections.set(id, made);
      return made;
    },
    find: (key) => connections.get(connectionId(key)),
    list: () => [...connections.values()],
    async drop(server) {
      const dropped = [...connections].filter(([, connection]) => connection.key.server === server);
      for (const [id] of dropped) connections.delete(id);
      await Promise.all(dropped.map(([, connection]) => connection.close()));
    },
    async close() {
      const closed = await Promise.all(
        [...connections].map(async ([id, connection]) => remains(id, await connection.close())),
      );
      return closed.flat();
    },
  };
}

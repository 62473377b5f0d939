/** All connections of a host, by key. */
import type { Clock } from "../base/clock.ts";
import type { CloseReport } from "../transport/transport.ts";
import { connectionId, type ConnectionKey } from "../vocabulary.ts";
import type { Connection } from "./connection.ts";
import { drainAndClose } from "./drain.ts";
import type { Session } from "./session.ts";

export interface Pool<S extends Session> {
  /** The connection of `key`, made where there is none. */
  get(key: ConnectionKey): Connection<S>;
  find(key: ConnectionKey): Connection<S> | undefined;
  list(): readonly Connection<S>[];
  /** Forgets the connections of a server at once, and ends them when what runs over them is done, or after 5 s. */
  drop(server: string): Promise<void>;
  /** Ends all; resolves with what would not go, by connection id. */
  close(): Promise<readonly string[]>;
}

/** @param create gets what it must wait for before its first start: the end of the connection of that key before. */
export function createPool<S extends Session>(
  create: (key: ConnectionKey, after: Promise<unknown>) => Connection<S>,
  clock: Clock,
): Pool<S> {
  /** Of dropped connections that still end; one that was dropped later ends after those before it. */
  const endings = new Map<string, Promise<readonly string[]>>();
  const cut = new AbortController();
  const connections = new Map<string, Connection<S>>();
  const remains = (id: string, report: CloseReport): string[] =>
    report.how === "remains" ? [report.detail === undefined ? id : `${id}: ${report.detail}`] : [];
  return {
    get(key) {
      const id = connectionId(key);
      const known = connections.get(id);
      if (known !== undefined) return known;
      const made = create(key, endings.get(id) ?? Promise.resolve());
      connections.set(id, made);
      return made;
    },
    find: (key) => connections.get(connectionId(key)),
    list: () => [...connections.values()],
    async drop(server) {
      const dropped = [...connections].filter(([, connection]) => connection.key.server === server);
      await Promise.all(
        dropped.map(async ([id, connection]) => {
          connections.delete(id);
          const before = endings.get(id) ?? Promise.resolve([]);
          const ending = drainAndClose(connection, clock, cut.signal)
            .then(async (report) => [...(await before), ...remains(id, report)])
            .finally(() => {
              if (endings.get(id) === ending) endings.delete(id);
            });
          endings.set(id, ending);
          await ending;
        }),
      );
    },
    async close() {
      cut.abort(new Error("the pool is closed"));
      const closing = [...connections].map(async ([id, connection]) => remains(id, await connection.close()));
      const closed = await Promise.all([...endings.values(), ...closing]);
      return closed.flat();
    },
  };
}

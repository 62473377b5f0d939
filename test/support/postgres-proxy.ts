/** A proxy in front of PostgreSQL that loses a connection at the worst moment: at a commit, or altogether. */
import net, { type AddressInfo, type Socket } from "node:net";

/** The end of a message that ends a transaction. */
const COMMIT = " COMMIT\0";

/** Before the server hears of it, or after; `null`: not at all. */
type Cut = "before" | "after" | null;

export interface PostgresProxy {
  readonly port: number;
  /** Cuts the connection of the next commit. @param isLast nobody gets through after it: as after `refuse`. */
  cutNextCommit(cut: Exclude<Cut, null>, isLast?: boolean): void;
  /** Resolves when that was done; after `after`, when the server has answered it. */
  readonly cutDone: () => Promise<void>;
  /** From now on every connection that is open, or is made, is reset; what a cut commit still waits for goes on. */
  refuse(): void;
  close(): Promise<void>;
}

export async function startPostgresProxy(serverPort: number): Promise<PostgresProxy> {
  let cut: Cut = null;
  let isLastCut = false;
  let isRefusing = false;
  let done = Promise.withResolvers<void>();
  const sockets = new Set<Socket>();
  const track = (socket: Socket): Socket => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.once("close", () => sockets.delete(socket));
    return socket;
  };

  const clients = new Set<Socket>();
  const refuse = (): void => {
    isRefusing = true;
    for (const socket of clients) socket.resetAndDestroy();
  };
  const server = net.createServer((client) => {
    clients.add(track(client));
    client.once("close", () => clients.delete(client));
    if (isRefusing) {
      client.resetAndDestroy();
      return;
    }
    const upstream = track(net.connect({ host: "127.0.0.1", port: serverPort }));
    /** The answer to a commit is waited for although nobody hears it. */
    let isAwaited = false;
    client.on("data", (chunk) => {
      const now = chunk.includes(COMMIT) ? cut : null;
      if (now === null) {
        upstream.write(chunk);
        return;
      }
      cut = null;
      isAwaited = now === "after";
      if (isLastCut) refuse();
      client.resetAndDestroy();
      if (now === "before") {
        upstream.destroy();
        done.resolve();
        return;
      }
      upstream.write(chunk);
      upstream.once("data", () => {
        upstream.destroy();
        done.resolve();
      });
    });
    upstream.on("data", (chunk) => void (client.destroyed || client.write(chunk)));
    upstream.once("close", () => client.destroy());
    client.once("close", () => {
      if (!isAwaited) upstream.end();
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));

  return {
    port: (server.address() as AddressInfo).port,
    cutNextCommit(next, isLast = false) {
      isLastCut = isLast;
      done = Promise.withResolvers<void>();
      cut = next;
    },
    cutDone: () => done.promise,
    refuse,
    close() {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => void server.close(() => resolve()));
    },
  };
}

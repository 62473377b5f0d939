/** A network that fails on command: a TCP proxy in front of a server on loopback. */
import net, { type AddressInfo, type Socket } from "node:net";

export type Weather =
  | "fine"
  /** Nobody listens: connections are refused. */
  | "refused"
  /** Connections are made and reset at once, and open ones too. */
  | "reset"
  /** Bytes go nowhere, in both directions; open connections too. */
  | "black-hole"
  /** What the server answers is cut after its first bytes, and our side is half closed. */
  | "half-closed"
  /** Everything takes this long more. */
  | { readonly delayMs: number };

export interface TcpProxy {
  /** `http://127.0.0.1:PORT/mcp`. */
  readonly url: URL;
  weather(next: Weather): Promise<void>;
  /** Connections that were tried, whatever became of them. While `refused` nothing can be counted. */
  readonly attempts: () => number;
  close(): Promise<void>;
}

export async function startTcpProxy(target: URL): Promise<TcpProxy> {
  let now: Weather = "fine";
  let attempts = 0;
  const sockets = new Set<Socket>();
  const track = (socket: Socket): Socket => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.once("close", () => sockets.delete(socket));
    return socket;
  };

  const forward = (from: Socket, to: Socket, isAnswer: boolean): void => {
    from.on("data", (chunk: Buffer) => {
      const weather = now;
      if (weather === "black-hole") return;
      if (weather === "half-closed" && isAnswer) {
        to.end(chunk.subarray(0, 20));
        return;
      }
      if (typeof weather === "object") setTimeout(() => to.write(chunk), weather.delayMs);
      else to.write(chunk);
    });
    from.on("end", () => {
      if (now !== "black-hole") to.end();
    });
  };

  const onConnection = (client: Socket): void => {
    attempts += 1;
    track(client);
    if (now === "reset") {
      client.resetAndDestroy();
      return;
    }
    const upstream = track(
      net.connect({ host: "127.0.0.1", port: Number(target.port), allowHalfOpen: true }),
    );
    forward(client, upstream, false);
    forward(upstream, client, true);
    client.once("close", () => upstream.destroy());
  };

  const listen = (port: number): Promise<net.Server> =>
    new Promise((resolve) => {
      const server = net.createServer({ allowHalfOpen: true }, onConnection);
      server.listen(port, "127.0.0.1", () => resolve(server));
    });
  const cutAll = (): void => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  const stop = (server: net.Server): Promise<void> => new Promise((resolve) => server.close(() => resolve()));

  let server: net.Server | undefined = await listen(0);
  const { port } = server.address() as AddressInfo;
  return {
    url: new URL(`http://127.0.0.1:${port}/mcp`),
    attempts: () => attempts,
    async weather(next) {
      now = next;
      if (next === "refused" && server !== undefined) {
        const stopped = stop(server);
        server = undefined;
        cutAll();
        await stopped;
      }
      if (next !== "refused" && server === undefined) server = await listen(port);
      if (next === "reset") cutAll();
    },
    async close() {
      const stopped = server === undefined ? Promise.resolve() : stop(server);
      server = undefined;
      cutAll();
      await stopped;
    },
  };
}

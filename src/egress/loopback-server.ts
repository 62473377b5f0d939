/**
 * A small HTTP server on 127.0.0.1 for the proofs of `check --live`: it counts who connects and answers as it is told, also with a
 * body that never ends. Only for that: it reads requests of our own client, one at a time per connection.
 */
import { createServer, type AddressInfo, type Socket } from "node:net";

export interface LoopbackRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface LoopbackAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A text, or pieces that are sent as they come until the other side has had enough. */
  readonly body?: string | Iterable<string>;
}

export interface LoopbackServer {
  /** `http://127.0.0.1:PORT/mcp`. */
  readonly url: URL;
  readonly connections: () => number;
  readonly bytesSent: () => number;
  close(): Promise<void>;
}

const MAX_REQUEST_BYTES = 1024 * 1024;
const HEAD_END = "\r\n\r\n";

/** Starts listening on a free port. */
export async function startLoopbackServer(
  answer: (request: LoopbackRequest) => LoopbackAnswer,
): Promise<LoopbackServer> {
  const sockets = new Set<Socket>();
  let connections = 0;
  let bytesSent = 0;
  const server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.once("close", () => {
      sockets.delete(socket);
      bytesSent += socket.bytesWritten;
    });
    readRequests(socket, (request) => void respond(socket, answer(request)));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: new URL(`http://127.0.0.1:${port}/mcp`),
    connections: () => connections,
    bytesSent: () => [...sockets].reduce((sum, { bytesWritten }) => sum + bytesWritten, bytesSent),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/** Calls `handle` for every whole request; ends a connection that sends too much. */
function readRequests(socket: Socket, handle: (request: LoopbackRequest) => void): void {
  let text = "";
  socket.setEncoding("latin1");
  socket.on("data", (chunk: string) => {
    text += chunk;
    if (text.length > MAX_REQUEST_BYTES) socket.destroy();
    for (;;) {
      const end = text.indexOf(HEAD_END);
      if (end < 0) return;
      const [start = "", ...lines] = text.slice(0, end).split("\r\n");
      const headers = Object.fromEntries(
        lines.map((line) => {
          const colon = line.indexOf(":");
          return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
        }),
      );
      const from = end + HEAD_END.length;
      const length = Number(headers["content-length"] ?? 0);
      if (text.length < from + length) return;
      const body = Buffer.from(text.slice(from, from + length), "latin1").toString("utf8");
      text = text.slice(from + length);
      handle({ method: start.split(" ", 1)[0] ?? "", headers, body });
    }
  });
}

async function respond(socket: Socket, { status, headers = {}, body = "" }: LoopbackAnswer): Promise<void> {
  const isText = typeof body === "string";
  const length = isText
    ? { "content-length": String(Buffer.byteLength(body)) }
    : { "transfer-encoding": "chunked" };
  const lines = Object.entries({ ...headers, ...length }).map(([name, value]) => `${name}: ${value}`);
  socket.write(`HTTP/1.1 ${status} Answer\r\n${lines.join("\r\n")}${HEAD_END}${isText ? body : ""}`);
  if (isText) return;
  for (const piece of body) {
    if (socket.destroyed) return;
    const isTaken = socket.write(`${Buffer.byteLength(piece).toString(16)}\r\n${piece}\r\n`);
    if (!isTaken) await untilDrained(socket);
  }
  if (!socket.destroyed) socket.write(`0${HEAD_END}`);
}

function untilDrained(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      socket.off("drain", done);
      socket.off("close", done);
      resolve();
    };
    socket.once("drain", done);
    socket.once("close", done);
  });
}

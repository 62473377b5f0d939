/** HTTP servers on loopback for tests: in this process, or a script that prints its address; ended by the test that started them. */
import { spawn } from "node:child_process";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";

export interface LocalServer {
  /** `http://127.0.0.1:PORT/mcp`. */
  readonly url: URL;
  readonly server: Server;
  /** How many TCP connections came in so far. */
  readonly connections: () => number;
  /** How many are open now. */
  readonly openConnections: () => Promise<number>;
  readonly close: () => Promise<void>;
}

export type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => void;

/** @param handler gets the whole body as text. */
export async function startLocalServer(handler: Handler): Promise<LocalServer> {
  let connections = 0;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("error", () => undefined);
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => handler(request, response, Buffer.concat(chunks).toString("utf8")));
  });
  server.requestTimeout = 0;
  server.on("connection", (socket) => {
    connections += 1;
    socket.on("error", () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: new URL(`http://127.0.0.1:${port}/mcp`),
    server,
    connections: () => connections,
    openConnections: () =>
      new Promise((resolve, reject) => {
        server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)));
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export interface ScriptServer {
  readonly url: URL;
  /** What `GET /__report` answers: counters of requests, a log, and what the case keeps besides. */
  report(): Promise<{
    readonly counters: Readonly<Record<string, number>>;
    readonly log: readonly {
      readonly method: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: string;
      readonly at: number;
    }[];
    readonly extra: Readonly<Record<string, unknown>>;
  }>;
  readonly close: () => Promise<void>;
}

/** Starts a script whose first line on stdout is `{ "url": … }`, as the HTTP field servers do. */
export async function startScriptServer(
  file: string,
  env: Readonly<Record<string, string>>,
): Promise<ScriptServer> {
  const child = spawn(process.execPath, [file], {
    env: { PATH: process.env["PATH"] ?? "", ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const lines = createInterface({ input: child.stdout });
  const first = await new Promise<string>((resolve, reject) => {
    lines.once("line", resolve);
    child.once("exit", () => reject(new Error(`${file} ended before it listened`)));
  });
  const url = new URL((JSON.parse(first) as { url: string }).url);
  return {
    url,
    async report() {
      const response = await fetch(new URL("/__report", url), { headers: { connection: "close" } });
      return (await response.json()) as Awaited<ReturnType<ScriptServer["report"]>>;
    },
    async close() {
      child.kill("SIGKILL");
      lines.close();
      await exited;
    },
  };
}

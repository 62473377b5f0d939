/** Ports, servers and requests for the tests of guarded HTTP; everything made here ends after each test. */
import { createServer as createTcpServer, type AddressInfo, type Socket } from "node:net";
import { afterEach } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { createHttpPort, type HttpPortOptions } from "../../src/egress/dial.ts";
import { PortcullisError } from "../../src/errors.ts";
import type { HttpPort, HttpRequest, HttpResponse } from "../../src/transport/http-port.ts";
import { startLocalServer, type Handler, type LocalServer } from "./local-http.ts";

/** What the running test has to end, last first. */
export const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

export async function serve(handler: Handler): Promise<LocalServer> {
  const server = await startLocalServer(handler);
  ends.push(server.close);
  return server;
}

/** A TCP server that is no HTTP server. */
export async function serveRaw(onSocket: (socket: Socket) => void): Promise<URL> {
  const open = new Set<Socket>();
  const server = createTcpServer((socket) => {
    open.add(socket);
    socket.on("error", () => undefined);
    onSocket(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  ends.push(async () => {
    for (const socket of open) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
}

export function dial(url: URL, options: Partial<HttpPortOptions> = {}): HttpPort {
  const port = createHttpPort({
    rules: { origins: [url.origin], allow: [], allowPrivateAddresses: true },
    clock: systemClock,
    ...options,
  });
  ends.push(() => port.close());
  return port;
}

export function requestTo(url: URL, more: Partial<HttpRequest> = {}): HttpRequest {
  return {
    method: "POST",
    url,
    headers: {},
    signal: new AbortController().signal,
    maxBodyBytes: 1_000_000,
    ...more,
  };
}

export async function textOf(response: HttpResponse): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

export async function failure(promise: Promise<unknown>): Promise<PortcullisError> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof PortcullisError) return error;
    throw error;
  }
  throw new Error("it was expected to fail");
}

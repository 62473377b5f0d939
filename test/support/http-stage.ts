/** A transport over HTTP with a server in this process that a test scripts; both end after each test. */
import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import { afterEach } from "vitest";
import type { JsonRpcRequest } from "../../src/protocol/jsonrpc.ts";
import { openHttpPeer, type HttpPeer, type HttpPeerOptions } from "./http-peer.ts";
import { startLocalServer, type LocalServer } from "./local-http.ts";

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The JSON-RPC message of a POST. */
  readonly message: JsonRpcRequest;
  readonly response: ServerResponse;
}

export interface Stage extends HttpPeer {
  readonly seen: readonly Seen[];
  readonly server: LocalServer;
}

/** A transport in front of `answer`, which gets every request; notifications it leaves alone get 202. */
export async function stage(answer: (seen: Seen) => unknown, options: HttpPeerOptions = {}): Promise<Stage> {
  const seen: Seen[] = [];
  const server = await startLocalServer((request, response, body) => {
    const one: Seen = {
      method: request.method ?? "",
      path: request.url ?? "",
      headers: request.headers,
      message: (body === "" ? {} : JSON.parse(body)) as JsonRpcRequest,
      response,
    };
    seen.push(one);
    if (answer(one) === false) response.writeHead(one.method === "POST" ? 202 : 405).end();
  });
  ends.push(server.close);
  const peer = await openHttpPeer(server.url, options);
  ends.push(peer.close);
  return { ...peer, seen, server };
}

export function json(
  response: ServerResponse,
  status: number,
  value: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(value));
}

export const ok = (id: unknown, result: unknown = {}): object => ({ jsonrpc: "2.0", id, result });
export const event = (message: unknown, more = ""): string => `${more}data: ${JSON.stringify(message)}\n\n`;

export function events(response: ServerResponse, text = ""): ServerResponse {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.flushHeaders();
  if (text !== "") response.write(text);
  return response;
}

/** Answers requests with `{}`; gives a session to `initialize`; leaves everything else to the default. */
export function legacy({ method, message, response }: Seen): boolean {
  if (method !== "POST" || message.id === undefined) return false;
  json(response, 200, ok(message.id), message.method === "initialize" ? { "mcp-session-id": "s-1" } : {});
  return true;
}

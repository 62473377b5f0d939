/** An HTTP transport under test with everything that it told its sink, and waits for what it will tell. */
import { createHttpPort, type HttpPortLimits } from "../../src/egress/dial.ts";
import { systemClock, type Clock } from "../../src/base/clock.ts";
import type { JsonObject } from "../../src/base/json.ts";
import { createSeededRandom } from "../../src/base/random.ts";
import type { PortcullisError } from "../../src/errors.ts";
import type { JsonRpcMessage, JsonRpcRequest, RequestId } from "../../src/protocol/jsonrpc.ts";
import { createHttpTransport, type HttpTransportLimits } from "../../src/transport/http.ts";
import { createSseTransport } from "../../src/transport/sse-legacy.ts";
import type {
  MessageOrigin,
  Oddity,
  SendOptions,
  Transport,
  TransportSink,
} from "../../src/transport/transport.ts";

/** How a request ended. */
export type Ended =
  | { readonly kind: "response"; readonly message: JsonRpcMessage; readonly origin: MessageOrigin }
  | { readonly kind: "failed"; readonly error: PortcullisError };

export interface RecordingSink extends TransportSink {
  readonly received: { readonly message: JsonRpcMessage; readonly origin: MessageOrigin }[];
  readonly oddities: Oddity[];
  readonly ends: (PortcullisError | undefined)[];
  /** Resolves when `condition` holds; looked at after every call of the sink. */
  until(condition: () => boolean): Promise<void>;
  ended(id: RequestId): Promise<Ended>;
  /** How often the request ended: 1 is right. */
  endCount(id: RequestId): number;
}

export function createRecordingSink(): RecordingSink {
  const ended = new Map<RequestId, Ended[]>();
  const waiting = new Set<() => void>();
  const changed = (): void => {
    for (const check of waiting) check();
  };
  const end = (id: RequestId, how: Ended): void => {
    const known = ended.get(id) ?? [];
    known.push(how);
    ended.set(id, known);
  };
  const sink: RecordingSink = {
    received: [],
    oddities: [],
    ends: [],
    message(message, origin) {
      sink.received.push({ message, origin });
      if (!("method" in message) && message.id !== undefined && message.id !== null) {
        end(message.id, { kind: "response", message, origin });
      }
      changed();
    },
    requestFailed(id, error) {
      end(id, { kind: "failed", error });
      changed();
    },
    closed(error) {
      sink.ends.push(error);
      changed();
    },
    odd(oddity) {
      sink.oddities.push(oddity);
      changed();
    },
    until(condition) {
      return new Promise((resolve) => {
        const check = (): void => {
          if (!condition()) return;
          waiting.delete(check);
          resolve();
        };
        waiting.add(check);
        check();
      });
    },
    async ended(id) {
      await sink.until(() => ended.has(id));
      return ended.get(id)?.[0] as Ended;
    },
    endCount: (id) => ended.get(id)?.length ?? 0,
  };
  return sink;
}

export interface HttpPeerOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly clock?: Clock;
  readonly limits?: HttpTransportLimits;
  readonly portLimits?: HttpPortLimits;
  readonly kind?: "http" | "sse";
}

export interface HttpPeer {
  readonly transport: Transport;
  readonly sink: RecordingSink;
  /** Sends a request under a new id and waits for its end. */
  readonly call: (method: string, params?: JsonObject, options?: SendOptions) => Promise<Ended>;
  readonly notify: (method: string) => Promise<void>;
  /** `initialize`, `notifications/initialized`, `settle`. */
  readonly handshake: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** A transport to `url` over a real guarded port that permits loopback. */
export async function openHttpPeer(url: URL, options: HttpPeerOptions = {}): Promise<HttpPeer> {
  const clock = options.clock ?? systemClock;
  const port = createHttpPort({
    rules: { origins: [url.origin], allow: [], allowPrivateAddresses: true },
    clock,
    ...(options.portLimits === undefined ? {} : { limits: options.portLimits }),
  });
  const base = {
    url,
    headers: () => Promise.resolve(options.headers ?? {}),
    port,
    clock,
    ...(options.limits === undefined ? {} : { limits: options.limits }),
  };
  const transport =
    options.kind === "sse"
      ? createSseTransport(base)
      : createHttpTransport({ ...base, random: createSeededRandom(1) });
  const sink = createRecordingSink();
  await transport.open(sink, new AbortController().signal);
  let lastId = 0;
  const peer: HttpPeer = {
    transport,
    sink,
    async call(method, params = {}, sendOptions = {}) {
      lastId += 1;
      const request: JsonRpcRequest = { jsonrpc: "2.0", id: lastId, method, params };
      await transport.send(request, sendOptions);
      return sink.ended(request.id);
    },
    notify: (method) => transport.send({ jsonrpc: "2.0", method }, {}),
    async handshake() {
      const clientInfo = { name: "test", version: "1" };
      await peer.call("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
      transport.settle({ era: "legacy", revision: "2025-11-25" });
      await peer.notify("notifications/initialized");
    },
    async close() {
      await transport.close();
    },
  };
  return peer;
}

const MODERN = "2026-07-28";

/** A modern request: `_meta`, and the headers that mirror it. */
export async function callModern(peer: HttpPeer, method: string, params: JsonObject = {}): Promise<Ended> {
  const meta = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const name = params["name"];
  const headers = { "mcp-method": method, ...(typeof name === "string" ? { "mcp-name": name } : {}) };
  return peer.call(method, { ...params, _meta: meta }, { headers });
}

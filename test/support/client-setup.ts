/** A client on a scripted transport with a manual clock, connected or not. */
import type { JsonObject } from "../../src/base/json.ts";
import { createManualClock, type ManualClock } from "../../src/base/manual-clock.ts";
import { createSeededRandom } from "../../src/base/random.ts";
import { createClient, type Client } from "../../src/client/client.ts";
import type { ClientEvent } from "../../src/client/events.ts";
import type { ClientOptions } from "../../src/client/options.ts";
import { PortcullisError } from "../../src/errors.ts";
import type { JsonRpcRequest } from "../../src/protocol/jsonrpc.ts";
import type { ServerCapabilities } from "../../src/protocol/types.ts";
import type { TransportKind } from "../../src/transport/transport.ts";
import { createScriptedTransport, type Respond, type ScriptedTransport } from "./scripted-transport.ts";

export interface ClientSetup {
  readonly clock: ManualClock;
  readonly transport: ScriptedTransport;
  readonly client: Client;
  readonly events: ClientEvent[];
}

export interface SetupOptions extends Partial<Omit<ClientOptions, "transport" | "clock">> {
  readonly kind?: TransportKind;
}

export function setUpClient(respond: Respond = () => undefined, options: SetupOptions = {}): ClientSetup {
  const { kind = "memory", ...others } = options;
  const clock = createManualClock();
  const transport = createScriptedTransport(respond, kind);
  const events: ClientEvent[] = [];
  const client = createClient({
    transport,
    clock,
    random: createSeededRandom(1),
    clientInfo: { name: "test", version: "1" },
    onEvent: (event) => events.push(event),
    ...others,
  });
  return { clock, transport, client, events };
}

const ALL: ServerCapabilities = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  completions: {},
  logging: {},
};

export function discoverResult(capabilities: ServerCapabilities = ALL): JsonObject {
  return {
    resultType: "complete",
    supportedVersions: ["2026-07-28"],
    capabilities: capabilities as JsonObject,
    ttlMs: 0,
    cacheScope: "private",
    _meta: { "io.modelcontextprotocol/serverInfo": { name: "scripted", version: "1" } },
  };
}

export function initializeResult(capabilities: ServerCapabilities = ALL): JsonObject {
  return {
    protocolVersion: "2025-11-25",
    capabilities: capabilities as JsonObject,
    serverInfo: { name: "scripted", version: "1" },
  };
}

/** A connected client of a modern server; `respond` gets what comes after discovery. */
export async function connectModern(
  respond: Respond = () => undefined,
  options: SetupOptions & { readonly serverCapabilities?: ServerCapabilities } = {},
): Promise<ClientSetup> {
  const { serverCapabilities, ...others } = options;
  let isDiscovered = false;
  const set = setUpClient((request, far) => {
    if (request.method !== "server/discover" || isDiscovered) return respond(request, far);
    isDiscovered = true;
    far.answer(request.id, discoverResult(serverCapabilities), originOf(request, others.kind));
  }, others);
  await set.client.connect();
  return set;
}

/** A connected client of a legacy server. */
export async function connectLegacy(
  respond: Respond = () => undefined,
  options: SetupOptions & { readonly serverCapabilities?: ServerCapabilities } = {},
): Promise<ClientSetup> {
  const { serverCapabilities, ...others } = options;
  const set = setUpClient(
    (request, far) => {
      if (request.method === "initialize")
        far.answer(request.id, initializeResult(serverCapabilities), originOf(request, others.kind));
      else respond(request, far);
    },
    { eraHint: "legacy", ...others },
  );
  await set.client.connect();
  return set;
}

/** Over HTTP an answer comes on the exchange of its request. */
export function originOf(request: JsonRpcRequest, kind: TransportKind | undefined): object {
  return kind === "http" ? { requestId: request.id, httpStatus: 200 } : {};
}

/** The PortcullisError that `work` rejects with. */
export async function errorOf(work: Promise<unknown>): Promise<PortcullisError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof PortcullisError) return error;
    throw error;
  }
  throw new Error("it did not fail");
}

/** Lets promise jobs and setImmediate callbacks run. */
export async function settle(): Promise<void> {
  for (let round = 0; round < 4; round += 1) await new Promise<void>((resolve) => setImmediate(resolve));
}

function lastSent(transport: ScriptedTransport, method: string): JsonRpcRequest {
  const last = transport.sentOf(method).at(-1);
  if (last === undefined) throw new Error(`no \`${method}\` was sent`);
  return last.message as JsonRpcRequest;
}

/** Params of the last request of `method`. */
export function lastParams(transport: ScriptedTransport, method: string): JsonObject {
  return lastSent(transport, method).params ?? {};
}

/** Id of the last request of `method`. */
export function lastId(transport: ScriptedTransport, method: string): number {
  return Number(lastSent(transport, method).id);
}

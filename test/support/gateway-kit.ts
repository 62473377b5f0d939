/** A gateway on a real host with a real server behind it, and raw requests to it: every header as a test wants it. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { request as httpRequest, type ClientRequest, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { systemClock } from "../../src/base/clock.ts";
import type { JsonObject } from "../../src/base/json.ts";
import { systemRandom } from "../../src/base/random.ts";
import { openGateway, type Gateway, type GatewayOptions } from "../../src/gateway/gateway.ts";
import type { Host } from "../../src/host/api.ts";
import { openHost } from "../../src/host/host.ts";

const PEER: FixtureServer = { file: "gateway-peer.mjs", entry: { tools: { "*": "L0", write: "L2" } } };

export const REVISION = "2026-07-28";

export interface GatewayBench {
  readonly host: Host;
  readonly gateway: Gateway;
  readonly dir: string;
  readonly stateDir: string;
  /** What the server behind the gateway got, in order. */
  ledger(): readonly JsonObject[];
  close(): Promise<void>;
}

export interface FixtureServer {
  readonly file: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly entry?: JsonObject;
}

export interface BenchOptions extends Partial<GatewayOptions> {
  /** Members of the server's entry, for example `tools`. */
  readonly entry?: JsonObject;
  /** Other servers instead of the peer: fixtures of `test/servers`, or whole entries. */
  readonly servers?: Readonly<Record<string, FixtureServer | JsonObject>>;
  readonly listen?: string;
  readonly requireToken?: boolean;
}

export async function openBench(options: BenchOptions = {}): Promise<GatewayBench> {
  const {
    entry,
    servers = { peer: { ...PEER, entry: { ...PEER.entry, ...entry } } },
    listen = "127.0.0.1:0",
    requireToken = true,
    ...gatewayOptions
  } = options;
  const dir = mkdtempSync(join(tmpdir(), "portcullis-gateway-"));
  const stateDir = join(dir, "state");
  const ledgerFile = join(dir, "ledger.jsonl");
  const mcpServers = Object.fromEntries(
    Object.entries(servers).map(([name, server]) => [
      name,
      isFixture(server) ? fixtureEntry(server, { LEDGER: ledgerFile }) : server,
    ]),
  );
  const host = await openHost({
    config: { mcpServers, gateway: { listen, requireToken } },
    callersAnswer: true,
    stateDir,
  });
  const gateway = await openGateway({
    host,
    config: host.config,
    clock: systemClock,
    random: systemRandom,
    stateDir,
    ...gatewayOptions,
  });
  return {
    host,
    gateway,
    dir,
    stateDir,
    ledger() {
      try {
        const lines = readFileSync(ledgerFile, "utf8").split("\n");
        return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as JsonObject);
      } catch {
        return [];
      }
    },
    async close() {
      gateway.drain();
      await host.close(1_000);
      await gateway.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

function isFixture(server: FixtureServer | JsonObject): server is FixtureServer {
  return "file" in server;
}

/** The entry of a configuration for a fixture. */
export function fixtureEntry(
  { file, env, entry }: FixtureServer,
  more: Readonly<Record<string, string>> = {},
): JsonObject {
  return {
    command: process.execPath,
    args: [fileURLToPath(new URL(`../servers/${file}`, import.meta.url))],
    env: { ...more, ...env },
    source: "own",
    tools: { "*": "L0" },
    ...entry,
  };
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly text: string;
  /** The body as JSON; of an event stream the last message. */
  readonly json: JsonObject;
  /** The messages of an event stream. */
  readonly events: readonly JsonObject[];
}

export interface RawRequest {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: string | JsonObject | readonly JsonObject[];
}

/** Sends one request and reads the whole answer. */
export async function send(bench: GatewayBench, raw: RawRequest): Promise<RawAnswer> {
  const { response } = await start(bench, raw);
  return readAll(response);
}

/** Sends one request and hands out its answer as soon as the head is there. */
export async function start(
  bench: GatewayBench,
  { method = "POST", path = "/mcp", headers = {}, body }: RawRequest,
): Promise<{ readonly request: ClientRequest; readonly response: IncomingMessage }> {
  const all: Record<string, string> = {
    authorization: `Bearer ${path === "/mcp" ? bench.gateway.tokens.mcp : bench.gateway.tokens.admin}`,
    accept: "application/json, text/event-stream",
    ...(body === undefined ? {} : { "content-type": "application/json" }),
  };
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined) delete all[name];
    else all[name] = value;
  }
  // Not as one URL: that would tidy the path.
  const { hostname, port } = new URL(bench.gateway.url);
  const request = httpRequest({ hostname, port, path, method, headers: all, agent: false });
  request.on("error", () => undefined);
  request.end(body === undefined || typeof body === "string" ? body : JSON.stringify(body));
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request.once("response", resolve);
    request.once("error", reject);
  });
  return { request, response };
}

export async function readAll(response: IncomingMessage): Promise<RawAnswer> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString("utf8");
  const isStream = response.headers["content-type"] === "text/event-stream";
  const events = isStream ? eventsOf(text) : [];
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    text,
    events,
    get json() {
      return isStream ? (events.at(-1) ?? {}) : (JSON.parse(text) as JsonObject);
    },
  };
}

function eventsOf(text: string): JsonObject[] {
  return text
    .split("\n")
    .filter((line) => line.startsWith("data: "))
    .map((line) => JSON.parse(line.slice("data: ".length)) as JsonObject);
}

/** Waits until an event stream has brought `count` messages. */
export async function nextEvents(response: IncomingMessage, count: number): Promise<readonly JsonObject[]> {
  let text = "";
  for await (const chunk of response.iterator({ destroyOnReturn: false })) {
    text += (chunk as Buffer).toString("utf8");
    const events = eventsOf(text.slice(0, text.lastIndexOf("\n\n") + 2));
    if (events.length >= count) return events;
  }
  return eventsOf(text);
}

/** Reads an event stream from now on. @returns waits until it has brought so many messages in all. */
export function follow(response: IncomingMessage): (count: number) => Promise<readonly JsonObject[]> {
  let text = "";
  const looks = new Set<() => void>();
  response.on("data", (chunk: Buffer) => {
    text += chunk.toString("utf8");
    for (const look of Array.from(looks)) look();
  });
  return (count) =>
    new Promise((resolve) => {
      const look = (): void => {
        const events = eventsOf(text.slice(0, text.lastIndexOf("\n\n") + 2));
        if (events.length < count) return;
        looks.delete(look);
        resolve(events);
      };
      looks.add(look);
      look();
    });
}

const META = {
  "io.modelcontextprotocol/protocolVersion": REVISION,
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** A modern request with right headers; `name` and `uri` are mirrored where there is one. */
export function modern(
  method: string,
  params: JsonObject = {},
  more: {
    readonly id?: string | number;
    readonly headers?: RawRequest["headers"];
    readonly meta?: JsonObject;
  } = {},
): RawRequest {
  const name = params["name"] ?? params["uri"];
  return {
    headers: {
      "mcp-protocol-version": REVISION,
      "mcp-method": method,
      ...(typeof name === "string" ? { "mcp-name": name } : {}),
      ...more.headers,
    },
    body: {
      jsonrpc: "2.0",
      id: more.id ?? 1,
      method,
      params: { ...params, _meta: { ...META, ...more.meta } },
    },
  };
}

/** A legacy request in a session. */
export function legacy(
  session: string,
  method: string,
  params: JsonObject = {},
  id: string | number = 1,
): RawRequest {
  return {
    headers: { "mcp-session-id": session, "mcp-protocol-version": "2025-11-25" },
    body: { jsonrpc: "2.0", id, method, params },
  };
}

/** Opens a legacy session. @returns its id. */
export async function initialize(
  bench: GatewayBench,
  version = "2025-11-25",
  capabilities: JsonObject = {},
): Promise<string> {
  const answer = await send(bench, {
    body: {
      jsonrpc: "2.0",
      id: 0,
      method: "initialize",
      params: { protocolVersion: version, capabilities, clientInfo: { name: "raw", version: "1" } },
    },
  });
  const session = answer.headers["mcp-session-id"];
  if (typeof session !== "string") throw new Error(`no session: ${answer.status} ${answer.text}`);
  return session;
}

/** Waits for a line of the ledger. */
export async function ledgerLine(
  bench: GatewayBench,
  matches: (line: JsonObject) => boolean,
): Promise<JsonObject> {
  for (let turn = 0; turn < 500; turn += 1) {
    const line = bench.ledger().find(matches);
    if (line !== undefined) return line;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error("the server was not told");
}

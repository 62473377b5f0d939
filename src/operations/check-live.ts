/**
 * The proofs of `check --live`: hostile servers on loopback, started here, and a host of its own with its own state in front of
 * them. What is proven is this build on this machine; no configured server is touched.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isJsonObject, parseJson, type JsonObject } from "../base/json.ts";
import { randomId, type Random } from "../base/random.ts";
import {
  startLoopbackServer,
  type LoopbackAnswer,
  type LoopbackRequest,
  type LoopbackServer,
} from "../egress/loopback-server.ts";
import { toPortcullisError } from "../errors.ts";
import type { LiveProof, LiveProofId } from "../host/check-line.ts";
import { openHost } from "../host/host.ts";
import type { Outcome } from "../host/outcome.ts";

/** Makes all proofs, one after another. A proof that cannot be made has failed. */
export async function proveLive(random: Random, signal: AbortSignal): Promise<readonly LiveProof[]> {
  const proofs: LiveProof[] = [];
  for (const [id, prove] of PROOFS) {
    const bench = createBench(random, signal);
    try {
      proofs.push({ id, ...(await prove(bench)) });
    } catch (error) {
      signal.throwIfAborted();
      proofs.push({ id, ok: false, detail: `could not be made: ${toPortcullisError(error).message}` });
    } finally {
      await bench.close();
    }
  }
  return proofs;
}

interface Bench {
  readonly secret: string;
  serve(answer: (request: LoopbackRequest) => LoopbackAnswer): Promise<LoopbackServer>;
  /** One call through a host of its own. @param entry of the server. */
  call(entry: JsonObject): Promise<Outcome>;
  close(): Promise<void>;
}

type Proof = (bench: Bench) => Promise<Pick<LiveProof, "ok" | "detail">>;

const PROOFS: readonly (readonly [LiveProofId, Proof])[] = [
  ["redirect", proveRedirect],
  ["private-address", provePrivate],
  ["oversized-result", proveOversized],
];

/** A tool call is redirected to another origin; the canary there must see nobody, and nothing shown may hold the secret. */
async function proveRedirect({ serve, call, secret }: Bench): ReturnType<Proof> {
  const canary = await serve(() => ({ status: 200, body: "{}" }));
  const answers: string[] = [];
  for (const status of [301, 302, 307, 308]) {
    const server = await serve((request) =>
      answerMcp(request, () => ({ status, headers: { location: canary.url.href } })),
    );
    const outcome = await call(toEntry(server, { headers: { Authorization: `Bearer ${secret}` } }));
    const isShown = JSON.stringify(outcome).includes(secret);
    if (outcome.outcome === "completed" || isShown)
      return { ok: false, detail: `a redirect with ${status} ended as ${outcome.outcome}` };
    answers.push(`${status}: ${outcome.code ?? ""}`);
  }
  const seen = canary.connections();
  return {
    ok: seen === 0,
    detail: `a tool call was redirected to another origin (${answers.join(", ")}); the canary there saw ${seen} connections`,
  };
}

/** Servers on loopback and on the metadata address of clouds, without leave to be there: nobody must be connected to. */
async function provePrivate({ serve, call }: Bench): ReturnType<Proof> {
  const listener = await serve(() => ({ status: 200, body: "{}" }));
  const { port } = listener.url;
  const addresses = [
    `https://127.0.0.1:${port}/mcp`,
    `https://localhost:${port}/mcp`,
    `https://[::ffff:127.0.0.1]:${port}/mcp`,
    `https://2130706433:${port}/mcp`,
    "https://169.254.169.254/mcp",
  ];
  for (const url of addresses) {
    const outcome = await call({ url });
    if (outcome.code !== "server_unavailable" && outcome.code !== "egress_denied")
      return { ok: false, detail: `${url} ended as ${outcome.outcome} (${outcome.code ?? "no code"})` };
  }
  const seen = listener.connections();
  return {
    ok: seen === 0,
    detail: `${addresses.length} private addresses were refused; the listener on one of them saw ${seen} connections`,
  };
}

const PIECE = "a".repeat(65_536);
const MAX_SENT_BYTES = 64 * 1024 * 1024;
const BIG_RESULT = 4 * 1024 * 1024;
const MAX_MODEL_CHARACTERS = 200_000;

/** A result that never ends, and one that is merely too long: the first is cut off, the second does not reach a model whole. */
async function proveOversized({ serve, call }: Bench): ReturnType<Proof> {
  const endless = await serve((request) =>
    answerMcp(request, ({ id }) => ({
      status: 200,
      headers: { "content-type": "application/json" },
      body: neverEnding(
        `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"content":[{"type":"text","text":"`,
      ),
    })),
  );
  const cut = await call(toEntry(endless));
  const sent = endless.bytesSent();
  const long = await serve((request) =>
    answerMcp(request, ({ id }) =>
      toMessage(id, { content: [{ type: "text", text: "word ".repeat(BIG_RESULT / 5) }] }),
    ),
  );
  const shortened = await call(toEntry(long));
  const model = shortened.model.length;
  const ok = cut.outcome !== "completed" && sent < MAX_SENT_BYTES && model < MAX_MODEL_CHARACTERS;
  const mib = Math.round(sent / 1_048_576);
  return {
    ok,
    detail: `an endless result was cut off after about ${mib} MiB (${cut.code ?? cut.outcome}); of one of ${BIG_RESULT / 1_048_576} MiB a model gets ${model} characters`,
  };
}

function* neverEnding(start: string): Iterable<string> {
  yield start;
  for (;;) yield PIECE;
}

function toEntry({ url }: LoopbackServer, more: JsonObject = {}): JsonObject {
  return { url: url.href, allowPrivateAddresses: true, ...more };
}

interface ToolCall {
  readonly id: unknown;
}

/** An MCP server of the era with `initialize` that has one tool, whose calls are answered by `onCall`. */
function answerMcp(request: LoopbackRequest, onCall: (call: ToolCall) => LoopbackAnswer): LoopbackAnswer {
  const message = parseJson(request.body);
  if (request.method !== "POST" || !isJsonObject(message)) return { status: 405 };
  const { id, method } = message;
  if (id === undefined) return { status: 202 };
  switch (method) {
    case "initialize":
      return toMessage(id, {
        protocolVersion: "2025-11-25",
        capabilities: { tools: {} },
        serverInfo: { name: "proof", version: "1" },
      });
    case "tools/list":
      return toMessage(id, { tools: [{ name: "probe", inputSchema: { type: "object" } }] });
    case "tools/call":
      return onCall({ id });
    default:
      return {
        ...toMessage(id, {}),
        body: JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32601, message: "no such method" } }),
      };
  }
}

function toMessage(id: unknown, result: JsonObject): LoopbackAnswer {
  const body = JSON.stringify({ jsonrpc: "2.0", id, result });
  return { status: 200, headers: { "content-type": "application/json" }, body };
}

function createBench(random: Random, signal: AbortSignal): Bench {
  const servers: LoopbackServer[] = [];
  const folders: string[] = [];
  return {
    secret: `proof-${randomId(random, 24)}`,
    async serve(answer) {
      const server = await startLoopbackServer(answer);
      servers.push(server);
      return server;
    },
    async call(entry) {
      const stateDir = await mkdtemp(join(tmpdir(), "portcullis-check-"));
      folders.push(stateDir);
      const config = { mcpServers: { proof: { source: "own", default: "L0", ...entry } } };
      const host = await openHost({ config, stateDir, role: "check" });
      try {
        return await host.call({ server: "proof", tool: "probe" }, {}, { signal });
      } finally {
        await host.close();
      }
    },
    async close() {
      for (const server of servers) await server.close();
      for (const folder of folders) await rm(folder, { recursive: true, force: true });
    },
  };
}

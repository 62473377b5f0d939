import type { ServerResponse } from "node:http";
import { describe, it } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import type { JsonObject } from "../../src/base/json.ts";
import { createSeededRandom } from "../../src/base/random.ts";
import { createHttpPort } from "../../src/egress/dial.ts";
import { transportCases, type TransportHarness } from "../../src/transport/contract.ts";
import { createHttpTransport } from "../../src/transport/http.ts";
import { createSseTransport } from "../../src/transport/sse-legacy.ts";
import type { Transport } from "../../src/transport/transport.ts";
import { startLocalServer, type Handler, type LocalServer } from "../support/local-http.ts";

interface PeerMessage {
  readonly id?: string | number;
  readonly method: string;
  readonly params: JsonObject;
}

/** The messages that answer `message`, in order. */
function* answersTo({ id, method, params }: PeerMessage): Generator<JsonObject> {
  if (id === undefined) return;
  if (method === "burst") {
    for (let at = 0; at < Number(params["count"]); at += 1)
      yield { jsonrpc: "2.0", method: "tick", params: { at } };
  }
  if (method === "echo" || method === "burst") yield { jsonrpc: "2.0", id, result: { echo: params } };
  if (method === "flood") yield { jsonrpc: "2.0", id, result: { text: "x".repeat(8 * 1024 * 1024) } };
}

function openEvents(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.flushHeaders();
}

const event = (message: JsonObject): string => `event: message\ndata: ${JSON.stringify(message)}\n\n`;

const answerAsJson: Handler = (_request, response, body) => {
  const message = JSON.parse(body) as PeerMessage;
  if (message.method === "silent") return;
  if (message.method === "leave") {
    response.destroy();
    return;
  }
  const answers = [...answersTo(message)];
  if (answers.length > 1) {
    openEvents(response);
    response.end(answers.map(event).join(""));
    return;
  }
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify(answers[0]));
};

const answerAsEvents: Handler = (_request, response, body) => {
  const message = JSON.parse(body) as PeerMessage;
  openEvents(response);
  if (message.method === "silent") return;
  if (message.method === "leave") response.destroy();
  else response.end([...answersTo(message)].map(event).join(""));
};

function createSsePeer(): Handler {
  let stream: ServerResponse | undefined;
  return (request, response, body) => {
    if (request.method === "GET") {
      openEvents(response);
      response.write("event: endpoint\ndata: /messages?session=1\n\n");
      stream = response;
      return;
    }
    response.writeHead(202).end("Accepted");
    const message = JSON.parse(body) as PeerMessage;
    if (message.method === "leave") stream?.destroy();
    for (const answer of answersTo(message)) stream?.write(event(answer));
  };
}

function createHarness(kind: "http" | "sse", createHandler: () => Handler): TransportHarness {
  const made: { readonly transport: Transport; readonly server: LocalServer }[] = [];
  return {
    async create() {
      const server = await startLocalServer(createHandler());
      const port = createHttpPort({
        rules: { origins: [server.url.origin], allow: [], allowPrivateAddresses: true },
        clock: systemClock,
      });
      const options = {
        url: server.url,
        headers: () => Promise.resolve({}),
        port,
        clock: systemClock,
        limits: { messageBytes: 2 * 1024 * 1024 },
      };
      const transport =
        kind === "sse"
          ? createSseTransport(options)
          : createHttpTransport({ ...options, random: createSeededRandom(1) });
      made.push({ transport, server });
      return transport;
    },
    async dispose() {
      for (const { transport, server } of made) {
        await transport.close();
        await server.close();
      }
    },
  };
}

const variants: readonly [string, "http" | "sse", () => Handler][] = [
  ["Streamable HTTP, JSON answers [HTTP-05]", "http", () => answerAsJson],
  ["Streamable HTTP, event streams [HTTP-05]", "http", () => answerAsEvents],
  ["HTTP+SSE of 2024-11-05", "sse", createSsePeer],
];

for (const [title, kind, createHandler] of variants) {
  describe(`transport contract on ${title}`, () => {
    for (const testCase of transportCases) {
      it(testCase.name, async () => {
        const harness = createHarness(kind, createHandler);
        try {
          await testCase.run(harness);
        } finally {
          await harness.dispose();
        }
      });
    }
  });
}

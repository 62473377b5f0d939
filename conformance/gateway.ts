/**
 * The gateway under test of the official conformance suite, with `fixtures.mjs` behind it, on a port of its own. The suite knows
 * tools, prompts and resources by fixed names and brings no token, so a front stands before the gateway that does nothing but
 * take the name of the server off what goes out and put it on what comes in.
 *
 * Prints the URL; ends with its standard input. See https://github.com/modelcontextprotocol/conformance.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { systemClock } from "../src/base/clock.ts";
import { isJsonObject, parseJson, type JsonObject } from "../src/base/json.ts";
import { systemRandom } from "../src/base/random.ts";
import { openGateway } from "../src/gateway/gateway.ts";
import { openHost } from "../src/host/host.ts";

const SERVER = "c";
const dir = mkdtempSync(join(tmpdir(), "portcullis-conformance-gateway-"));
const host = await openHost({
  config: {
    mcpServers: {
      [SERVER]: {
        command: process.execPath,
        args: [fileURLToPath(new URL("fixtures.mjs", import.meta.url))],
        source: "own",
        tools: { "*": "L0" },
        inputs: ["elicitation", "sampling", "roots"],
      },
    },
    gateway: { listen: "127.0.0.1:0", requireToken: false },
  },
  stateDir: dir,
  callersAnswer: true,
});
const gateway = await openGateway({
  host,
  config: host.config,
  clock: systemClock,
  random: systemRandom,
  stateDir: dir,
});
const behind = new URL(gateway.url);

/** What is called by a name or a URI of the suite gets the one that the gateway knows. */
function inward(message: unknown): unknown {
  if (!isJsonObject(message) || !isJsonObject(message["params"])) return message;
  const { params, method } = message;
  const named = method === "tools/call" || method === "prompts/get";
  return { ...message, params: { ...params, ...exposed(params, named), ...referred(params) } };
}

function exposed({ name, uri }: JsonObject, named: boolean): JsonObject {
  return {
    ...(named && typeof name === "string" ? { name: `${SERVER}__${name}` } : {}),
    ...(typeof uri === "string" ? { uri: `portcullis://${SERVER}/${uri}` } : {}),
  };
}

function referred({ ref, notifications }: JsonObject): JsonObject {
  const uris = isJsonObject(notifications) ? notifications["resourceSubscriptions"] : undefined;
  return {
    ...(isJsonObject(ref) ? { ref: { ...ref, ...exposed(ref, true) } } : {}),
    ...(isJsonObject(notifications) && Array.isArray(uris)
      ? {
          notifications: {
            ...notifications,
            resourceSubscriptions: uris.map((uri) => `portcullis://${SERVER}/${String(uri)}`),
          },
        }
      : {}),
  };
}

/** Mirrors in a header what the body says. */
function inwardName(header: string, message: unknown): string {
  const method = isJsonObject(message) ? message["method"] : undefined;
  if (method === "resources/read") return `portcullis://${SERVER}/${header}`;
  return method === "tools/call" || method === "prompts/get" ? `${SERVER}__${header}` : header;
}

function outward(text: string): string {
  return text.replaceAll(`portcullis://${SERVER}/`, "").replaceAll(`"${SERVER}__`, '"');
}

async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString("utf8");
  const message = parseJson(text);
  const body = message === undefined ? text : JSON.stringify(inward(message));
  const { "content-length": _length, "mcp-name": name, host: asked = "", ...headers } = request.headers;
  const own = `${request.socket.localPort ?? ""}`;
  const passed = httpRequest({
    host: behind.hostname,
    port: behind.port,
    path: request.url,
    method: request.method,
    headers: {
      ...headers,
      // Under the name that it was asked by, so that the gateway judges it.
      host: asked.replace(`:${own}`, `:${behind.port}`),
      ...(headers.origin === undefined
        ? {}
        : { origin: headers.origin.replace(`:${own}`, `:${behind.port}`) }),
      ...(typeof name === "string" ? { "mcp-name": inwardName(name, message) } : {}),
      ...(text === "" ? {} : { "content-length": Buffer.byteLength(body) }),
    },
  });
  response.once("close", () => passed.destroy());
  passed.once("error", () => response.destroy());
  passed.once("response", (answer) => {
    const { "content-length": _size, ...answered } = answer.headers;
    response.writeHead(answer.statusCode ?? 500, answered);
    // Events are short here, and each comes in one piece.
    answer.on("data", (chunk: Buffer) => response.write(outward(chunk.toString("utf8"))));
    answer.once("end", () => response.end());
  });
  passed.end(text === "" ? undefined : body);
}

const front = createServer((request, response) => {
  pass(request, response).catch(() => response.destroy());
});
front.listen(0, "127.0.0.1", () => {
  const address = front.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  console.log(`http://localhost:${port}/mcp`);
});

process.stdin.resume();
process.stdin.once("end", async () => {
  front.close();
  front.closeAllConnections();
  gateway.drain();
  await host.close(1_000);
  await gateway.close();
  rmSync(dir, { recursive: true, force: true });
});

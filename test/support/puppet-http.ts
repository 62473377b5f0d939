/** The puppet over HTTP, in this process: the same tools and strings, and the ways in which HTTP goes wrong. Both eras. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { JsonObject } from "../../src/base/json.ts";
import { startLocalServer, type LocalServer } from "./local-http.ts";
import { PUPPET_GRADES } from "./puppet.ts";

export type HttpMisbehaviour =
  /** The socket is destroyed before an answer; with `after-work` once the tool has done its work. */
  | "reset"
  | "reset-after-work"
  /** From that moment on nobody listens any more; at "start": at once. `pull` without it brings the listener back. */
  | "refused"
  /** Nothing comes; with `after-work` once the tool has done its work. */
  | "silent"
  | "silent-after-work"
  /** An HTML page with status 200. */
  | "garbage"
  /** More than the limit. */
  | "huge"
  /** The head, and then the end. */
  | "cut"
  /** A JSON-RPC error. */
  | "error"
  | "500"
  | "503"
  | "429"
  | "401";

export interface HttpControl {
  readonly era?: "legacy" | "modern" | "both" | "none";
  readonly at?: Readonly<Record<string, HttpMisbehaviour>>;
  /** Of 429 and 503. */
  readonly retryAfter?: string;
  readonly ttlMs?: number;
  readonly tools?: readonly JsonObject[];
}

export interface HttpPuppet extends Pick<LocalServer, "url" | "connections" | "close"> {
  readonly entry: JsonObject;
  /** Other strings, from the next message on; resolves when the listener is there, or gone. */
  pull(control: HttpControl): Promise<void>;
  got(method: string): number;
  called(tool: string): number;
  /** Arguments of `write` that had their effect. */
  readonly applied: readonly string[];
}

interface Message {
  readonly id?: number;
  readonly method: string;
  readonly params?: {
    readonly name?: string;
    readonly arguments?: { readonly text?: string };
    readonly _meta?: JsonObject;
  };
}

const PREFIX = "io.modelcontextprotocol/";
const tool = (name: string): JsonObject => ({
  name,
  inputSchema: { type: "object", properties: { text: { type: "string" } } },
});
const TOOLS = ["read", "write", "stream", "fail"].map(tool);

/** @param more of its entry in `mcpServers`. */
export async function startPuppetHttp(more: JsonObject = {}): Promise<HttpPuppet> {
  let control: HttpControl = {};
  const messages: Message[] = [];
  const applied: string[] = [];
  let isDown: Promise<void> | undefined;

  const handle = (request: IncomingMessage, response: ServerResponse, body: string): void => {
    if (request.method === "DELETE") {
      end(request, response);
      return;
    }
    if (request.method !== "POST") {
      response.writeHead(405).end();
      return;
    }
    const message = JSON.parse(body) as Message;
    messages.push(message);
    if (message.id === undefined) response.writeHead(202).end();
    else answer(message, request, response);
  };

  /** The client gives its session back: moment `end`. */
  const end = (request: IncomingMessage, response: ServerResponse): void => {
    const how = control.at?.["end"];
    if (how === "reset" || how === "cut") request.socket.destroy();
    else if (how !== "silent") response.writeHead(how === undefined ? 200 : Number(how) || 500).end();
  };

  const answer = (message: Message, request: IncomingMessage, response: ServerResponse): void => {
    const { id, method, params } = message;
    const { era = "legacy", at = {} } = control;
    const isModern = params?._meta?.[`${PREFIX}protocolVersion`] !== undefined;
    const json = (status: number, value: JsonObject, headers: Record<string, string> = {}): void => {
      response.writeHead(status, { "content-type": "application/json", ...headers });
      response.end(JSON.stringify({ jsonrpc: "2.0", id, ...value }));
    };
    const result = (value: JsonObject, headers?: Record<string, string>): void =>
      json(200, { result: isModern ? { resultType: "complete", ...value } : value }, headers);
    const refuse = (status: number, code: number, data: JsonObject = {}): void =>
      json(status, { error: { code, message: "no", data } });
    const work = (): void => {
      if (params?.name === "write") applied.push(params.arguments?.text ?? "");
    };
    const how = at[method];
    if (how?.endsWith("-after-work") === true) work();
    switch (how) {
      case "reset":
      case "reset-after-work":
        request.socket.destroy();
        return;
      case "silent":
      case "silent-after-work":
        return;
      case "refused":
        void goDown();
        return;
      case "garbage":
        response.writeHead(200, { "content-type": "text/html" }).end("<h1>It works</h1>");
        return;
      case "huge":
        response.writeHead(200, { "content-type": "application/json" });
        response.end(`{"jsonrpc":"2.0","id":${id},"result":{"x":"${"x".repeat(3_000_000)}"}}`);
        return;
      case "cut":
        response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
        response.write('{"jsonrpc":');
        setImmediate(() => request.socket.destroy());
        return;
      case "error":
        refuse(200, -32603);
        return;
      case "500":
      case "503":
      case "429":
      case "401": {
        const headers = control.retryAfter === undefined ? {} : { "retry-after": control.retryAfter };
        response.writeHead(Number(how), headers).end("no");
        return;
      }
      case undefined:
        break;
    }
    const cache = { ttlMs: control.ttlMs ?? 0, cacheScope: "private" };
    const capabilities = { tools: {} };
    if (era === "none") return refuse(400, -32022, { supported: ["1999-01-01"] });
    if (isModern && era === "legacy") return refuse(400, -32601);
    if (!isModern && era === "modern") return refuse(400, -32022, { supported: ["2026-07-28"] });
    switch (method) {
      case "server/discover":
        return result({ supportedVersions: ["2026-07-28"], capabilities, ...cache });
      case "initialize":
        return result(
          { protocolVersion: "2025-11-25", capabilities, serverInfo: { name: "puppet", version: "1" } },
          { "mcp-session-id": `session-${messages.length}` },
        );
      case "ping":
        return result({});
      case "tools/list":
        return result({ tools: [...(control.tools ?? TOOLS)], ...(isModern ? cache : {}) });
      case "tools/call":
        work();
        if (params?.name === "stream") return stream(message, request, response);
        return result({
          content: [{ type: "text", text: `${params?.name} ${params?.arguments?.text ?? ""}` }],
          ...(params?.name === "fail" ? { isError: true } : {}),
        });
      default:
        return refuse(isModern ? 404 : 200, -32601);
    }
  };

  /** Progress first, then the answer, or what goes wrong in the middle of a stream. */
  const stream = (message: Message, request: IncomingMessage, response: ServerResponse): void => {
    const token = message.params?._meta?.["progressToken"] ?? null;
    const event = (value: JsonObject): string => `data: ${JSON.stringify({ jsonrpc: "2.0", ...value })}\n\n`;
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(
      event({ method: "notifications/progress", params: { progressToken: token, progress: 1, total: 2 } }),
    );
    switch (control.at?.["stream"]) {
      case "reset":
      case "cut":
        setImmediate(() => request.socket.destroy());
        return;
      case "silent":
        return;
      case "refused":
        void goDown();
        return;
      case "garbage":
        response.end("data: this is no JSON\n\n");
        return;
      case "huge":
        response.end(event({ id: message.id ?? 0, result: { x: "x".repeat(3_000_000) } }));
        return;
      case "error":
        response.end(event({ id: message.id ?? 0, error: { code: -32603, message: "broke" } }));
        return;
      default: {
        const content = [{ type: "text", text: "stream" }];
        const isModern = message.params?._meta?.[`${PREFIX}protocolVersion`] !== undefined;
        const value = isModern ? { resultType: "complete", content } : { content };
        response.end(event({ id: message.id ?? 0, result: value }));
      }
    }
  };

  const server = await startLocalServer(handle);
  const goDown = (): Promise<void> => {
    isDown ??= server.close();
    return isDown;
  };
  const comeBack = async (): Promise<void> => {
    await isDown;
    isDown = undefined;
    await new Promise<void>((resolve) => server.server.listen(Number(server.url.port), "127.0.0.1", resolve));
  };
  return {
    url: server.url,
    connections: server.connections,
    close: goDown,
    entry: {
      url: server.url.href,
      source: "own",
      allowPrivateAddresses: true,
      tools: PUPPET_GRADES,
      ...more,
    },
    async pull(next) {
      control = next;
      const isRefusing = Object.values(next.at ?? {}).includes("refused");
      if (next.at?.["start"] === "refused") await goDown();
      else if (isDown !== undefined && !isRefusing) await comeBack();
    },
    got: (method) => messages.filter((message) => message.method === method).length,
    called: (name) => messages.filter(({ params }) => params?.name === name).length,
    applied,
  };
}

/**
 * The floor: what a call of 2026-07-28 costs when nothing but JSON, a pipe or a POST is between the program and the server. It
 * sends what the revision demands of every request, and trusts everything that comes back.
 */
import { spawn } from "node:child_process";
import { Pool } from "undici";
import { STDIO_SERVER, endChild, startHttpServer, type Contender } from "./contender.ts";

interface Answer {
  readonly id: number;
  readonly result: { readonly content: readonly [{ readonly text: string }] };
}

const _meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

function toText(id: number, name: string, args: Readonly<Record<string, string | number>>): string {
  return JSON.stringify({
    jsonrpc: "2.0",
    id,
    method: "tools/call",
    params: { name, arguments: args, _meta },
  });
}

const textOf = (answer: Answer): string => answer.result.content[0].text;

export const stdioFloor: Contender = {
  name: "floor: JSON over a pipe",
  transport: "stdio",
  isFloor: true,
  async connect() {
    const child = spawn(process.execPath, [STDIO_SERVER], { stdio: ["pipe", "pipe", "inherit"] });
    const waiting = new Map<number, (answer: Answer) => void>();
    let lastId = 0;
    let rest = "";
    child.stdout.setEncoding("utf8");
    child.stdout.on("data", (chunk: string) => {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        const answer = JSON.parse(line) as Answer;
        waiting.get(answer.id)?.(answer);
        waiting.delete(answer.id);
      }
    });
    return {
      call(name, args) {
        const { promise, resolve } = Promise.withResolvers<Answer>();
        lastId += 1;
        waiting.set(lastId, resolve);
        child.stdin.write(`${toText(lastId, name, args)}\n`);
        return promise.then(textOf);
      },
      close: () => endChild(child),
    };
  },
};

/** Raw POSTs of 2026-07-28, one socket for each that is in flight. */
export function postsTo(url: URL, headers: Readonly<Record<string, string>> = {}) {
  const pool = new Pool(url.origin, { connections: 64, pipelining: 1 });
  const fixed = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": "2026-07-28",
    ...headers,
  };
  let lastId = 0;
  const post = async (own: Readonly<Record<string, string>>, body: string): Promise<unknown> => {
    const sent = { ...fixed, ...own };
    const response = await pool.request({ path: url.pathname, method: "POST", headers: sent, body });
    return response.body.json();
  };
  return {
    async call(name: string, args: Readonly<Record<string, string | number>>): Promise<string> {
      lastId += 1;
      const answer = await post({ "mcp-method": "tools/call", "mcp-name": name }, toText(lastId, name, args));
      return textOf(answer as Answer);
    },
    /** @returns the whole answer. */
    request(method: string, params: Readonly<Record<string, string>>): Promise<unknown> {
      lastId += 1;
      const body = JSON.stringify({ jsonrpc: "2.0", id: lastId, method, params: { ...params, _meta } });
      return post({ "mcp-method": method }, body);
    },
    close: () => pool.destroy(),
  };
}

export const httpFloor: Contender = {
  name: "floor: undici POST",
  transport: "http",
  isFloor: true,
  async connect() {
    const server = await startHttpServer();
    const posts = postsTo(server.url);
    return {
      call: posts.call,
      async close() {
        await posts.close();
        await server.close();
      },
    };
  },
};

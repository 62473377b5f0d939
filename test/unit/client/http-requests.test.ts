/** What every POST of a client looks like to a real HTTP server, in both eras. */
import { afterEach, describe, expect, it } from "vitest";
import type { IncomingHttpHeaders } from "node:http";
import type { JsonObject } from "../../../src/base/json.ts";
import { connectHttp } from "../../../src/client/connect-http.ts";
import type { ConnectOptions } from "../../../src/client/options.ts";
import type { Client } from "../../../src/client/client.ts";
import { startLocalServer } from "../../support/local-http.ts";
import { discoverResult, initializeResult } from "../../support/client-setup.ts";

interface Post {
  readonly headers: IncomingHttpHeaders;
  readonly message: JsonObject;
}

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function start(
  answer: (method: string) => JsonObject,
  options: Partial<ConnectOptions> = {},
  isRefused: (headers: IncomingHttpHeaders) => boolean = () => false,
): Promise<{ readonly client: Client; readonly posts: readonly Post[] }> {
  const posts: Post[] = [];
  const server = await startLocalServer((request, response, body) => {
    if (request.method !== "POST") {
      response.writeHead(405).end();
      return;
    }
    const message = JSON.parse(body) as JsonObject;
    posts.push({ headers: request.headers, message });
    if (isRefused(request.headers)) {
      response.writeHead(401, { "www-authenticate": "Bearer" }).end();
      return;
    }
    if (message["id"] === undefined) {
      response.writeHead(202).end();
      return;
    }
    response.writeHead(200, { "content-type": "application/json" });
    response.end(
      JSON.stringify({ jsonrpc: "2.0", id: message["id"], result: answer(message["method"] as string) }),
    );
  });
  ends.push(server.close);
  const client = await connectHttp(
    { url: server.url, allowPrivateAddresses: true },
    { clientInfo: { name: "test", version: "1" }, ...options },
  );
  ends.push(() => client.close());
  return { client, posts };
}

const TOOL = {
  name: "weather",
  inputSchema: {
    type: "object",
    properties: {
      region: { type: "string", "x-mcp-header": "Region" },
      days: { type: "integer", "x-mcp-header": "Days" },
      note: { type: "string" },
    },
  },
};

function modernAnswer(method: string): JsonObject {
  switch (method) {
    case "server/discover":
      return discoverResult();
    case "tools/list":
      return { resultType: "complete", tools: [TOOL], ttlMs: 0, cacheScope: "private" };
    case "resources/read":
      return { resultType: "complete", contents: [] };
    case "prompts/get":
      return { resultType: "complete", messages: [] };
    default:
      return { resultType: "complete", content: [] };
  }
}

describe("a modern POST", () => {
  it("says in its headers what its body says, whatever the request [HTTP-07]", async () => {
    const { client, posts } = await start(modernAnswer);
    await client.list("tools");
    await client.callTool("weather", {});
    await client.readResource("memo:ü");
    await client.getPrompt("greet", {});
    expect(posts.map(({ headers }) => [headers["mcp-method"], headers["mcp-name"]])).toEqual([
      ["server/discover", undefined],
      ["tools/list", undefined],
      ["tools/call", "weather"],
      ["resources/read", `=?base64?${Buffer.from("memo:ü").toString("base64")}?=`],
      ["prompts/get", "greet"],
    ]);
    for (const { headers, message } of posts) {
      expect(headers["mcp-method"]).toBe(message["method"]);
      expect(headers["mcp-protocol-version"]).toBe("2026-07-28");
      expect(headers).not.toHaveProperty("mcp-session-id");
    }
  });

  it("repeats the arguments that a tool's schema names as headers, and no others [HTTP-13]", async () => {
    const { client, posts } = await start(modernAnswer);
    await client.list("tools");
    await client.callTool("weather", { region: "eu-west", days: 3, note: "private" });
    const headers = posts.at(-1)?.headers ?? {};
    expect(
      Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith("mcp-param-"))),
    ).toEqual({
      "mcp-param-region": "eu-west",
      "mcp-param-days": "3",
    });
  });
});

describe("a legacy POST", () => {
  it("carries one message, and the revision that was agreed on [HTTPL-14] [VER-22]", async () => {
    const { client, posts } = await start(
      (method) =>
        method === "initialize" ? { ...initializeResult(), protocolVersion: "2025-06-18" } : { content: [] },
      { eraHint: "legacy" },
    );
    await Promise.all([client.callTool("a", {}), client.callTool("b", {}), client.callTool("c", {})]);
    expect(client.facts).toMatchObject({ era: "legacy", revision: "2025-06-18" });
    const [initialize, ...later] = posts;
    expect(initialize?.headers).not.toHaveProperty("mcp-protocol-version");
    expect(later).toHaveLength(4);
    for (const { headers, message } of later) {
      expect(headers["mcp-protocol-version"]).toBe("2025-06-18");
      expect(Array.isArray(message)).toBe(false);
      expect(typeof message["method"]).toBe("string");
    }
  });

  it("the last word of the handshake carries the authorization that the handshake was given", async () => {
    const { posts } = await start(
      (method) => (method === "initialize" ? initializeResult() : {}),
      {
        eraHint: "legacy",
        onUnauthorized: async () => ({ authorization: "Bearer fresh" }),
      },
      (headers) => headers.authorization === undefined,
    );
    expect(posts.map(({ headers, message }) => [message["method"], headers.authorization])).toEqual([
      ["initialize", undefined],
      ["initialize", "Bearer fresh"],
      ["notifications/initialized", "Bearer fresh"],
    ]);
  });
});

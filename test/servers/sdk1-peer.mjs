/**
 * A server made with the official SDK 1.32, over stdio or (`TRANSPORT=http`) Streamable HTTP with sessions; prints its URL then.
 * `GET /__report` answers with what it saw.
 */
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import {
  CallToolRequestSchema,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";

const text = (value) => ({ content: [{ type: "text", text: String(value) }] });
const inputSchema = { type: "object", properties: {} };
const requestedSchema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
const seen = { cancelled: 0, subscribed: [], unsubscribed: [], ended: 0 };

function makeServer() {
  const server = new Server(
    { name: "sdk1-peer", version: "1.0.0" },
    { capabilities: { tools: { listChanged: true }, resources: { subscribe: true }, prompts: {} } },
  );
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: ["echo", "count", "wait", "ask", "change", "update"].map((name) => ({ name, inputSchema })),
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
    switch (params.name) {
      case "echo":
        return text(params.arguments?.text);
      case "count": {
        const { progressToken } = params._meta;
        for (let progress = 1; progress <= 3; progress += 1) {
          await extra.sendNotification({
            method: "notifications/progress",
            params: { progressToken, progress, total: 3 },
          });
        }
        return text("counted");
      }
      case "wait":
        await new Promise((resolve) => extra.signal.addEventListener("abort", resolve));
        seen.cancelled += 1;
        return text("never seen");
      case "ask": {
        const answer = await server.elicitInput(
          { message: "name?", requestedSchema },
          { relatedRequestId: extra.requestId },
        );
        return text(`${answer.action} ${String(answer.content?.name)}`);
      }
      case "change":
        await server.sendToolListChanged();
        return text("changed");
      case "update":
        await server.sendResourceUpdated({ uri: "memo:a" });
        return text("updated");
      default:
        throw new Error("unknown tool");
    }
  });
  server.setRequestHandler(ListResourcesRequestSchema, () => ({ resources: [{ uri: "memo:a", name: "a" }] }));
  server.setRequestHandler(ReadResourceRequestSchema, ({ params }) =>
    params.uri === "memo:seen"
      ? { contents: [{ uri: params.uri, text: JSON.stringify(seen) }] }
      : { contents: [{ uri: params.uri, text: "memo" }] },
  );
  server.setRequestHandler(SubscribeRequestSchema, ({ params }) => {
    seen.subscribed.push(params.uri);
    return {};
  });
  server.setRequestHandler(UnsubscribeRequestSchema, ({ params }) => {
    seen.unsubscribed.push(params.uri);
    return {};
  });
  server.setRequestHandler(ListPromptsRequestSchema, () => ({ prompts: [{ name: "greet" }] }));
  server.setRequestHandler(GetPromptRequestSchema, () => ({
    messages: [{ role: "user", content: { type: "text", text: "hello" } }],
  }));
  return server;
}

async function sessionFor(sessions, request) {
  const id = request.headers["mcp-session-id"];
  if (id !== undefined) return sessions.get(id);
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: () => randomUUID(),
    onsessioninitialized: (fresh) => void sessions.set(fresh, transport),
    onsessionclosed: (ended) => {
      sessions.delete(ended);
      seen.ended += 1;
    },
  });
  await makeServer().connect(transport);
  return transport;
}

if (process.env.TRANSPORT === "http") {
  const sessions = new Map();
  const http = createServer(async (request, response) => {
    if (request.url === "/__report") {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ counters: {}, log: [], extra: seen }));
      return;
    }
    const transport = await sessionFor(sessions, request);
    if (transport === undefined) response.writeHead(404).end();
    else await transport.handleRequest(request, response);
  });
  http.listen(0, "127.0.0.1", () => {
    process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${http.address().port}/mcp` })}\n`);
  });
} else {
  await makeServer().connect(new StdioServerTransport());
}

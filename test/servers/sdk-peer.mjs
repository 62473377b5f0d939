/** A server made with the official SDK 2.4, over stdio or (`TRANSPORT=http`) Streamable HTTP; prints its URL then. */
import { createServer } from "node:http";
import { createMcpHandler, inputRequired, Server } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { toNodeHandler } from "@modelcontextprotocol/node";

const text = (value) => ({ content: [{ type: "text", text: String(value) }] });
const schema = { type: "object", properties: {} };
const form = {
  method: "elicitation/create",
  params: {
    mode: "form",
    message: "name?",
    requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
  },
};

let notifyToolsChanged = () => {};

function makeServer() {
  const server = new Server(
    { name: "sdk-peer", version: "1.0.0" },
    {
      capabilities: { tools: { listChanged: true }, resources: {}, prompts: {}, logging: {} },
      instructions: "be kind",
    },
  );
  server.setRequestHandler("tools/list", () => ({
    tools: [
      {
        name: "echo",
        inputSchema: { ...schema, properties: { text: { type: "string", "x-mcp-header": "Text" } } },
      },
      { name: "count", inputSchema: schema },
      { name: "wait", inputSchema: schema },
      { name: "ask", inputSchema: schema },
      { name: "change", inputSchema: schema },
    ],
  }));
  server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
    switch (params.name) {
      case "echo":
        return text(params.arguments?.text);
      case "count": {
        const progressToken = mcpReq._meta?.progressToken;
        for (let progress = 1; progress <= 3; progress += 1) {
          await mcpReq.notify({
            method: "notifications/progress",
            params: { progressToken, progress, total: 3 },
          });
        }
        return text("counted");
      }
      case "wait":
        await new Promise((resolve) => mcpReq.signal.addEventListener("abort", resolve));
        process.stderr.write("cancelled\n");
        return text("never seen");
      case "ask": {
        const answer = mcpReq.inputResponses?.who;
        if (answer === undefined) return inputRequired({ inputRequests: { who: form }, requestState: "s1" });
        return text(`${answer.action} ${answer.content?.name}`);
      }
      case "change":
        notifyToolsChanged(server);
        return text("changed");
      default:
        throw new Error("unknown tool");
    }
  });
  server.setRequestHandler("resources/list", () => ({ resources: [{ uri: "memo:a", name: "a" }] }));
  server.setRequestHandler("resources/read", ({ params }) => ({
    contents: [{ uri: params.uri, text: "memo" }],
  }));
  server.setRequestHandler("prompts/list", () => ({ prompts: [{ name: "greet" }] }));
  server.setRequestHandler("prompts/get", () => ({
    messages: [{ role: "user", content: { type: "text", text: "hello" } }],
  }));
  return server;
}

if (process.env.TRANSPORT === "http") {
  const handler = createMcpHandler(makeServer);
  notifyToolsChanged = () => handler.notify.toolsChanged();
  const http = createServer(toNodeHandler(handler));
  http.listen(0, "127.0.0.1", () => {
    const url = `http://127.0.0.1:${http.address().port}/mcp`;
    process.stdout.write(`${JSON.stringify({ listening: http.address().port, url })}\n`);
  });
} else {
  notifyToolsChanged = (server) => void server.sendToolListChanged();
  serveStdio(makeServer);
}

#!/usr/bin/env node
/**
 * A whole MCP client in about sixty lines of plain Node, to see how little the protocol itself is:
 *
 *   node examples/minimal-client.mjs COMMAND [ARG …]
 *
 * It starts a server over stdio, asks `server/discover` first (2026-07-28) and falls back to `initialize` (2025-11-25), lists
 * the tools, and calls the first one named `echo`.
 *
 * Left out, and why a real client is longer: limits on lines, answers and time in all; more than one page of a list; answers
 * to what a server asks (elicitation, sampling, roots); progress, cancellation, subscriptions, tasks; HTTP and authorization;
 * the process group and its end; an allowlist for the environment; restarts; and everything that makes a call safe
 * (approval, policy, scanning, a record of what was done).
 */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const MODERN = "2026-07-28";
const LEGACY = "2025-11-25";
const clientInfo = { name: "minimal-client", version: "1.0.0" };
const [command, ...args] = process.argv.slice(2);
if (command === undefined) throw new Error("usage: minimal-client.mjs COMMAND [ARG …]");

const server = spawn(command, args, { stdio: ["pipe", "pipe", "ignore"] });
const waiting = new Map();
let lastId = 0;
let meta; // what every request carries in the modern era; nothing in the legacy one

createInterface({ input: server.stdout }).on("line", (line) => {
  let message;
  try {
    message = JSON.parse(line);
  } catch {
    return; // some servers write their log to stdout
  }
  const { id, method, result, error } = message ?? {};
  if (method !== undefined || !waiting.has(id)) return;
  const { resolve, reject } = waiting.get(id);
  waiting.delete(id);
  if (error) reject(Object.assign(new Error(error.message), { code: error.code }));
  else resolve(result);
});
server.on("exit", () => waiting.forEach(({ reject }) => reject(new Error("the server left"))));

const send = (message) => server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

function request(method, params = {}, timeoutMs = 30_000) {
  const id = (lastId += 1);
  send({ id, method, params: meta ? { ...params, _meta: meta } : params });
  return new Promise((resolve, reject) => {
    waiting.set(id, { resolve, reject });
    setTimeout(() => reject(new Error(`${method} took too long`)), timeoutMs).unref();
  });
}

try {
  const prefix = "io.modelcontextprotocol/";
  meta = {
    [`${prefix}protocolVersion`]: MODERN,
    [`${prefix}clientCapabilities`]: {},
    [`${prefix}clientInfo`]: clientInfo,
  };
  const { supportedVersions } = await request("server/discover", {}, 5_000);
  if (!supportedVersions.includes(MODERN)) throw new Error("no version in common");
} catch {
  meta = undefined;
  const { protocolVersion } = await request("initialize", {
    protocolVersion: LEGACY,
    capabilities: {},
    clientInfo,
  });
  if (protocolVersion > LEGACY) throw new Error(`unknown version ${protocolVersion}`);
  send({ method: "notifications/initialized" });
}

const { tools } = await request("tools/list");
console.log(`${meta ? "modern" : "legacy"}: ${tools.map((tool) => tool.name).join(", ")}`);
if (tools.some((tool) => tool.name === "echo")) {
  const { content } = await request("tools/call", { name: "echo", arguments: { message: "hello" } });
  console.log(content.map((block) => block.text).join("\n"));
}
server.stdin.end();

/**
 * A server that does what its strings tell it: CONTROL names a JSON file, read anew for every message, so that a test can change
 * its ways while it runs. What it gets and does stands in LEDGER, one JSON line each.
 *
 *   era      "legacy" (default) | "modern" | "both" | "none": refuses every version
 *   versions what it says it speaks where it refuses
 *   tools    replaces the definitions; ttlMs, listChanged: what it says of its lists
 *   at       by moment, what goes wrong: "start", a method, "stream" (a call that has told progress), "end" (of stdin)
 *            "exit" | "kill" | "silent" | "garbage" | "huge" | "shut" (closes stdout) | "error" | "unknown" | "slow" (waits slowMs)
 *   stderr   said before it exits
 *   changed  how many list_changed it sends after a call
 */
import { appendFileSync, closeSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

const P = "io.modelcontextprotocol/";
const object = (properties = {}) => ({ type: "object", properties });
const TOOLS = [
  { name: "read", description: "Reads.", inputSchema: object({ text: { type: "string" } }) },
  { name: "write", description: "Writes.", inputSchema: object({ text: { type: "string" } }) },
  { name: "stream", description: "Reads in steps.", inputSchema: object({ text: { type: "string" } }) },
  { name: "fail", description: "Fails.", inputSchema: object() },
];

const control = () => JSON.parse(readFileSync(process.env.CONTROL, "utf8"));
const record = (line) =>
  appendFileSync(process.env.LEDGER, `${JSON.stringify({ ...line, pid: process.pid })}\n`);
const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const text = (value) => ({ content: [{ type: "text", text: value }] });
let listenId;

/** @returns whether the message is done with. */
async function misbehave(moment, id) {
  const { at = {}, slowMs = 0, stderr } = control();
  switch (at[moment]) {
    case "exit":
      if (stderr !== undefined) process.stderr.write(`${stderr}\n`);
      record({ did: "exit" });
      process.exit(3);
      break;
    case "kill":
      process.kill(process.pid, "SIGKILL");
      return new Promise(() => undefined);
    case "silent":
      return true;
    case "garbage":
      process.stdout.write("this is no JSON\n");
      return true;
    case "huge":
      process.stdout.write(`{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"`);
      for (let part = 0; part < 40; part += 1) process.stdout.write("x".repeat(65_536));
      return true;
    case "shut":
      closeSync(1);
      return true;
    case "error":
      say({ id, error: { code: -32603, message: "something broke" } });
      return true;
    case "unknown":
      say({ id, error: { code: -32601, message: `no ${moment}` } });
      return true;
    case "slow":
      await sleep(slowMs);
      return false;
    default:
      return false;
  }
  return true;
}

async function call(id, { name, arguments: args = {}, _meta: meta }) {
  record({ tool: name, args });
  if (name === "write") record({ applied: args.text ?? "" });
  const token = meta?.progressToken;
  const progress = (step) => {
    if (token !== undefined)
      say({ method: "notifications/progress", params: { progressToken: token, progress: step, total: 3 } });
  };
  if (name === "stream") {
    progress(1);
    const { pauseMs = 0, steps = 2 } = control();
    for (let step = 2; step <= steps; step += 1) {
      await sleep(pauseMs);
      progress(step);
    }
    if (await misbehave("stream", id)) return undefined;
  } else if (await misbehave("tools/call", id)) return undefined;
  for (let sent = 0; sent < (control().changed ?? 0); sent += 1) tellChanged();
  return name === "fail" ? { ...text("it failed"), isError: true } : text(`${name} ${args.text ?? ""}`);
}

function tellChanged() {
  const method = "notifications/tools/list_changed";
  if (listenId === undefined) say({ method });
  else say({ method, params: { _meta: { [`${P}subscriptionId`]: listenId } } });
}

async function answer({ id, method, params }) {
  const {
    era = "legacy",
    versions = ["1999-01-01"],
    tools = TOOLS,
    ttlMs = 0,
    listChanged = false,
  } = control();
  const isModern = params?._meta?.[`${P}protocolVersion`] !== undefined;
  const result = (value) => say({ id, result: isModern ? { resultType: "complete", ...value } : value });
  const refuse = (code, message, data) => say({ id, error: { code, message, ...(data && { data }) } });
  record({ got: method, ...(isModern && { modern: true }) });
  if (id === undefined) return;
  if (method !== "tools/call" && (await misbehave(method, id))) return;
  const cache = { ttlMs, cacheScope: "private" };
  const capabilities = { tools: { listChanged } };
  if (era === "none") return refuse(-32022, "no", { supported: versions });
  if (isModern && era === "legacy") return refuse(-32601, "what is that?");
  if (!isModern && era === "modern") return refuse(-32022, "only modern", { supported: ["2026-07-28"] });
  switch (method) {
    case "server/discover":
      return result({ supportedVersions: ["2026-07-28"], capabilities, ...cache });
    case "initialize":
      return result({
        protocolVersion: "2025-11-25",
        capabilities,
        serverInfo: { name: "puppet", version: "1" },
      });
    case "ping":
      return result({});
    case "tools/list":
      return result({ tools, ...(isModern && cache) });
    case "tools/call": {
      const value = await call(id, params);
      if (value !== undefined) result(value);
      return;
    }
    case "subscriptions/listen":
      listenId = id;
      return say({
        method: "notifications/subscriptions/acknowledged",
        params: { _meta: { [`${P}subscriptionId`]: id }, notifications: params.notifications },
      });
    default:
      return refuse(-32601, `no ${method}`);
  }
}

process.stdout.on("error", () => undefined);
process.on("SIGTERM", () => {
  record({ did: "sigterm" });
  if (control().at?.end !== "silent") process.exit(0);
});
record({ did: "start" });
const isLost = await misbehave("start");
createInterface({ input: process.stdin })
  .on("line", (line) => {
    if (isLost) return;
    const message = JSON.parse(line);
    if (message.method === "notifications/cancelled") record({ cancelled: message.params?.requestId });
    answer(message).catch((error) => process.stderr.write(`${error}\n`));
  })
  .on("close", async () => {
    if (await misbehave("end")) setInterval(() => undefined, 1_000);
    else process.exit(0);
  });

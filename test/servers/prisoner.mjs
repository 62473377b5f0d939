/**
 * Tries the walls: each tool does one thing that a sandbox may forbid and answers with what came of it, or with the code of the
 * error. Legacy era. It marks itself by its arguments, so that a test finds its process.
 */
import { spawn } from "node:child_process";
import { readFileSync, readdirSync, readlinkSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { createInterface } from "node:readline";

const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

const deeds = {
  read: ({ path }) => readFileSync(path, "utf8"),
  list: ({ path }) => readdirSync(path).sort().join(" "),
  write: ({ path, text }) => (writeFileSync(path, text), "written"),
  link: ({ path, target }) => (symlinkSync(target, path), readFileSync(path, "utf8")),
  rename: ({ path, target }) => (renameSync(path, target), "renamed"),
  where: () => `${process.cwd()} ${process.env.TMPDIR ?? ""}`,
  environment: () => Object.keys(process.env).sort().join(" "),
  capabilities: () => /CapEff:\t(\w+)/.exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? "",
  network: () => readlinkSync("/proc/self/ns/net"),
  signal: ({ pid }) => (process.kill(pid, 0), "reached"),
  dial: ({ host, port, path }) =>
    new Promise((resolve) => {
      const socket = connect(path === undefined ? { host, port } : { path });
      socket.once("connect", () => resolve((socket.destroy(), "connected")));
      socket.once("error", (error) => resolve(error.code));
    }),
  // A process that leaves the group and the session, as a hostile server would.
  leave: () => {
    const code = "setInterval(() => {}, 1000)";
    spawn(process.execPath, ["-e", code, ...process.argv.slice(2)], {
      detached: true,
      stdio: "ignore",
    }).unref();
    return "left";
  },
  wait: () => new Promise(() => {}),
};
const any = { type: "object", additionalProperties: true };
const tools = Object.keys(deeds).map((name) => ({ name, description: name, inputSchema: any }));

async function call(name, args) {
  let text;
  try {
    text = await deeds[name](args);
  } catch (error) {
    text = error.code ?? String(error);
  }
  return { content: [{ type: "text", text }] };
}

createInterface({ input: process.stdin }).on("line", async (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  if (method === "initialize") {
    const serverInfo = { name: "prisoner", version: "1" };
    say({ id, result: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo } });
  } else if (method === "tools/list") say({ id, result: { tools } });
  else if (method === "tools/call") say({ id, result: await call(params.name, params.arguments ?? {}) });
  else if (method === "ping") say({ id, result: {} });
  else say({ id, error: { code: -32601, message: `no ${method}` } });
});

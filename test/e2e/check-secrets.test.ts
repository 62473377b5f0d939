/** A whole day of an operator with every kind of secret that there is, and then a search of everything that was written or said. */
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { operations } from "../../src/operations/table.ts";
import { startAuthServer, type AuthServer } from "../support/auth-server.ts";
import { startLocalServer, type LocalServer } from "../support/local-http.ts";
import { createWorkbench, type Workbench } from "../support/workbench.ts";

const SECRETS = {
  variable: "variable-Xq7vT9zLw3Rk8Pn5",
  file: "file-Bn4hJ2mQx8Wv6Ks1 with spaces & signs",
  keychain: "keychain-Zt5rC9dGy7Lp3Fa2",
  header: "header-Hm6kN1sVb4Xj8Qe9",
  query: "query-Uw2yE7oIa5Tz3Mc6",
  literal: "ghp_Literal0123456789abcdefghijABCDEFGH",
} as const;

let bench: Workbench;
/** What is not Portcullis's: the inputs, and what servers got. */
let elsewhere: string;
let as: AuthServer;
let mirror: LocalServer;
const said: string[] = [];

beforeEach(async () => {
  bench = createWorkbench();
  elsewhere = mkdtempSync(join(tmpdir(), "portcullis-inputs-"));
  said.length = 0;
  as = await startAuthServer();
  // Sends back whatever it was sent, as an error with its body, and as a tool result.
  mirror = await startLocalServer((request, response, body) => {
    const message = JSON.parse(body === "" ? "{}" : body) as { id?: number; method?: string };
    const seen = JSON.stringify({ headers: request.headers, url: request.url, body });
    const answer = (result: JsonObject): void => {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ jsonrpc: "2.0", id: message.id, result }));
    };
    if (message.method === "initialize") {
      const serverInfo = { name: "mirror", version: "1" };
      answer({ protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo });
    } else if (message.method === "tools/list") {
      answer({ tools: [{ name: "echo", description: seen, inputSchema: { type: "object" } }] });
    } else if (message.method === "tools/call") answer({ content: [{ type: "text", text: seen }] });
    else if (message.id === undefined) response.writeHead(202).end();
    else response.writeHead(400).end(seen);
  });
});
afterEach(async () => {
  await as.close();
  await mirror.close();
  bench.remove();
  rmSync(elsewhere, { recursive: true, force: true });
});

function configure(): void {
  writeFileSync(join(elsewhere, "secret.txt"), `${SECRETS.file}\n`, { mode: 0o600 });
  mkdirSync(join(elsewhere, "bin"));
  const keychain = join(elsewhere, "bin", "secret-tool");
  writeFileSync(keychain, `#!/bin/sh\n[ "$5" = ledger ] && printf '%s' '${SECRETS.keychain}'\n`);
  chmodSync(keychain, 0o755);
  const env = { V: "${env:V}", F: `\${file:${join(elsewhere, "secret.txt")}}`, K: "${keychain:ledger}" };
  bench.writeConfig({
    mcpServers: {
      ledger: {
        ...bench.ledgerEntry({ source: "own", tools: { read: "L0", write: "L1" }, env }),
        env: { ...env, LEDGER: join(elsewhere, "ledger.jsonl") },
      },
      mirror: {
        url: `${mirror.url.href}?token=\${env:Q}`,
        headers: { Authorization: "Bearer ${env:H}" },
        allowPrivateAddresses: true,
        source: "own",
        default: "L0",
        scan: "mark",
      },
      hub: {
        url: as.url.href,
        source: "own",
        allowPrivateAddresses: true,
        auth: { type: "oauth" },
        tools: { echo: "L0" },
      },
      // Says all it knows and dies.
      broken: {
        command: process.execPath,
        args: [
          "-e",
          "require('fs').writeFileSync(process.env.AT, JSON.stringify(process.env)); console.error(JSON.stringify(process.env)); console.log('{'); process.exit(3)",
        ],
        limits: { connect: "1s" },
        env: { ...env, GITHUB_TOKEN: SECRETS.literal, AT: join(elsewhere, "environment") },
      },
      // A reference that cannot be resolved, and a program that is not there, with secrets beside them.
      absent: { command: "no-such-program", args: ["--token", "${env:V}"], env },
      unset: { command: "x", env: { ...env, U: "${env:NOT_SET}" } },
    },
    gateway: { listen: "127.0.0.1:0" },
  });
}

const environment = (): Record<string, string> => ({
  PATH: `${join(elsewhere, "bin")}:${process.env["PATH"] ?? ""}`,
  V: SECRETS.variable,
  H: SECRETS.header,
  Q: SECRETS.query,
  NODE_OPTIONS: `--report-on-signal --report-signal=SIGUSR2 --report-directory=${bench.dir}`,
});

async function run(...words: string[]): Promise<void> {
  const done = await bench.run(words, { env: environment() });
  said.push(done.stdout, done.stderr);
}

async function logIn(): Promise<void> {
  const child = bench.start(["login", "hub", "--no-browser", "--yes"], environment());
  let stderr = "";
  let following: Promise<unknown> | undefined;
  child.stdout?.setEncoding("utf8").on("data", (text: string) => void said.push(text));
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
    const url = /http:\/\/\S+\/authorize\?\S+(?=\n)/.exec(stderr)?.[0];
    if (url !== undefined)
      following ??= fetch(url, { headers: { connection: "close" } }).then((page) => page.text());
  });
  const exitCode = await new Promise((resolve) => child.once("close", resolve));
  await following;
  said.push(stderr);
  expect(exitCode, stderr).toBe(0);
}

/** A gateway, every operation of its admin API, its stream of events, its console, a report of Node.js, and its end. */
async function serveAndAsk(): Promise<void> {
  const child = bench.start(["serve", "--json"], environment());
  let stdout = "";
  let stderr = "";
  const ended = new Promise((resolve) => child.once("close", resolve));
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const { url, console: link } = await new Promise<{ url: string; console: string }>((resolve, reject) => {
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
      if (stdout.endsWith("}\n")) resolve(JSON.parse(stdout) as { url: string; console: string });
    });
    void ended.then(() => reject(new Error(stderr)));
  });
  const token = new URLSearchParams(new URL(link).hash.slice(1)).get("token") ?? "";
  const headers = {
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    connection: "close",
  };
  const stop = new AbortController();
  const events = fetch(`${url}/api/events`, { headers, signal: stop.signal }).then(async (response) => {
    const decoder = new TextDecoder();
    try {
      for await (const chunk of response.body ?? []) said.push(decoder.decode(chunk as Uint8Array));
    } catch {
      // Stopped.
    }
  });
  const inputs = [
    {},
    { server: "ledger" },
    { server: "mirror", tool: "echo", arguments: { text: SECRETS.variable } },
    { server: "broken", tool: "x", arguments: {} },
    { server: "ledger", tool: "write", arguments: { text: SECRETS.file } },
    { server: "absent", tool: "x", arguments: {} },
    { server: "unset", uri: "file:///x", name: "x" },
    { id: SECRETS.header, call: SECRETS.query },
  ];
  for (const name of operations.keys()) {
    if (["login_start", "login_finish", "logout", "remove", "lock"].includes(name)) continue;
    for (const input of inputs) {
      const body = JSON.stringify(input);
      const response = await fetch(`${url}/api/operations/${name}`, { method: "POST", headers, body });
      said.push(await response.text());
    }
  }
  for (const path of ["/", "/api/hello?nonce=x", "/api/nothing", `/${SECRETS.header}`])
    said.push(await (await fetch(`${url}${path}`, { headers: { connection: "close" } })).text());
  await run("status", "--check", "--json");
  await run("call", "ledger", "read", `{"text":"${SECRETS.variable}"}`, "--json");
  child.kill("SIGUSR2");
  for (
    let turn = 0;
    turn < 500 && !readdirSync(bench.dir).some((name) => name.startsWith("report."));
    turn += 1
  )
    await new Promise((resolve) => setTimeout(resolve, 10));
  child.kill("SIGTERM");
  await ended;
  stop.abort();
  await events;
  // The links of the gateway's own start hold its own tokens, which are no secrets of servers.
  said.push(stdout, stderr);
}

/** Each form in which a secret could stand somewhere. */
function formsOf(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  const json = JSON.stringify(secret).slice(1, -1);
  const base64 = [0, 1, 2].map((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString("base64");
    return text.slice(offset === 0 ? 0 : 4, -4);
  });
  return [secret, json, encodeURIComponent(secret), bytes.toString("hex"), ...base64];
}

function filesIn(dir: string): readonly { readonly path: string; readonly text: string }[] {
  return readdirSync(dir, { recursive: true, encoding: "utf8" })
    .map((name) => join(dir, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => ({ path, text: readFileSync(path, "latin1") }));
}

describe("every secret of a whole run", { timeout: 240_000 }, () => {
  it("stands in no file, output, console response, event, error or report [SEC-22] [SEC-23]", async () => {
    configure();
    await run("check", "--json");
    await run("tools", "--refresh", "--json");
    await run("explain", "ledger", "write", `{"text":"${SECRETS.variable}"}`, "--json");
    await run("call", "ledger", "write", `{"text":"${SECRETS.variable}"}`, "--json");
    await run("call", "ledger", "fail", "--yes", "--json");
    await run("call", "ledger", "write", `{"wrong":"${SECRETS.file}"}`, "--json");
    for (const server of ["mirror", "broken", "absent", "unset"]) {
      await run("call", server, "echo", `{"text":"${SECRETS.header}"}`, "--yes", "--json");
    }
    await logIn();
    await run("call", "hub", "echo", '{"text":"hi"}', "--json");
    await serveAndAsk();
    await run("call", "broken", "echo", "--yes");
    for (const command of ["status", "tools", "activity", "review", "check"]) await run(command);
    for (const command of ["status", "tools", "activity", "audit"]) await run(command, "--json");
    await run("logout", "hub", "--json");

    // The secrets did arrive where they belong: the test can fail.
    expect(readFileSync(join(elsewhere, "ledger.jsonl"), "utf8")).toContain(SECRETS.file);
    expect(readFileSync(join(elsewhere, "environment"), "utf8")).toContain(SECRETS.keychain);
    expect(as.issued.length).toBeGreaterThanOrEqual(3);
    expect(said.join("\n")).toContain("[redacted]");

    const files = filesIn(bench.dir).filter(({ path }) => path !== bench.configFile);
    expect(files.some(({ path }) => path.includes("report."))).toBe(true);
    const config = readFileSync(bench.configFile, "utf8");
    const found: string[] = [];
    const look = (where: string, text: string, secret: string): void => {
      for (const form of formsOf(secret)) {
        const at = text.indexOf(form);
        if (at >= 0)
          found.push(`${secret} in ${where}: ${text.slice(Math.max(0, at - 200), at + form.length + 50)}`);
      }
    };
    for (const secret of [...Object.values(SECRETS), ...as.issued]) {
      for (const { path, text } of files) look(path, text, secret);
      said.forEach((text, index) => look(`what was said (${index})`, text, secret));
      if (secret !== SECRETS.literal) look("the configuration", config, secret);
    }
    expect(found).toEqual([]);
  });
});

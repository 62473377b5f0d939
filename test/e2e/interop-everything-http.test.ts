/** The client in front of the package `server-everything` over Streamable HTTP with sessions. */
import { spawn } from "node:child_process";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { connectHttp } from "../../src/client/connect-http.ts";
import type { Client } from "../../src/client/client.ts";
import type { Progress } from "../../src/protocol/types.ts";
import { errorOf } from "../support/client-setup.ts";

const script = join(
  import.meta.dirname,
  "../../node_modules/@modelcontextprotocol/server-everything/dist/index.js",
);

let client: Client;
let end: () => Promise<void>;

/** The package takes a port from its environment and cannot choose one by itself. */
async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await new Promise<void>((resolve) => probe.once("listening", () => resolve()));
  const { port } = probe.address() as AddressInfo;
  await new Promise<void>((resolve) => probe.close(() => resolve()));
  return port;
}

beforeAll(async () => {
  const port = await freePort();
  const child = spawn(process.execPath, [script, "streamableHttp"], {
    env: { PATH: process.env["PATH"] ?? "", PORT: String(port) },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  end = async () => {
    child.kill("SIGKILL");
    await exited;
  };
  let said = "";
  await new Promise<void>((resolve, reject) => {
    child.once("exit", () => reject(new Error(said)));
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      said += text;
      if (said.includes(String(port))) resolve();
    });
  });
  client = await connectHttp(
    { url: new URL(`http://127.0.0.1:${port}/mcp`), allowPrivateAddresses: true },
    {
      clientInfo: { name: "interop", version: "1" },
      inputs: {
        elicitForm: async () => ({ action: "accept", content: { name: "Ada" } }),
        sample: async () => ({
          role: "assistant",
          content: { type: "text", text: "sampled" },
          model: "none",
        }),
      },
    },
  );
});

afterAll(async () => {
  await client.close();
  await end();
});

const textOf = (result: { readonly content: readonly object[] }): string =>
  (result.content[0] as { text?: string } | undefined)?.text ?? "";

it("lists, calls, reads, prompts, completes", async () => {
  expect(client.facts).toMatchObject({ era: "legacy", revision: "2025-11-25" });
  expect((await client.list("tools")).items.length).toBeGreaterThan(5);
  expect(textOf(await client.callTool("echo", { message: "hi" }))).toBe("Echo: hi");
  const [resource] = (await client.list("resources")).items;
  expect((await client.readResource(resource?.uri ?? "")).contents).toHaveLength(1);
  expect((await client.getPrompt("simple-prompt", {})).messages.length).toBeGreaterThan(0);
});

it("progress arrives, and a call is cancelled in the middle of it", async () => {
  const progress: Progress[] = [];
  const tool = "trigger-long-running-operation";
  await client.callTool(tool, { duration: 0.2, steps: 4 }, { onProgress: (value) => progress.push(value) });
  expect(progress.map((value) => value.progress)).toEqual([1, 2, 3, 4]);
  const controller = new AbortController();
  const onProgress = (): void => controller.abort(new Error("enough"));
  const failed = errorOf(
    client.callTool(tool, { duration: 30, steps: 300 }, { signal: controller.signal, onProgress }),
  );
  expect((await failed).code).toBe("cancelled");
});

it("questions of the server in the middle of a call are answered", async () => {
  expect(textOf(await client.callTool("trigger-elicitation-request", {}))).toContain("provided");
  expect(textOf(await client.callTool("trigger-sampling-request", { prompt: "x", maxTokens: 5 }))).toContain(
    "sampled",
  );
});

it("subscribes and unsubscribes", async () => {
  const filter = { resourceSubscriptions: ["demo://resource/dynamic/text/1"] };
  const subscription = await client.listen(filter, () => undefined);
  expect(subscription.accepted).toEqual(filter);
  subscription.close();
  expect(await client.heartbeat()).toBeGreaterThanOrEqual(0);
});

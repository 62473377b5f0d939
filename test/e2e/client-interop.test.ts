/** The client in front of servers that it was not written for: the official SDK of both generations and packages from npm. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { Client } from "../../src/client/client.ts";
import { connectHttp } from "../../src/client/connect-http.ts";
import { connectStdio } from "../../src/client/connect-stdio.ts";
import type { ConnectOptions } from "../../src/client/options.ts";
import type { SubscriptionChange } from "../../src/client/subscriptions.ts";
import type { Progress } from "../../src/protocol/types.ts";
import { errorOf } from "../support/client-setup.ts";
import { startScriptServer } from "../support/local-http.ts";

const root = join(import.meta.dirname, "../..");
const sdkPeer = join(root, "test/servers/sdk-peer.mjs");
const bin = (name: string): string => join(root, "node_modules/.bin", name);

const ends: (() => Promise<unknown> | void)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

const common: ConnectOptions = {
  clientInfo: { name: "interop", version: "1" },
  inputs: {
    elicitForm: async () => ({ action: "accept", content: { name: "Ada" } }),
    sample: async () => ({ role: "assistant", content: { type: "text", text: "sampled" }, model: "none" }),
    listRoots: async () => ({ roots: [{ uri: "file:///tmp" }] }),
  },
};

async function stdio(
  script: string,
  args: readonly string[] = [],
  options: Partial<ConnectOptions> = {},
): Promise<Client> {
  const client = await connectStdio(
    { command: process.execPath, args: [script, ...args], env: {}, cwd: root },
    { ...common, ...options },
  );
  ends.push(async () => expect(["clean", "terminated"]).toContain((await client.close()).how));
  return client;
}

async function http(options: Partial<ConnectOptions>): Promise<Client> {
  const server = await startScriptServer(sdkPeer, { TRANSPORT: "http" });
  ends.push(server.close);
  const client = await connectHttp(
    { url: server.url, allowPrivateAddresses: true },
    { ...common, ...options },
  );
  ends.push(() => client.close());
  return client;
}

const textOf = (result: { readonly content: readonly object[] }): string =>
  (result.content[0] as { text?: string } | undefined)?.text ?? "";

/** Waits until a signal to cancel has something to cancel. */
async function cancelSoon(client: Client, tool: string): Promise<string> {
  const controller = new AbortController();
  const failed = errorOf(client.callTool(tool, {}, { signal: controller.signal }));
  await client.list("tools");
  controller.abort(new Error("enough"));
  return (await failed).code;
}

describe("the official SDK 2.4", () => {
  const ways: readonly (readonly [string, "modern" | "legacy", () => Promise<Client>])[] = [
    ["stdio, modern", "modern", () => stdio(sdkPeer)],
    ["stdio, legacy", "legacy", () => stdio(sdkPeer, [], { eraHint: "legacy" })],
    ["HTTP, modern", "modern", () => http({})],
  ];
  it.each(ways)(
    "over %s: list, call, progress, input, resource, prompt, subscription, cancel",
    async (_way, era, connect) => {
      const client = await connect();
      expect(client.facts).toMatchObject({ era, serverInfo: { name: "sdk-peer" }, instructions: "be kind" });
      expect((await client.list("tools")).items).toHaveLength(5);
      expect(textOf(await client.callTool("echo", { text: "Ω\n" }))).toBe("Ω\n");

      const progress: Progress[] = [];
      expect(
        textOf(await client.callTool("count", {}, { onProgress: (value) => progress.push(value) })),
      ).toBe("counted");
      expect(progress.map((value) => value.progress)).toEqual([1, 2, 3]);

      expect(textOf(await client.callTool("ask", {}))).toBe("accept Ada");
      expect((await client.readResource("memo:a")).contents).toEqual([{ uri: "memo:a", text: "memo" }]);
      expect((await client.getPrompt("greet", {})).messages).toHaveLength(1);

      const changed = Promise.withResolvers<SubscriptionChange>();
      const subscription = await client.listen({ toolsListChanged: true }, changed.resolve);
      expect(subscription.accepted).toEqual({ toolsListChanged: true });
      await client.callTool("change", {});
      expect(await changed.promise).toEqual({ kind: "list_changed", list: "tools", isGap: false });
      subscription.close();

      expect(await cancelSoon(client, "wait")).toBe("cancelled");
      expect(await client.heartbeat()).toBeGreaterThanOrEqual(0);
      expect(client.oddities()).toEqual({});
    },
  );

  it("over HTTP, legacy and stateless: list and call", async () => {
    const client = await http({ eraHint: "legacy" });
    expect(client.facts).toMatchObject({ era: "legacy" });
    expect((await client.list("tools")).items).toHaveLength(5);
    expect(textOf(await client.callTool("echo", { text: "x" }))).toBe("x");
  });
});

describe("packages from npm, made with the SDK 1.x", () => {
  it("server-everything: list, call, progress, cancel, resource, prompt, completion, questions, subscription, logs", async () => {
    const client = await stdio(bin("mcp-server-everything"));
    expect(client.facts).toMatchObject({ era: "legacy", revision: "2025-11-25", verdictIsCertain: true });
    const tools = (await client.list("tools")).items.map((tool) => tool.name);
    expect(tools).toContain("echo");
    expect(textOf(await client.callTool("echo", { message: "hi" }))).toBe("Echo: hi");

    const progress: Progress[] = [];
    await client.callTool(
      "trigger-long-running-operation",
      { duration: 0.2, steps: 4 },
      { onProgress: (value) => progress.push(value) },
    );
    expect(progress.map((value) => value.progress)).toEqual([1, 2, 3, 4]);
    const controller = new AbortController();
    const failed = errorOf(
      client.callTool(
        "trigger-long-running-operation",
        { duration: 30, steps: 300 },
        { signal: controller.signal, onProgress: () => controller.abort(new Error("enough")) },
      ),
    );
    expect((await failed).code).toBe("cancelled");

    const [resource] = (await client.list("resources")).items;
    expect((await client.readResource(resource?.uri ?? "")).contents).toHaveLength(1);
    expect((await client.list("resourceTemplates")).items.length).toBeGreaterThan(0);
    expect((await client.getPrompt("simple-prompt", {})).messages.length).toBeGreaterThan(0);
    const completion = await client.complete({
      ref: { type: "ref/prompt", name: "completable-prompt" },
      argument: { name: "department", value: "" },
    });
    expect(completion.values.length).toBeGreaterThan(0);

    // The tools that ask appear after the handshake, when the server has seen what the client can do.
    expect(textOf(await client.callTool("trigger-elicitation-request", {}))).toContain("provided");
    expect(
      textOf(await client.callTool("trigger-sampling-request", { prompt: "x", maxTokens: 5 })),
    ).toContain("sampled");
    expect(textOf(await client.callTool("get-roots-list", {}))).toContain("file:///tmp");

    const subscription = await client.listen(
      { resourceSubscriptions: ["demo://resource/dynamic/text/1"] },
      () => undefined,
    );
    expect(subscription.accepted).toEqual({ resourceSubscriptions: ["demo://resource/dynamic/text/1"] });
    await client.setLogLevel("debug");
    expect((await errorOf(client.readResource("demo://no/such"))).code).toBe("remote_error");
  });

  it("server-filesystem and server-memory: list and call", async () => {
    const folder = mkdtempSync(join(tmpdir(), "portcullis-interop-"));
    ends.push(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, "a.txt"), "content of a");
    const files = await stdio(bin("mcp-server-filesystem"), [folder]);
    expect(textOf(await files.callTool("read_text_file", { path: join(folder, "a.txt") }))).toContain(
      "content of a",
    );
    expect(await files.callTool("read_text_file", { path: "/etc/hostname" })).toMatchObject({
      isError: true,
    });

    const memory = await stdio(bin("mcp-server-memory"));
    expect((await memory.list("tools")).items.map((tool) => tool.name)).toContain("read_graph");
    expect((await memory.callTool("read_graph", {})).content).toHaveLength(1);
  });
});

/** The official SDK's clients in front of the gateway, over HTTP and stdio: 2.4.0 in both eras, and 1.32.2. */
import { ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { afterEach, describe, expect, it } from "vitest";
import { fixtureEntry, ledgerLine, openBench, type GatewayBench } from "../support/gateway-kit.ts";
import { openSdk1, openSdk2, overHttp, overStdio, type Target } from "../support/sdk-clients.ts";
import { createWorkbench, type Workbench } from "../support/workbench.ts";

interface CallExtras {
  readonly signal?: AbortSignal;
  readonly onprogress?: (progress: { readonly progress: number }) => void;
}

interface CallResult {
  readonly content: readonly { readonly type: string; readonly text?: string }[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
}

/** What the tests ask of a client, whichever it is. */
interface Face {
  names(): Promise<readonly string[]>;
  call(name: string, args?: Record<string, unknown>, extras?: CallExtras): Promise<CallResult>;
  /** Resolves when the client was told that the list changed. */
  changed(): Promise<void>;
  close(): Promise<void>;
}

/** The official client drops progress that comes in one piece with the answer: the answer waits for what it has seen. */
async function progressOf(call: Face["call"], steps: number): Promise<readonly number[]> {
  const seen: number[] = [];
  const last = Promise.withResolvers<void>();
  const onprogress = ({ progress }: { readonly progress: number }): void => {
    seen.push(progress);
    if (progress === steps) last.resolve();
  };
  const answered = call("peer__steps", { steps, holds: true }, { onprogress });
  await Promise.race([last.promise, answered]);
  await call("peer__echo", { text: "go on" });
  await answered;
  return seen;
}

async function connect2(
  mode: "legacy" | "auto" | { pin: string },
  target: Target,
  wanted: string,
): Promise<Face> {
  const told = Promise.withResolvers<void>();
  const client = await openSdk2(mode, target, {
    listChanged: { tools: { onChanged: () => told.resolve() } },
  });
  expect(client.getNegotiatedProtocolVersion()).toBe(wanted);
  return {
    names: async () => (await client.listTools()).tools.map((tool) => tool.name),
    call: async (name, args = {}, extras = {}) =>
      (await client.callTool({ name, arguments: args }, extras)) as unknown as CallResult,
    changed: () => told.promise,
    close: () => client.close(),
  };
}

async function connect1(target: Target): Promise<Face> {
  const told = Promise.withResolvers<void>();
  const client = await openSdk1(target, {}, (opening) =>
    opening.setNotificationHandler(ToolListChangedNotificationSchema, () => told.resolve()),
  );
  return {
    names: async () => (await client.listTools()).tools.map((tool) => tool.name),
    call: async (name, args = {}, extras = {}) =>
      (await client.callTool({ name, arguments: args }, undefined, extras)) as unknown as CallResult,
    changed: () => told.promise,
    close: () => client.close(),
  };
}

const clients: readonly (readonly [string, (target: Target) => Promise<Face>])[] = [
  ["client 2.4.0, legacy", async (target) => connect2("legacy", target, "2025-11-25")],
  ["client 2.4.0, by itself", async (target) => connect2("auto", target, "2026-07-28")],
  ["client 2.4.0, pinned to modern", async (target) => connect2({ pin: "2026-07-28" }, target, "2026-07-28")],
  ["sdk 1.32.2", connect1],
];

describe.each(clients)("%s over HTTP", (_name, connect) => {
  let bench: GatewayBench;
  let client: Face;
  const open = async (): Promise<Face> => {
    bench = await openBench();
    client = await connect(overHttp(bench));
    return client;
  };
  afterEach(async () => {
    await client.close();
    await bench.close();
  });

  it("lists, calls, sees pictures, structured output and errors", async () => {
    const { names, call } = await open();
    expect(await names()).toContain("peer__echo");
    expect((await call("peer__echo", { text: "hello" })).content[0]?.text).toContain("hello");
    expect((await call("peer__picture")).content.map((block) => block.type)).toEqual(["text", "image"]);
    expect((await call("peer__fits")).structuredContent).toEqual({ count: 3 });
    for (const name of ["peer__misfits", "peer__forgets", "peer__attack", "peer__fail"]) {
      expect([name, (await call(name)).isError]).toEqual([name, true]);
    }
    expect((await call("peer__echo", { text: 5 })).isError).toBe(true);
    // A tool that wants tasks upstream is an ordinary one here.
    expect((await call("peer__wait", { ms: 1 })).content[0]?.text).toContain("waited");
    await expect(call("peer__none")).rejects.toThrow(/peer__none/);
  });

  it("is told progress, in order", async () => {
    const { call } = await open();
    expect(await progressOf(call, 4)).toEqual([1, 2, 3, 4]);
  });

  it("takes a call back, up to the server", async () => {
    const { call } = await open();
    const controller = new AbortController();
    const pending = call("peer__wait", { ms: 600_000 }, { signal: controller.signal });
    const failed = expect(pending).rejects.toThrow();
    await ledgerLine(bench, (line) => line["tool"] === "wait");
    controller.abort();
    await failed;
    await ledgerLine(bench, (line) => line["cancelled"] !== undefined);
  });

  it("hears that the list changed", async () => {
    const { names, call, changed } = await open();
    const before = await names();
    await call("peer__grow");
    await changed();
    expect((await names()).length).toBe(before.length + 1);
  });

  it("makes 50 calls at once, each with its own answer", async () => {
    const { call } = await open();
    const texts = Array.from({ length: 50 }, (_unused, at) => `call-${at}-`);
    const results = await Promise.all(texts.map(async (text) => call("peer__echo", { text })));
    results.forEach((result, at) => expect(result.content[0]?.text).toContain(texts[at]));
  });
});

describe.each(clients)("%s over stdio", { timeout: 60_000 }, (_name, connect) => {
  let bench: Workbench;
  afterEach(() => bench.remove());

  it("lists, calls and cancels through `portcullis serve --stdio`", async () => {
    bench = createWorkbench();
    bench.writeConfig({ mcpServers: { peer: fixtureEntry({ file: "gateway-peer.mjs" }) } });
    const client = await connect(overStdio(bench));
    try {
      expect(await client.names()).toContain("peer__echo");
      expect((await client.call("peer__echo", { text: "hello" })).content[0]?.text).toContain("hello");
      expect(await progressOf(client.call, 2)).toEqual([1, 2]);
      const controller = new AbortController();
      const pending = client.call("peer__wait", { ms: 600_000 }, { signal: controller.signal });
      setImmediate(() => controller.abort());
      await expect(pending).rejects.toThrow();
      await client.call("peer__grow");
      await client.changed();
    } finally {
      await client.close();
    }
  });
});

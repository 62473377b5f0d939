/** The client in front of the official SDK of the first generation (1.32), over stdio and over HTTP with sessions. */
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
const peer = join(root, "test/servers/sdk1-peer.mjs");

const options: ConnectOptions = {
  clientInfo: { name: "interop", version: "1" },
  inputs: { elicitForm: async () => ({ action: "accept", content: { name: "Ada" } }) },
};

/** What the server saw by itself. */
interface Seen {
  readonly cancelled: number;
  readonly subscribed: readonly string[];
  readonly unsubscribed: readonly string[];
  readonly ended: number;
}

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function overStdio(): Promise<Client> {
  const target = { command: process.execPath, args: [peer], env: {}, cwd: root };
  const client = await connectStdio(target, options);
  ends.push(() => client.close());
  return client;
}

async function overHttp(): Promise<Client> {
  const server = await startScriptServer(peer, { TRANSPORT: "http" });
  ends.push(server.close);
  const client = await connectHttp({ url: server.url, allowPrivateAddresses: true }, options);
  ends.push(() => client.close());
  return client;
}

const textOf = (result: { readonly content: readonly object[] }): string =>
  (result.content[0] as { text?: string } | undefined)?.text ?? "";

async function seenBy(client: Client): Promise<Seen> {
  const { contents } = await client.readResource("memo:seen");
  return JSON.parse((contents[0] as unknown as { text: string }).text) as Seen;
}

/** Asks until it is so: over HTTP one message may overtake another. */
async function untilSeen(client: Client, isSo: (seen: Seen) => boolean): Promise<void> {
  for (let turn = 0; turn < 200; turn += 1) if (isSo(await seenBy(client))) return;
  throw new Error("the server never saw it");
}

const ways: readonly (readonly [string, () => Promise<Client>])[] = [
  ["stdio", overStdio],
  ["HTTP", overHttp],
];

describe.each(ways)("the official SDK 1.32 over %s", (_way, connect) => {
  it("handshake, list, call, progress, resource, prompt", async () => {
    const client = await connect();
    expect(client.facts).toMatchObject({
      era: "legacy",
      revision: "2025-11-25",
      serverInfo: { name: "sdk1-peer" },
    });
    expect((await client.list("tools")).items).toHaveLength(6);
    expect(textOf(await client.callTool("echo", { text: "Ω\n" }))).toBe("Ω\n");
    const progress: Progress[] = [];
    await client.callTool("count", {}, { onProgress: (value) => progress.push(value) });
    expect(progress.map((value) => value.progress)).toEqual([1, 2, 3]);
    expect((await client.readResource("memo:a")).contents).toEqual([{ uri: "memo:a", text: "memo" }]);
    expect((await client.getPrompt("greet", {})).messages).toHaveLength(1);
    expect(await client.heartbeat()).toBeGreaterThanOrEqual(0);
    expect(client.oddities()).toEqual({});
  });

  it("a question of the server in the middle of a call is answered", async () => {
    expect(textOf(await (await connect()).callTool("ask", {}))).toBe("accept Ada");
  });

  it("a cancelled call ends here at once and is cancelled there [CAN-01] [HTTPL-13]", async () => {
    const client = await connect();
    const controller = new AbortController();
    const failed = errorOf(client.callTool("wait", {}, { signal: controller.signal }));
    await client.list("tools");
    controller.abort(new Error("enough"));
    expect((await failed).code).toBe("cancelled");
    await untilSeen(client, (seen) => seen.cancelled === 1);
  });

  it("changes of lists and resources arrive, and subscriptions end with their last listener", async () => {
    const client = await connect();
    const changes: SubscriptionChange[] = [];
    let wake = (): void => undefined;
    const until = async (count: number): Promise<void> => {
      while (changes.length < count) await new Promise<void>((resolve) => (wake = resolve));
    };
    const subscription = await client.listen(
      { toolsListChanged: true, resourceSubscriptions: ["memo:a"] },
      (change) => {
        changes.push(change);
        wake();
      },
    );
    expect(subscription.accepted).toEqual({ toolsListChanged: true, resourceSubscriptions: ["memo:a"] });
    await client.callTool("change", {});
    await until(1);
    await client.callTool("update", {});
    await until(2);
    expect(changes).toMatchObject([
      { kind: "list_changed", list: "tools" },
      { kind: "resource_updated", uri: "memo:a" },
    ]);
    subscription.close();
    await untilSeen(client, (seen) => seen.unsubscribed.length > 0);
    expect(await seenBy(client)).toMatchObject({ subscribed: ["memo:a"], unsubscribed: ["memo:a"] });
  });
});

describe("the official SDK 1.32 over HTTP", () => {
  it("the session is ended with the client [HTTPL-05]", async () => {
    const server = await startScriptServer(peer, { TRANSPORT: "http" });
    ends.push(server.close);
    const client = await connectHttp({ url: server.url, allowPrivateAddresses: true }, options);
    await client.list("tools");
    await client.close();
    expect((await server.report()).extra).toMatchObject({ ended: 1 });
  });
});

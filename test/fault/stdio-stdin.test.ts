/** What a server process really reads on its standard input. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import type { Client } from "../../src/client/client.ts";
import { connectStdio } from "../../src/client/connect-stdio.ts";
import type { SubscriptionChange } from "../../src/client/subscriptions.ts";
import { classifyMessage } from "../../src/wire/jsonrpc.ts";
import { errorOf } from "../support/client-setup.ts";

const server = join(import.meta.dirname, "../servers/stdio-keeps-stdin.mjs");

let folder: string;
let client: Client;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "portcullis-stdin-"));
  client = await connectStdio(
    { command: process.execPath, args: [server], env: { KEEP: join(folder, "stdin") }, cwd: folder },
    { clientInfo: { name: "test", version: "1" } },
  );
});
afterEach(async () => {
  await client.close();
  rmSync(folder, { recursive: true });
});

it("nothing but whole MCP messages is written, whatever the client does [BASE-01] [STDIO-02]", async () => {
  await client.list("tools");
  await Promise.all(
    Array.from({ length: 20 }, (_, index) => client.callTool("a", { text: `${index}\n\r\u2028` })),
  );
  const controller = new AbortController();
  const failed = errorOf(client.callTool("wait", {}, { signal: controller.signal }));
  await client.heartbeat();
  controller.abort();
  await failed;
  const subscription = await client.listen({ toolsListChanged: true }, () => undefined);
  subscription.close();
  await client.close();

  const kept = readFileSync(join(folder, "stdin"), "utf8");
  expect(kept.endsWith("\n")).toBe(true);
  const messages = kept
    .slice(0, -1)
    .split("\n")
    .map((line) => JSON.parse(line) as JsonObject);
  expect(
    messages.map((message) => classifyMessage(message).kind).filter((kind) => kind !== "request"),
  ).toEqual(["notification", "notification"]);
  expect(messages.filter((message) => message["method"] === "tools/call")).toHaveLength(21);
});

it("notifications of subscriptions are told apart by the id of their stream [STDIO-06]", async () => {
  const changes: SubscriptionChange[] = [];
  await client.listen({ toolsListChanged: true, promptsListChanged: true }, (change) => changes.push(change));
  // Answered after everything that the server said to the listener.
  await client.heartbeat();
  expect(changes).toEqual([{ kind: "list_changed", list: "tools", isGap: false }]);
  expect(client.oddities()).toEqual({ "subscription.foreign-id": 1 });
});

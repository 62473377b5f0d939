/** The official SDK's clients read resources and get prompts of `server-everything` and of a server of ours through the gateway. */
import { fileURLToPath } from "node:url";
import { ResourceUpdatedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, it } from "vitest";
import { fixtureEntry, openBench } from "../support/gateway-kit.ts";
import { openSdk1, openSdk2, overHttp, overStdio, type Target } from "../support/sdk-clients.ts";
import { createWorkbench } from "../support/workbench.ts";

const everything = {
  command: process.execPath,
  args: [
    fileURLToPath(
      new URL("../../node_modules/@modelcontextprotocol/server-everything/dist/index.js", import.meta.url),
    ),
  ],
  source: "official",
};

/** What both generations of the client have alike. */
interface Face {
  listResources(): Promise<{ readonly resources: readonly { readonly uri: string }[] }>;
  listResourceTemplates(): Promise<{
    readonly resourceTemplates: readonly { readonly uriTemplate: string }[];
  }>;
  readResource(params: { uri: string }): Promise<{ readonly contents: readonly object[] }>;
  listPrompts(): Promise<{ readonly prompts: readonly { readonly name: string }[] }>;
  getPrompt(params: { name: string; arguments?: Record<string, string> }): Promise<{
    readonly messages: readonly { readonly content: unknown }[];
  }>;
  complete(params: {
    ref: { type: "ref/prompt"; name: string };
    argument: { name: string; value: string };
  }): Promise<{ readonly completion: { readonly values: readonly string[] } }>;
  close(): Promise<void>;
}

const clients: readonly (readonly [string, (target: Target) => Promise<Face>])[] = [
  ["client 2.4.0, legacy", async (target) => openSdk2("legacy", target)],
  ["client 2.4.0, modern", async (target) => openSdk2({ pin: "2026-07-28" }, target)],
  ["sdk 1.32.2", async (target) => openSdk1(target)],
];

async function useAll(client: Face): Promise<void> {
  const { resources } = await client.listResources();
  expect(resources.length).toBeGreaterThan(5);
  for (const { uri } of resources) {
    expect(uri).toMatch(/^portcullis:\/\/everything\/demo:\/\/./u);
    expect((await client.readResource({ uri })).contents.at(-1)).toMatchObject({ uri });
  }
  const { resourceTemplates } = await client.listResourceTemplates();
  const template = resourceTemplates.find(({ uriTemplate }) => uriTemplate.includes("/text/"));
  const uri = template?.uriTemplate.replace("{resourceId}", "7") ?? "";
  expect((await client.readResource({ uri })).contents).toHaveLength(1);
  const { prompts } = await client.listPrompts();
  expect(prompts.map(({ name }) => name)).toContain("everything__simple-prompt");
  const { messages } = await client.getPrompt({
    name: "everything__args-prompt",
    arguments: { city: "Bern", state: "BE" },
  });
  expect(messages[0]?.content).toMatchObject({ type: "text", text: expect.stringContaining("Bern") });
  const ref = { type: "ref/prompt", name: "everything__completable-prompt" } as const;
  const { completion } = await client.complete({ ref, argument: { name: "department", value: "E" } });
  expect(completion.values).toEqual(["Engineering"]);
}

describe.each(clients)("%s", { timeout: 60_000 }, (_name, connect) => {
  it("uses everything over HTTP", async () => {
    const bench = await openBench({ servers: { everything } });
    try {
      const client = await connect(overHttp(bench));
      await useAll(client);
      await client.close();
    } finally {
      await bench.close();
    }
  });

  it("uses everything over stdio", async () => {
    const bench = createWorkbench();
    try {
      bench.writeConfig({ mcpServers: { everything } });
      const client = await connect(overStdio(bench));
      await useAll(client);
      await client.close();
    } finally {
      bench.remove();
    }
  });
});

describe("hears that a resource changed over stdio", { timeout: 60_000 }, () => {
  const uri = "portcullis://library/note://shared";
  const touch = { name: "library__touch", arguments: { uri: "note://shared" } };

  it("sdk 1.32.2", async () => {
    const bench = createWorkbench();
    try {
      bench.writeConfig({ mcpServers: { library: fixtureEntry({ file: "library.mjs" }) } });
      const told = Promise.withResolvers<string>();
      const client = await openSdk1(overStdio(bench), {}, (opening) =>
        opening.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) =>
          told.resolve(params.uri),
        ),
      );
      await client.subscribeResource({ uri });
      await client.callTool(touch);
      expect(await told.promise).toBe(uri);
      await client.close();
    } finally {
      bench.remove();
    }
  });

  it("client 2.4.0, modern", async () => {
    const bench = createWorkbench();
    try {
      const env = { ERA: "modern" };
      bench.writeConfig({ mcpServers: { library: fixtureEntry({ file: "library.mjs", env }) } });
      const told = Promise.withResolvers<string>();
      const client = await openSdk2({ pin: "2026-07-28" }, overStdio(bench), {}, (opening) =>
        opening.setNotificationHandler("notifications/resources/updated", ({ params }) =>
          told.resolve(params.uri),
        ),
      );
      const subscription = await client.listen({ resourceSubscriptions: [uri] });
      await client.callTool(touch);
      expect(await told.promise).toBe(uri);
      await subscription.close();
      await client.close();
    } finally {
      bench.remove();
    }
  });
});

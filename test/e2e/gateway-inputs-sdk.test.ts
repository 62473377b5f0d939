/** The official SDK's clients answer what servers behind the gateway ask: forms, addresses, models, folders; over HTTP and stdio. */
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, it } from "vitest";
import { fixtureEntry, openBench } from "../support/gateway-kit.ts";
import { openSdk1, openSdk2, overHttp, overStdio, type Target } from "../support/sdk-clients.ts";
import { createWorkbench } from "../support/workbench.ts";

interface Face {
  callTool(params: { name: string }): Promise<object>;
  close(): Promise<void>;
}

const capabilities = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };

/** What was asked, by method; the answers are the same for all clients. */
class Person {
  readonly asked: { readonly method: string; readonly params: unknown }[] = [];
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
  }

  elicit = (params: { readonly mode?: string | undefined }) => {
    this.asked.push({ method: "elicitation/create", params });
    return params.mode === "url"
      ? { action: "accept" as const }
      : { action: "accept" as const, content: { colour: "blue" } };
  };

  sample = (params: unknown) => {
    this.asked.push({ method: "sampling/createMessage", params });
    return {
      role: "assistant" as const,
      content: { type: "text" as const, text: "what a model says" },
      model: "m1",
    };
  };

  roots = () => {
    this.asked.push({ method: "roots/list", params: {} });
    return { roots: [{ uri: `file://${this.#root}`, name: "here" }] };
  };
}

type Connect = (target: Target, person: Person) => Promise<Face>;

const sdk2 =
  (mode: "legacy" | { pin: string }): Connect =>
  async (target, person) =>
    openSdk2(mode, target, { capabilities }, (client) => {
      client.setRequestHandler("elicitation/create", ({ params }) => person.elicit(params));
      client.setRequestHandler("sampling/createMessage", ({ params }) => person.sample(params));
      client.setRequestHandler("roots/list", () => person.roots());
    });

const sdk1: Connect = async (target, person) =>
  openSdk1(target, { capabilities }, (client) => {
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => person.elicit(params));
    client.setRequestHandler(CreateMessageRequestSchema, ({ params }) => person.sample(params));
    client.setRequestHandler(ListRootsRequestSchema, () => person.roots());
  });

const clients: readonly (readonly [string, Connect])[] = [
  ["client 2.4.0, legacy", sdk2("legacy")],
  ["client 2.4.0, modern", sdk2({ pin: "2026-07-28" })],
  ["sdk 1.32.2", sdk1],
];

const inputs = ["elicitation", "sampling", "roots"];
const SERVERS = {
  new: { file: "asks.mjs", env: { ERA: "modern" }, entry: { inputs } },
  old: { file: "asks.mjs", env: { ERA: "legacy" }, entry: { inputs } },
};

async function answerAll(client: Face, person: Person): Promise<void> {
  for (const server of ["new", "old"]) {
    const call = async (name: string): Promise<string> =>
      JSON.stringify(await client.callTool({ name: `${server}__${name}` }));
    expect(await call("form")).toContain(String.raw`\"colour\":\"blue\",\"size\":3`);
    expect(await call("url")).toContain(String.raw`\"action\":\"accept\"`);
    expect(await call("sample")).toContain("what a model says");
    expect(await call("roots")).toContain(String.raw`\"name\":\"here\"`);
    expect(await call("hold")).toContain("held");
  }
  const methods = ["elicitation/create", "elicitation/create", "sampling/createMessage", "roots/list"];
  expect(person.asked.map(({ method }) => method)).toEqual([...methods, ...methods]);
}

describe.each(clients)("%s", { timeout: 60_000 }, (_name, connect) => {
  it("over HTTP", async () => {
    const bench = await openBench({ servers: SERVERS });
    try {
      const person = new Person(bench.dir);
      const client = await connect(overHttp(bench), person);
      await answerAll(client, person);
      await client.close();
    } finally {
      await bench.close();
    }
  });

  it("over stdio", async () => {
    const bench = createWorkbench();
    try {
      const entries = Object.entries(SERVERS).map(([name, server]) => [name, fixtureEntry(server)]);
      bench.writeConfig({ mcpServers: Object.fromEntries(entries) });
      const person = new Person(bench.dir);
      const client = await connect(overStdio(bench), person);
      await answerAll(client, person);
      await client.close();
    } finally {
      bench.remove();
    }
  });
});

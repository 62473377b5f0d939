/** A turn's tools in each provider's form and as objects of frameworks: what a model calls goes through the spine and comes back. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { toAiSdkTools, toLangChainTools } from "../../src/adapters/index.ts";
import type { JsonObject } from "../../src/base/json.ts";
import type { Host } from "../../src/host/api.ts";
import { openHost } from "../../src/host/host.ts";
import { definitionsServer } from "../support/definitions.ts";
import { anthropicProblems, geminiProblems, openAiProblems } from "../support/provider-rules.ts";
import { tool } from "../support/tools.ts";
import { createWorkbench, type Workbench } from "../support/workbench.ts";

let bench: Workbench;
let host: Host;

const odd = tool("odd", {
  inputSchema: {
    type: "object",
    properties: { "max tokens!": { type: "integer" }, kind: { const: "fixed" } },
    required: ["max tokens!"],
    additionalProperties: false,
  },
});

beforeEach(async () => {
  bench = createWorkbench();
  const ledger = bench.ledgerEntry({ source: "own", tools: { read: "L0", "*": "L2" } });
  const shop = definitionsServer(bench.dir, { tools: [odd] }).entry({ tools: { odd: "L0" } });
  host = await openHost({ config: { mcpServers: { ledger, "7shop": shop } }, stateDir: bench.stateDir });
});
afterEach(async () => {
  await host.close();
  bench.remove();
});

describe("an offer", { timeout: 60_000 }, () => {
  it("is what each provider takes, and calls come back with the server's own names", async () => {
    const turn = host.turn();
    const anthropic = await turn.offer("anthropic");
    expect(anthropic.kind).toBe("whole");
    expect(anthropic.tools.flatMap(anthropicProblems)).toEqual([]);
    const responses = await turn.offer("openai-responses", { strict: true });
    expect(responses.tools.flatMap(openAiProblems)).toEqual([]);
    expect(responses.tools.some((one) => one.strict)).toBe(true);
    const chat = await turn.offer("openai-chat");
    expect(chat.tools.flatMap(({ function: inner }) => openAiProblems(inner))).toEqual([]);
    const gemini = await turn.offer("gemini");
    expect(gemini.tools.flatMap(geminiProblems)).toEqual([]);
    expect((await turn.offer("mcp")).tools).toEqual(await turn.tools());

    for (const offer of [anthropic, gemini]) {
      const names = offer.tools.map(({ name }) => name);
      const name = names.find((one) => one.includes("__odd")) ?? "";
      const given = offer.tools.find((one) => one.name === name);
      const schema = (given as { input_schema?: JsonObject; parametersJsonSchema?: JsonObject }) ?? {};
      const properties = (schema.input_schema ?? schema.parametersJsonSchema)?.["properties"] as JsonObject;
      const renamed = Object.keys(properties).find((one) => one.startsWith("max_tokens"));
      if (renamed === undefined) throw new Error("the property is not offered");
      for (const input of [{ [renamed]: 5 }, JSON.stringify({ [renamed]: 5 })])
        expect(await offer.call(name, input)).toMatchObject({
          outcome: "completed",
          server: "7shop",
          tool: "odd",
        });
      expect(await offer.call(name, { [renamed]: "five" })).toMatchObject({ outcome: "invalid_arguments" });
      expect(await offer.call(name, "{not json")).toMatchObject({ outcome: "invalid_arguments" });
      expect(await offer.call(name, 7)).toMatchObject({ outcome: "invalid_arguments" });
    }
    expect(await anthropic.call("ledger__nothing", {})).toMatchObject({
      outcome: "refused",
      code: "unknown_tool",
    });
    await turn.close();
  });

  it("the tools that find others, where the operator or the caller wants it, work through the same door", async () => {
    const turn = host.turn();
    const offer = await turn.offer("openai-chat", { mode: "search" });
    expect(offer.kind).toBe("search");
    expect(offer.tools.map((one) => one.function.name)).toEqual([
      "portcullis__find_tools",
      "portcullis__describe_tool",
      "portcullis__call_tool",
      "portcullis__read_more",
    ]);
    const found = await offer.call("portcullis__find_tools", '{"query":"reads"}');
    expect(JSON.stringify(found.structured)).toContain("ledger__read");
    const described = await offer.call("portcullis__describe_tool", { name: "ledger__read" });
    expect(described.structured).toMatchObject({ name: "ledger__read" });
    const read = await offer.call("portcullis__call_tool", {
      name: "ledger__read",
      arguments: { text: "a" },
    });
    expect(read).toMatchObject({ outcome: "completed", tool: "read" });
    const write = { name: "ledger__write", arguments: { text: "a" } };
    expect(await offer.call("portcullis__call_tool", write, { wait: false })).toMatchObject({
      code: "approval_needed",
    });
    expect(bench.sent("write")).toBe(0);
    await turn.close();
  });
});

describe("frameworks get their own objects", { timeout: 60_000 }, () => {
  it("AI SDK: a tool set by exposed name, whose execution is a governed call", async () => {
    const turn = host.turn();
    const tools = await toAiSdkTools(turn, {
      jsonSchema: (schema: unknown) => ({ wrapped: schema }),
      dynamicTool: (made: {
        description: string;
        inputSchema: unknown;
        execute(input: unknown, options: { abortSignal?: AbortSignal }): Promise<string>;
      }) => made,
    });
    expect(Object.keys(tools)).toContain("ledger__read");
    expect(tools["ledger__read"]?.inputSchema).toMatchObject({ wrapped: { type: "object" } });
    expect(await tools["ledger__read"]?.execute({ text: "a" }, {})).toContain("read a");
    const aborted = { abortSignal: AbortSignal.abort() };
    expect(await tools["ledger__read"]?.execute({ text: "a" }, aborted)).toContain("cancelled");
    await turn.close();
  });

  it("LangChain: structured tools with JSON Schema", async () => {
    class Made {
      readonly name: string;
      readonly func: (
        input: unknown,
        manager?: unknown,
        config?: { signal?: AbortSignal },
      ) => Promise<string>;
      constructor(fields: Pick<Made, "name" | "func">) {
        this.name = fields.name;
        this.func = fields.func;
      }
    }
    const turn = host.turn();
    const tools = await toLangChainTools(turn, { DynamicStructuredTool: Made });
    const read = tools.find((one) => one.name === "ledger__read");
    expect(await read?.func({ text: "b" })).toContain("read b");
    expect(await read?.func({ text: "b" }, undefined, { signal: AbortSignal.abort() })).toContain(
      "cancelled",
    );
    await turn.close();
  });
});

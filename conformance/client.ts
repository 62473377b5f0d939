/**
 * The client under test of the official conformance suite: one program for all client scenarios, on our own client.
 *
 * The suite appends the server's URL as the last argument and names the scenario in the environment. Exit code 0: the scenario
 * was played to its end. See https://github.com/modelcontextprotocol/conformance.
 */
import { isJsonObject, ownProperty, type JsonObject } from "../src/base/json.ts";
import { systemRandom } from "../src/base/random.ts";
import { systemClock } from "../src/base/clock.ts";
import { createClient, type Client } from "../src/client/client.ts";
import type { InputHandler } from "../src/client/inputs.ts";
import { createHttpPort } from "../src/egress/dial.ts";
import { createHttpTransport } from "../src/transport/http.ts";
import { VERSION } from "../src/version.ts";
import { createSuiteAuth } from "./auth.ts";

type Play = (client: Client, context: JsonObject) => Promise<void>;

/** Accepts with what the schema itself proposes. */
const acceptDefaults: InputHandler = {
  async elicitForm(params) {
    const schema = params.requestedSchema["properties"] ?? {};
    const content: Record<string, string | number | boolean | string[]> = {};
    for (const [name, property] of Object.entries(schema as JsonObject)) {
      const proposed = isJsonObject(property) ? ownProperty(property, "default") : undefined;
      if (proposed !== undefined) content[name] = proposed as string | number | boolean | string[];
    }
    return { action: "accept", content };
  },
};

const acceptConfirmed: InputHandler = {
  elicitForm: async () => ({ action: "accept", content: { confirmed: true } }),
};

const listTools: Play = async (client) => {
  await client.list("tools");
};

function call(name: string, args: JsonObject = {}): Play {
  return async (client) => {
    await client.list("tools");
    await client.callTool(name, args);
  };
}

/** Calls every tool that the list kept, with a value for each required argument. */
const callEveryTool: Play = async (client) => {
  const { items } = await client.list("tools");
  for (const tool of items) await client.callTool(tool.name, sampleArguments(tool.inputSchema as JsonObject));
};

function sampleArguments(schema: JsonObject): JsonObject {
  const properties = ownProperty(schema, "properties");
  if (!isJsonObject(properties)) return {};
  const args: JsonObject = {};
  for (const [name, property] of Object.entries(properties)) {
    const type = isJsonObject(property) ? ownProperty(property, "type") : undefined;
    args[name] = type === "integer" || type === "number" ? 1 : type === "boolean" ? true : "value";
  }
  return args;
}

const useEverything: Play = async (client) => {
  await callEveryTool(client, {});
  for (const prompt of (await client.list("prompts")).items) await client.getPrompt(prompt.name, {});
  for (const resource of (await client.list("resources")).items) await client.readResource(resource.uri);
  await client.list("resourceTemplates");
};

const plays: Readonly<Record<string, Play>> = {
  initialize: listTools,
  tools_call: call("add_numbers", { a: 5, b: 3 }),
  "request-metadata": listTools,
  "elicitation-sep1034-client-defaults": call("test_client_elicitation_defaults"),
  "sse-retry": call("test_reconnection"),
  "json-schema-ref-no-deref": listTools,
  "http-standard-headers": useEverything,
  "http-invalid-tool-headers": callEveryTool,
  async "http-custom-headers"(client, context) {
    await client.list("tools");
    const calls = context["toolCalls"] as unknown as readonly { name: string; arguments: JsonObject }[];
    for (const { name, arguments: args } of calls) await client.callTool(name, args);
  },
  async "sep-2322-client-request-state"(client) {
    await client.list("tools");
    // Side by side, so that the state of one must not show up in another.
    const names = [
      "test_mrtr_echo_state",
      "test_mrtr_unrelated",
      "test_mrtr_no_state",
      "test_mrtr_no_result_type",
    ];
    await Promise.all(names.map((name) => client.callTool(name, {})));
  },
  async "json-schema-2020-12-preservation"(client) {
    const { items } = await client.list("tools");
    for (const tool of items) {
      if (tool.name !== "json_schema_echo")
        await client.callTool("json_schema_echo", { schema: tool.inputSchema as JsonObject });
    }
  },
};

const callTestTool: Play = call("test-tool");

async function main(): Promise<void> {
  const scenario = process.env["MCP_CONFORMANCE_SCENARIO"] ?? "";
  const revision = process.env["MCP_CONFORMANCE_PROTOCOL_VERSION"] ?? "2025-11-25";
  const context = JSON.parse(process.env["MCP_CONFORMANCE_CONTEXT"] ?? "{}") as JsonObject;
  const isAuth = scenario.startsWith("auth/");
  const play = isAuth ? callTestTool : plays[scenario];
  if (play === undefined) throw new Error(`no such scenario: ${scenario}`);

  const url = new URL(process.argv.at(-1) ?? "");
  const clock = systemClock;
  const auth = isAuth ? await createSuiteAuth(scenario, url, context) : undefined;
  const port = createHttpPort({
    clock,
    rules: { origins: [url.origin], allow: [], allowPrivateAddresses: true },
  });
  const client = createClient({
    transport: createHttpTransport({
      url,
      headers: async () => ({}),
      port: auth?.port(port) ?? port,
      clock,
      random: systemRandom,
    }),
    clock,
    random: systemRandom,
    clientInfo: { name: "portcullis-conformance", version: VERSION },
    inputs: scenario.startsWith("sep-2322") ? acceptConfirmed : acceptDefaults,
    eraHint: revision === "2026-07-28" ? "modern" : "legacy",
    ...(auth === undefined ? {} : { onUnauthorized: auth.onUnauthorized }),
  });
  try {
    await client.connect();
    await play(client, context);
  } finally {
    await client.close();
    await auth?.close();
  }
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});

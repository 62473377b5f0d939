import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/base/json.ts";
import { createManualClock } from "../../../src/base/manual-clock.ts";
import { createSeededRandom } from "../../../src/base/random.ts";
import { createClient } from "../../../src/client/client.ts";
import type { ClientEvent } from "../../../src/client/events.ts";
import type { ClientOptions } from "../../../src/client/options.ts";
import type { TransportKind } from "../../../src/transport/transport.ts";
import { createScriptedTransport, type Respond } from "../../support/scripted-transport.ts";

const DISCOVERED: JsonObject = {
  resultType: "complete",
  supportedVersions: ["2026-07-28"],
  capabilities: { tools: {}, resources: {}, prompts: {} },
  ttlMs: 0,
  cacheScope: "private",
};

function setUp(respond: Respond, more: Partial<ClientOptions> = {}, kind: TransportKind = "memory") {
  const clock = createManualClock();
  const transport = createScriptedTransport((request, far) => {
    if (request.method === "server/discover") far.answer(request.id, DISCOVERED);
    else respond(request, far);
  }, kind);
  const events: ClientEvent[] = [];
  const client = createClient({
    transport,
    clock,
    random: createSeededRandom(1),
    clientInfo: { name: "test", version: "1" },
    onEvent: (event) => events.push(event),
    ...more,
  });
  return { clock, transport, client, events };
}

describe("client", () => {
  it("connects, lists and calls on a modern server", async () => {
    const { client, transport } = setUp((request, far) => {
      if (request.method === "tools/list")
        far.answer(request.id, {
          resultType: "complete",
          tools: [{ name: "echo", inputSchema: { type: "object" } }],
        });
      else far.answer(request.id, { resultType: "complete", content: [{ type: "text", text: "hi" }] });
    });
    const facts = await client.connect();
    expect(facts).toMatchObject({ era: "modern", revision: "2026-07-28", verdictIsCertain: true });
    expect((await client.list("tools")).items).toHaveLength(1);
    expect((await client.callTool("echo", { a: 1 })).content).toEqual([{ type: "text", text: "hi" }]);
    const call = transport.sentOf("tools/call")[0]?.message as JsonObject;
    expect(call).toMatchObject({
      id: 3,
      params: {
        name: "echo",
        arguments: { a: 1 },
        _meta: {
          "io.modelcontextprotocol/protocolVersion": "2026-07-28",
          "io.modelcontextprotocol/clientCapabilities": {},
          "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
          progressToken: 3,
        },
      },
    });
    expect(await client.close()).toEqual({ how: "clean" });
  });
});

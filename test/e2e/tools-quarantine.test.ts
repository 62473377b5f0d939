/** What is wrong with a list of tools, as an operator sees it: by name, with the reason, and without harm to the rest. */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Host } from "../../src/host/api.ts";
import type { ToolView } from "../../src/host/views.ts";
import { openHost } from "../../src/host/host.ts";
import { brokenTools } from "../support/broken-tools.ts";
import { definitionsServer } from "../support/definitions.ts";
import { tool } from "../support/tools.ts";
import { createWorkbench, type Workbench } from "../support/workbench.ts";

let bench: Workbench;
const hosts: Host[] = [];

beforeEach(() => {
  bench = createWorkbench();
});
afterEach(async () => {
  for (const host of hosts.splice(0)) await host.close();
  bench.remove();
});

async function open(config: Parameters<typeof openHost>[0]["config"]): Promise<Host> {
  const host = await openHost({ config, stateDir: bench.stateDir });
  hosts.push(host);
  return host;
}

const held = (tools: readonly ToolView[]): string[] =>
  tools.flatMap((one) => (one.quarantine === null ? [] : [`${one.tool}: ${one.quarantine.code}`]));

describe("a list with bad items", { timeout: 60_000 }, () => {
  it("names each with its reason in `tools --json`, now and after a restart, and uses the rest", async () => {
    const server = definitionsServer(bench.dir, {
      tools: [
        null,
        "text",
        { inputSchema: { type: "object" } },
        { name: "no_schema" },
        { name: "list_schema", inputSchema: [] },
        tool("twice"),
        tool("twice", { description: "again" }),
        tool("giant", { description: "x".repeat(600_000) }),
        tool("number_as_title", { title: 3 }),
        tool("good"),
      ],
    });
    bench.writeConfig({ mcpServers: { shop: server.entry({ tools: { "*": "L0" } }) } });
    const expected = [
      "#1: not_an_object",
      "#2: not_an_object",
      "#3: bad_name",
      "giant: limit",
      "list_schema: bad_schema",
      "no_schema: bad_schema",
      "number_as_title: bad_definition",
      "twice (#7): duplicate_name",
    ];
    for (const _run of ["listed", "restored"]) {
      const { json } = await bench.run(["tools", "--json"]);
      const tools = json["tools"] as unknown as ToolView[];
      expect(held(tools).sort()).toEqual(expected);
      expect(tools.filter((one) => one.quarantine === null).map((one) => one.tool)).toEqual([
        "good",
        "twice",
      ]);
      expect(new Set(tools.map((one) => one.name)).size).toBe(tools.length);
      expect(tools.every((one) => one.quarantine === null || one.quarantine.reason !== "")).toBe(true);
    }
    expect((await bench.run(["call", "shop", "good", "{}", "--json"])).json).toMatchObject({
      outcome: "completed",
    });
    const refused = await bench.run(["call", "shop", "no_schema", "{}", "--json"]);
    expect(refused.json).toMatchObject({ outcome: "refused", code: "tool_quarantined" });
    expect(refused.exitCode).toBe(3);
  });

  it("2,000 tools, 300 of them broken in 60 ways, are judged in slices that hold up nobody", async () => {
    const broken = [0, 1, 2, 3, 4].flatMap((round) => brokenTools(round)).slice(0, 300);
    const good = Array.from({ length: 2_000 - broken.length }, (_, at) =>
      tool(`good_${at}`, {
        description: `Does thing ${at}. `.repeat(10),
        inputSchema: {
          type: "object",
          properties: Object.fromEntries(
            Array.from({ length: 6 }, (_unused, property) => [
              `p${property}`,
              { type: "string", description: "A text." },
            ]),
          ),
        },
      }),
    );
    const definitions = [...broken.map(({ definition }) => definition), ...good];
    const server = definitionsServer(bench.dir, { tools: definitions });
    const host = await open({ mcpServers: { shop: server.entry() } });
    const delay = monitorEventLoopDelay({ resolution: 5 });
    delay.enable();
    const start = performance.now();
    const tools = await host.tools();
    const tookMs = performance.now() - start;
    delay.disable();
    // Header annotations mean nothing over stdio.
    const bad = broken.filter(({ code }) => code !== "bad_header_annotation");
    expect(tools.filter((one) => one.quarantine === null)).toHaveLength(2_000 - bad.length);
    expect(tools.filter((one) => one.quarantine !== null)).toHaveLength(bad.length);
    expect(tools.filter((one) => one.quarantine?.reason === "")).toEqual([]);
    // As a ratio, because the machine may be busy: alone it is about 60 ms of 1,000, most of it for parsing the line.
    expect(delay.max / 1e6).toBeLessThan(tookMs / 3);
  });
});

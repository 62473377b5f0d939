/** The outside field servers of schemas through a whole host: what is good works as given, what is bad harms nothing else. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { openHost } from "../../src/host/host.ts";
import type { Outcome } from "../../src/host/outcome.ts";
import { describeField, fieldServer } from "../support/field.ts";
import { openFieldHost, type FieldHost } from "../support/field-host.ts";
import { startScriptServer } from "../support/local-http.ts";
import { canMeasureStalls, longestTurnMs, MAX_STALL_MS } from "../support/stall.ts";

type Table = Readonly<
  Record<string, { readonly expect: "ok" | "bad" | "reject"; readonly sample: JsonObject }>
>;

const eras = ["modern", "legacy"] as const;
let field: FieldHost;

const call = async (tool: string, args: JsonObject = {}): Promise<Outcome> =>
  field.host.call({ server: "field", tool }, args, { wait: false });
const readOnly = { default: "L0", tools: { "*": "L0" } } as const;

async function readTable(): Promise<Table> {
  const { content } = await call("healthy_1", { q: "x", table: true });
  const [block] = content;
  const table = JSON.parse(block?.type === "text" ? block.text : "{}") as Table;
  expect(Object.keys(table).length).toBeGreaterThan(50);
  return table;
}

describeField("fc52-bad-schemas", () => {
  afterEach(() => field.close());

  describe.each(eras)("%s", { timeout: 60_000 }, (era) => {
    it("MODE=all: good ones take their sample, bad ones are held or loosened aloud, and nothing else is", async () => {
      field = await openFieldHost("fc52-bad-schemas", { entry: readOnly, env: { ERA: era } });
      const tools = await field.host.tools();
      const table = await readTable();
      const wrong: string[] = [];
      const found = new Set(
        field.events.flatMap((event) =>
          event.type === "finding.raised" && event.tool !== null ? [event.tool] : [],
        ),
      );
      for (const [name, { expect: verdict, sample }] of Object.entries(table)) {
        const view = tools.find((one) => one.tool === name);
        if (view === undefined) wrong.push(`${name}: not listed`);
        else if (verdict === "ok" && (await call(name, sample)).outcome !== "completed")
          wrong.push(`${name}: ${view.quarantine?.reason ?? "refused"}`);
        else if (verdict === "bad" && view.quarantine === null && !found.has(name))
          wrong.push(`${name}: neither held nor loosened aloud`);
      }
      expect(wrong).toEqual([]);
      const nameless = tools.filter((one) => one.tool.startsWith("#")).map((one) => one.quarantine?.code);
      expect(nameless).toEqual(["not_an_object", "not_an_object", "bad_name", "bad_name", "bad_name"]);
      for (const provider of [
        "anthropic",
        "openai-chat",
        "openai-responses",
        "gemini",
        "ai-sdk",
        "mcp",
      ] as const)
        await field.host.turn().offer(provider);
    });

    it("MODE=one: the odd tool alone is held, the healthy one works", async () => {
      const env = { MODE: "one", TOOL: "alias_ring", ERA: era };
      field = await openFieldHost("fc52-bad-schemas", { entry: readOnly, env });
      const views = (await field.host.tools()).map((one) => [one.tool, one.quarantine?.code ?? null]);
      expect(views).toEqual([
        ["healthy_1", null],
        ["alias_ring", "bad_schema"],
      ]);
      expect((await call("healthy_1", { q: "x" })).outcome).toBe("completed");
    });

    it("MODE=big: giants are held by name, the healthy work, a schema 400 levels deep costs nobody the list", async () => {
      field = await openFieldHost("fc52-bad-schemas", { entry: readOnly, env: { MODE: "big", ERA: era } });
      const views = Object.fromEntries(
        (await field.host.tools()).map((one) => [one.tool, one.quarantine?.code ?? null]),
      );
      expect(views).toMatchObject({
        healthy_1: null,
        deep_60: null,
        doubling: null,
        many_props: "bad_schema",
        big_enum: "limit",
        huge_text: "limit",
      });
      expect(["bad_schema", "limit"]).toContain(views["deep_400"]);
      const table = await readTable();
      for (const name of ["healthy_1", "deep_60", "doubling"])
        expect((await call(name, table[name]?.sample ?? {})).outcome).toBe("completed");
    });
  });
});

describeField("fc56-redos", () => {
  afterEach(() => field.close());

  it.each(eras)(
    "%s: arguments and results meet evil patterns without holding the event loop [TOOL-30]",
    async (era) => {
      field = await openFieldHost("fc56-redos", { entry: readOnly, env: { ERA: era } });
      const evil = (await call("evil_values")).structured as Readonly<Record<string, JsonObject>>;
      const ends: Record<string, string> = {};
      const callAll = async () => {
        for (const [name, args] of Object.entries(evil)) ends[name] = (await call(name, args)).outcome;
        return call("slow_output");
      };
      const slow = await callAll();
      expect(ends).toEqual({
        nested_plus: "invalid_arguments",
        alternation: "invalid_arguments",
        email_like: "invalid_arguments",
        dot_star: "invalid_arguments",
        polynomial: "invalid_arguments",
        huge_repeat: "completed",
        pattern_key: "completed",
        property_names: "invalid_arguments",
        unique_items: "completed",
      });
      expect(slow).toMatchObject({ outcome: "completed", findings: [{ rule: "output.mismatch" }] });
      // A backtracking engine would take longer than the universe.
      if (canMeasureStalls) expect(await longestTurnMs(callAll)).toBeLessThan(MAX_STALL_MS);
    },
  );
});

describeField("fc57-remote-ref", () => {
  it.each(eras)(
    "%s: nothing is ever fetched, what points outside is held, the rest works [TOOL-26] [TOOL-27] [TOOL-28] [TOOL-29] [TOOL-31] [TOOL-37]",
    async (era) => {
      const server = await startScriptServer(fieldServer("fc57-remote-ref"), { ERA: era });
      const dir = mkdtempSync(join(tmpdir(), "portcullis-fc57-"));
      const host = await openHost({
        config: {
          mcpServers: {
            field: { url: server.url.href, allowPrivateAddresses: true, source: "own", tools: { "*": "L0" } },
          },
        },
        stateDir: dir,
      });
      try {
        const tools = await host.tools();
        const usable = tools.filter((one) => one.quarantine === null).map((one) => one.tool);
        expect(usable.sort()).toEqual([
          "echo",
          "icons",
          "inner_id",
          "output_ref",
          "schema_is_canary",
          "vocabulary",
        ]);
        for (const one of tools) {
          if (one.quarantine !== null) expect(one.quarantine.reason).toContain("nothing is fetched");
          else expect((await host.call({ server: "field", tool: one.tool }, {})).outcome).toBe("completed");
        }
        const turn = host.turn();
        const offered = JSON.stringify((await turn.offer("mcp")).tools);
        expect(offered).not.toContain("javascript:");
        expect(offered).not.toContain("icon.png");
        await turn.close();
        const { counters } = await server.report();
        expect(Object.keys(counters).filter((counter) => counter.includes("canary"))).toEqual([]);
      } finally {
        await host.close();
        await server.close();
        rmSync(dir, { recursive: true, force: true });
      }
    },
  );
});

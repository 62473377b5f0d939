/** The outside field servers of schemas, definitions and texts, at the level of the registry: their raw lists, without a client. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { afterEach, expect, it } from "vitest";
import { isJsonObject } from "../../../src/base/json.ts";
import { readClaim } from "../../../src/policy/annotations.ts";
import { checkArguments } from "../../../src/registry/arguments.ts";
import { buildCatalog, type CatalogOptions } from "../../../src/registry/catalog.ts";
import type { Catalog } from "../../../src/registry/entry.ts";
import { diffDefinitions, printChanges } from "../../../src/registry/diff.ts";
import { evaluatePin, pinOfText, recordFirstSight } from "../../../src/registry/pins.ts";
import {
  offered,
  toAnthropicTools,
  toGeminiTools,
  toMcpTool,
  toOpenAiResponsesTools,
} from "../../../src/registry/providers.ts";
import { createSchemas } from "../../../src/registry/schemas.ts";
import { exposeName } from "../../../src/registry/naming.ts";
import { describeField, fieldServer } from "../../support/field.ts";
import { openRawStdio, type RawStdio } from "../../support/raw-stdio.ts";
import { catalogOf } from "../../support/tools.ts";
import { canMeasureStalls, longestStepMs, MAX_STALL_MS } from "../../support/stall.ts";

const opened: RawStdio[] = [];

afterEach(async () => {
  await Promise.all(opened.splice(0).map((server) => server.close()));
});

function open(name: string, env: Readonly<Record<string, string>> = {}): RawStdio {
  const server = openRawStdio(fieldServer(name), env);
  opened.push(server);
  return server;
}

async function list(server: RawStdio, options: CatalogOptions = {}): Promise<Catalog> {
  const { tools } = await server.request("tools/list");
  return catalogOf("field", Array.isArray(tools) ? tools : [], options);
}

async function callJson(server: RawStdio, name: string, input: object = {}): Promise<unknown> {
  const result = await server.request("tools/call", { name, arguments: input });
  const [block] = result["content"] as readonly { readonly text: string }[];
  return JSON.parse(block?.text ?? "null");
}

type Table = Readonly<Record<string, { readonly expect: "ok" | "bad" | "reject"; readonly sample: unknown }>>;

function isCallable(catalog: Catalog, name: string, input: unknown): boolean {
  const entry = catalog.tools.find((candidate) => candidate.name === name);
  const compiled = entry === undefined ? undefined : createSchemas().input(entry);
  return (
    entry !== undefined &&
    compiled?.ok === true &&
    checkArguments({ inputSchema: entry.inputSchema, compiled }, input).ok
  );
}

function exportEverywhere(catalog: Catalog): void {
  for (const entry of catalog.tools) {
    const tool = {
      entry,
      exposedName: exposeName("field", entry.name),
      key: catalog.key,
      pinState: "new",
      isBaseline: true,
    } as const;
    toAnthropicTools([offered(tool)]);
    toOpenAiResponsesTools([offered(tool)], { strict: true });
    toGeminiTools([offered(tool)]);
    toMcpTool(tool);
  }
}

describeField("fc52-bad-schemas", () => {
  it("MODE=all: what is good can be called as given, what is bad is held or loosened aloud, what is no tool is left out", async () => {
    const server = open("fc52-bad-schemas");
    const start = performance.now();
    const catalog = await list(server);
    expect(performance.now() - start).toBeLessThan(2_000);
    const table = (await callJson(server, "healthy_1", { table: true })) as Table;
    const wrong: string[] = [];
    for (const [name, { expect: verdict, sample }] of Object.entries(table)) {
      const held = catalog.quarantined.find((item) => item.name === name);
      const entry = catalog.tools.find((candidate) => candidate.name === name);
      if (verdict === "ok" && !isCallable(catalog, name, sample))
        wrong.push(`${name}: not callable, ${held?.quarantine.reason ?? ""}`);
      if (verdict === "bad" && held === undefined && entry?.findings.length === 0)
        wrong.push(`${name}: neither held nor loosened aloud`);
    }
    expect(wrong).toEqual([]);
    expect(
      catalog.quarantined.filter((item) => item.name === null).map((item) => item.quarantine.code),
    ).toEqual(["not_an_object", "not_an_object", "bad_name", "bad_name", "bad_name"]);
    exportEverywhere(catalog);
  });

  it("MODE=one: the odd tool alone", async () => {
    const catalog = await list(open("fc52-bad-schemas", { MODE: "one", TOOL: "dangling_ref" }));
    expect(catalog.tools.map((entry) => entry.name)).toEqual(["healthy_1"]);
    expect(catalog.quarantined).toMatchObject([{ name: "dangling_ref", quarantine: { code: "bad_schema" } }]);
  });

  it("MODE=big: within the default limits the healthy work; with larger ones everything does that can", async () => {
    const server = open("fc52-bad-schemas", { MODE: "big" });
    const catalog = await list(server);
    expect(catalog.tools.map((entry) => entry.name)).toEqual(["healthy_1", "deep_60", "doubling"]);
    expect(catalog.quarantined.map((item) => [item.name, item.quarantine.code])).toEqual([
      ["many_props", "bad_schema"],
      ["big_enum", "limit"],
      ["deep_400", "limit"],
      ["huge_text", "limit"],
    ]);
    const table = (await callJson(server, "healthy_1", { table: true })) as Table;
    const start = performance.now();
    const larger = await list(server, { schemaBounds: { bytes: 1024 * 1024 } });
    const schemas = createSchemas({ bounds: { bytes: 1024 * 1024 } });
    for (const name of ["many_props", "big_enum", "deep_60", "doubling", "huge_text"]) {
      const entry = larger.tools.find((candidate) => candidate.name === name);
      const compiled = entry === undefined ? undefined : schemas.input(entry);
      if (entry === undefined || compiled?.ok !== true) throw new Error(`${name} cannot be used`);
      expect(checkArguments({ inputSchema: entry.inputSchema, compiled }, table[name]?.sample ?? {}).ok).toBe(
        true,
      );
    }
    expect(performance.now() - start).toBeLessThan(2_000);
    exportEverywhere(larger);
  }, 30_000);
});

describeField("fc56-redos", () => {
  it("answers every evil value in time, without holding the event loop", async () => {
    const server = open("fc56-redos");
    const catalog = await list(server);
    const evil = (await callJson(server, "evil_values")) as Readonly<Record<string, unknown>>;
    const schemas = createSchemas();
    const verdicts: Record<string, string> = {};
    const steps: (() => unknown)[] = [];
    for (const entry of catalog.tools) {
      const compiled = schemas.input(entry);
      if (!compiled.ok) throw new Error(compiled.reason);
      compiled.prepare();
      const output = schemas.output(entry);
      const value = entry.name === "slow_output" ? evil["nested_plus"] : (evil[entry.name] ?? {});
      const { validate } = output?.ok === true ? output : compiled;
      const verdict = validate(value);
      steps.push(() => validate(value));
      verdicts[entry.name] = verdict.ok ? "valid" : verdict.kind;
    }
    if (canMeasureStalls) expect(longestStepMs(() => steps)).toBeLessThan(MAX_STALL_MS);
    expect(verdicts).toEqual({
      evil_values: "valid",
      nested_plus: "invalid",
      alternation: "invalid",
      email_like: "invalid",
      dot_star: "invalid",
      polynomial: "invalid",
      huge_repeat: "valid",
      pattern_key: "valid",
      property_names: "invalid",
      unique_items: "valid",
      slow_output: "invalid",
    });
    const huge = catalog.tools.find((entry) => entry.name === "huge_repeat");
    expect(huge?.findings).toMatchObject([{ rule: "schema.pattern-not-enforced" }]);
  });
});

describeField("fc57-remote-ref", () => {
  it("fetches nothing, holds what points outside, and uses the rest [TOOL-26] [TOOL-29]", async () => {
    const child = spawn(process.execPath, [fieldServer("fc57-remote-ref")], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    try {
      const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
      const { url } = JSON.parse(line) as { url: string };
      const answer = await fetch(url, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          "mcp-protocol-version": "2026-07-28",
          "mcp-method": "tools/list",
          connection: "close",
        },
        body: JSON.stringify({
          jsonrpc: "2.0",
          id: 1,
          method: "tools/list",
          params: {
            _meta: {
              "io.modelcontextprotocol/protocolVersion": "2026-07-28",
              "io.modelcontextprotocol/clientCapabilities": {},
            },
          },
        }),
      });
      const { result } = (await answer.json()) as { result: { tools: unknown[] } };
      const catalog = catalogOf("field", result.tools);
      const schemas = createSchemas();
      for (const entry of catalog.tools) {
        const compiled = schemas.input(entry);
        if (compiled.ok) compiled.validate({ x: "text" });
      }
      exportEverywhere(catalog);
      expect(catalog.tools.map((entry) => entry.name)).toEqual([
        "echo",
        "schema_is_canary",
        "vocabulary",
        "output_ref",
        "inner_id",
        "icons",
      ]);
      expect(catalog.quarantined.every((item) => item.quarantine.reason.includes("nothing is fetched"))).toBe(
        true,
      );
      expect(catalog.tools.find((entry) => entry.name === "output_ref")).toMatchObject({
        outputSchema: null,
        findings: [{ rule: "schema.output-unusable" }],
      });
      const report = (await (
        await fetch(new URL("/__report", url), { headers: { connection: "close" } })
      ).json()) as { counters: Record<string, number> };
      expect(Object.keys(report.counters).filter((counter) => counter.includes("canary"))).toEqual([]);
    } finally {
      child.kill("SIGKILL");
      await once(child, "close");
    }
  });
});

describeField("fc50-rug-pull", () => {
  /** The definition before, and the list after the server changed it. */
  async function pull(
    mode: string,
  ): Promise<{ readonly before: Catalog; readonly after: Catalog; readonly server: RawStdio }> {
    const server = open("fc50-rug-pull", { MODE: mode });
    const before = await list(server);
    await callJson(server, "add", { a: 1, b: 2 });
    await callJson(server, "add", { a: 1, b: 2 });
    // The change comes a moment after the second call; some modes do not tell.
    let after = await list(server);
    while (after.tools[0]?.pin === before.tools[0]?.pin) after = await list(server);
    return { before, after, server };
  }

  it.each([
    ["description", "description:"],
    ["silent", "description:"],
    ["back", "description:"],
    ["schema", "parameter context:"],
    ["annotations", "annotations:"],
  ])("MODE=%s: the tool is held as changed, and the diff says what changed", async (mode, shown) => {
    const { before, after } = await pull(mode);
    const record = recordFirstSight(before.tools[0]?.pin ?? "", 1, true);
    expect(evaluatePin(record, after.tools[0]?.pin ?? "").state).toBe("changed");
    const changes = diffDefinitions(before.tools[0]?.raw, after.tools[0]?.raw ?? {});
    expect(changes).toHaveLength(1);
    expect(printChanges(changes)).toContain(shown);
  });

  it("MODE=back: the old definition is the old pin again", async () => {
    const { before, after, server } = await pull("back");
    let again = after;
    while (again.tools[0]?.pin === after.tools[0]?.pin) again = await list(server);
    expect(again.tools[0]?.pin).toBe(before.tools[0]?.pin);
  });

  it("MODE=rename: a new name is a new tool", async () => {
    const { before, after } = await pull("rename");
    expect([before.tools[0]?.name, after.tools[0]?.name]).toEqual(["add", "add_v2"]);
    expect(evaluatePin(undefined, after.tools[0]?.pin ?? "")).toEqual({ state: "new", isBaseline: false });
  });

  it("MODE=lying-annotations: contradictions and wrong types are named [TOOL-05]", async () => {
    const annotationFaults = (annotations: unknown): readonly string[] => readClaim(annotations).faults;
    const catalog = await list(open("fc50-rug-pull", { MODE: "lying-annotations" }), { annotationFaults });
    expect(catalog.tools.map((entry) => [entry.name, entry.findings.length])).toEqual([
      ["delete_all", 0],
      ["both", 1],
      ["strings", 2],
      ["none", 0],
    ]);
  });
});

describeField("fc93-poison", () => {
  it("MODE=text: nothing hidden reaches a person's screen or a model, and tricks are findings", async () => {
    const server = open("fc93-poison");
    const catalog = await list(server);
    expect(catalog.quarantined).toEqual([]);
    for (const entry of catalog.tools) {
      for (const text of [entry.title, entry.description, entry.modelDescription]) {
        const isClean = !/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/.test(
          text ?? "",
        );
        expect(`${entry.name} ${isClean}`).toBe(`${entry.name} true`);
      }
      const forModel = JSON.stringify(
        toAnthropicTools([
          offered({ entry, exposedName: entry.name, key: catalog.key, pinState: "new", isBaseline: true }),
        ])[0]?.definition.description,
      );
      if (entry.name !== "flag_ok") expect(/[\u{E0000}-\u{E007F}]/u.test(forModel)).toBe(false);
    }
    const flagged = catalog.tools.filter((entry) => entry.findings.length > 0).map((entry) => entry.name);
    expect(flagged).toContain("plain_order");
    expect(flagged).toContain("tags");
    expect(flagged).not.toContain("flag_ok");
    const raw = catalog.tools.find((entry) => entry.name === "flag_ok");
    expect(raw?.description).toBe(isJsonObject(raw?.raw) ? raw.raw["description"] : undefined);
  });

  it("MODE=text: instructions are cleaned, scanned and pinned", async () => {
    const server = open("fc93-poison");
    const { instructions } = await server.request("server/discover");
    const built = buildCatalog({
      key: { server: "field", credential: "shared" },
      receivedAt: 1,
      instructions,
    });
    expect(built.instructions?.pin).toBe(pinOfText(String(instructions)));
    expect(built.instructions?.findings.length).toBeGreaterThan(0);
    expect(/[\u0000-\u0008\u000b-\u001f]/.test(built.instructions?.text ?? "\u0000")).toBe(false);
  });

  it("MODE=toxic-flow: its tools look harmless, which is why results are watched", async () => {
    const catalog = await list(open("fc93-poison", { MODE: "toxic-flow" }));
    expect(catalog.tools.flatMap((entry) => entry.findings)).toEqual([]);
    expect(catalog.tools.map((entry) => entry.name)).toEqual([
      "list_issues",
      "read_private",
      "create_pr",
      "run_sql",
    ]);
  });
});

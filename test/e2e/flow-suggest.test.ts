/** `portcullis grade SERVER --suggest`: a proposal that is only written where somebody accepts exactly what was shown. */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import type { Proposal } from "../../src/operations/suggest.ts";
import { createWorkbench, type Workbench } from "../support/workbench.ts";

const FORGE = fileURLToPath(new URL("../servers/forge.mjs", import.meta.url));

let bench: Workbench;
beforeEach(() => {
  bench = createWorkbench();
  bench.writeConfig({
    mcpServers: {
      forge: {
        command: process.execPath,
        args: [FORGE],
        source: "official",
        tools: { send_mail: "off", "search_*": "L1" },
      },
    },
  });
});
afterEach(() => bench.remove());

const config = (): string => readFileSync(bench.configFile, "utf8");

describe("grade --suggest", { timeout: 60_000 }, () => {
  it("proposes from names, schemas and claims, as a table and as configuration, and writes nothing", async () => {
    const before = config();
    const run = await bench.run(["grade", "forge", "--suggest"]);
    expect(run.exitCode).toBe(0);
    for (const part of [
      "TOOL",
      "search_code",
      "its name says `search`",
      "`close_issue` seems to take it back",
      "(set)",
    ])
      expect(run.stdout).toContain(part);
    const { json } = await bench.run(["grade", "forge", "--suggest", "--json"]);
    const { tools, config: pasted } = json as unknown as Proposal;
    expect(Object.fromEntries(tools.map(({ tool, rule }) => [tool, rule]))).toEqual({
      search_code: "L0",
      create_issue: {
        grade: "L1",
        undo: { tool: "close_issue", args: { repo: "$arguments.repo", number: "$result.number" } },
      },
      close_issue: {
        grade: "L1",
        undo: { tool: "reopen_issue", args: { repo: "$arguments.repo", number: "$arguments.number" } },
      },
      reopen_issue: {
        grade: "L1",
        undo: { tool: "close_issue", args: { repo: "$arguments.repo", number: "$arguments.number" } },
      },
      star_repo: { grade: "L1", undo: { tool: "unstar_repo", args: { repo: "$arguments.repo" } } },
      unstar_repo: "L2",
      delete_repo: "L3",
      send_mail: null,
      frobnicate: "L2",
    });
    expect(
      Object.keys(((pasted["mcpServers"] as JsonObject)["forge"] as JsonObject)["tools"] as JsonObject),
    ).not.toContain("send_mail");
    expect(config()).toBe(before);
  });

  it("what is printed can be pasted: it is a valid configuration that grades so", async () => {
    const { json } = await bench.run(["grade", "forge", "--suggest", "--json"]);
    const { config: pasted } = json as unknown as Proposal;
    const forge = (pasted["mcpServers"] as JsonObject)["forge"] as JsonObject;
    bench.writeConfig({
      mcpServers: { forge: { ...forge, command: process.execPath, args: [FORGE], source: "official" } },
    });
    const tools = await bench.run(["tools", "forge", "--json"]);
    const grades = (tools.json["tools"] as JsonObject[]).map(({ tool, grade }) => [tool, grade]);
    expect(Object.fromEntries(grades)).toMatchObject({
      search_code: "L0",
      create_issue: "L1",
      delete_repo: "L3",
    });
  });

  it("writes only where it is accepted: not without a terminal, unless --yes says so", async () => {
    const before = config();
    const refused = await bench.run(["grade", "forge", "--suggest", "--accept"]);
    expect([refused.exitCode, config()]).toEqual([3, before]);
    const run = await bench.run(["grade", "forge", "--suggest", "--accept", "--yes"]);
    expect(run.exitCode).toBe(0);
    const { mcpServers } = JSON.parse(config()) as { mcpServers: { forge: { tools: JsonObject } } };
    expect(mcpServers.forge.tools).toMatchObject({
      send_mail: "off",
      "search_*": "L1",
      search_code: "L0",
      delete_repo: "L3",
    });
    const again = await bench.run(["grade", "forge", "--suggest", "--accept", "--yes"]);
    expect(again.stdout).toContain("nothing to propose");
  });

  it("a proposal that is another one by now is not written", async () => {
    const { suggest } = await import("../../src/operations/suggest.ts");
    const { openHost } = await import("../../src/host/host.ts");
    const host = await openHost({ config: bench.configFile, stateDir: bench.stateDir });
    try {
      const context = {
        host,
        by: "ann",
        channel: "console",
        signal: new AbortController().signal,
        nowMs: Date.now,
      } as const;
      const { digest } = await suggest.run(context, { server: "forge" });
      const text = config();
      writeFileSync(
        bench.configFile,
        text.replace('"send_mail": "off"', '"send_mail": "off", "star_repo": "off"'),
      );
      const changed = await openHost({ config: bench.configFile, stateDir: bench.stateDir });
      try {
        const later = { ...context, host: changed };
        await expect(suggest.run(later, { server: "forge", accept: digest })).rejects.toMatchObject({
          code: "config_changed",
        });
      } finally {
        await changed.close();
      }
    } finally {
      await host.close();
    }
  });

  it.each([
    ["grade", "forge"],
    ["grade", "forge", "search_code"],
    ["grade", "forge", "search_code", "--suggest"],
    ["grade", "forge", "search_code", "L0", "--accept"],
  ])("%s %s %s %s is a wrong use", async (...words) => {
    expect((await bench.run(words.filter((word) => typeof word === "string"))).exitCode).toBe(2);
  });
});

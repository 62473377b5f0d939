/** The shapes of `--json`: members may be added, none of these may go or change its kind. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { createWorkbench, type Workbench } from "../support/workbench.ts";

let bench: Workbench;
beforeAll(() => {
  bench = createWorkbench();
  bench.writeConfig({ mcpServers: { ledger: bench.ledgerEntry({ source: "own", tools: { read: "L0" } }) } });
});
afterAll(() => bench.remove());

/** Member names with the kind of their values, sorted. */
function shape(value: unknown): Record<string, string> {
  const kind = (member: unknown): string =>
    member === null ? "null" : Array.isArray(member) ? "array" : typeof member;
  return Object.fromEntries(
    Object.entries(value as JsonObject)
      .map(([name, member]) => [name, kind(member)])
      .sort(([one], [other]) => ((one ?? "") < (other ?? "") ? -1 : 1)),
  );
}

describe("--json", { timeout: 60_000 }, () => {
  it("call", async () => {
    const { json } = await bench.run(["call", "ledger", "read", "{}", "--json"]);
    expect(shape(json)).toMatchObject({
      callId: "string",
      server: "string",
      tool: "string",
      grade: "string",
      outcome: "string",
      code: "null",
      effect: "string",
      message: "string",
      content: "array",
      model: "string",
      findings: "array",
      attempts: "number",
      durationMs: "number",
    });
  });

  it("status", async () => {
    const { json } = await bench.run(["status", "--json"]);
    const [server] = json["servers"] as JsonObject[];
    expect(typeof json["asOf"]).toBe("string");
    expect(shape(server)).toMatchObject({
      name: "string",
      transport: "string",
      state: "string",
      since: "string",
      reason: "string",
      era: "string",
      revision: "string",
      tools: "object",
      lastHealthCheck: "object",
      breaker: "object",
      calls: "object",
      auth: "string",
      restarts: "number",
    });
    expect(shape(server?.["tools"])).toEqual({
      L0: "number",
      L1: "number",
      L2: "number",
      L3: "number",
      off: "number",
      quarantined: "number",
      total: "number",
    });
    expect(shape(server?.["lastHealthCheck"])).toEqual({ at: "string", latencyMs: "number", ok: "boolean" });
    expect(shape(server?.["breaker"])).toEqual({ failures: "number", state: "string" });
    expect(shape(server?.["calls"])).toEqual({ running: "number", waiting: "number" });
  });

  it("tools", async () => {
    const { json } = await bench.run(["tools", "--json"]);
    expect(shape((json["tools"] as JsonObject[])[0])).toMatchObject({
      name: "string",
      server: "string",
      tool: "string",
      grade: "string",
      gradeFrom: "string",
      pin: "string",
      quarantine: "null",
      inputSchema: "object",
      description: "string",
    });
  });

  it("activity", async () => {
    const { json } = await bench.run(["activity", "--json"]);
    expect(shape((json["calls"] as JsonObject[])[0])).toMatchObject({
      callId: "string",
      at: "string",
      principal: "string",
      server: "string",
      tool: "string",
      grade: "string",
      outcome: "string",
      effect: "string",
      durationMs: "number",
      approvedBy: "null",
      undoUntil: "null",
    });
  });

  it("--help of the program and of a command, --version", async () => {
    const { json, exitCode, stderr } = await bench.run(["--help", "--json"]);
    expect([exitCode, stderr]).toEqual([0, ""]);
    expect(shape(json)).toEqual({
      summary: "string",
      options: "array",
      commands: "array",
      exitCodes: "object",
    });
    const ofCall = {
      usage: "call <server> <tool> [json]",
      summary: expect.any(String),
      example: expect.any(String),
      options: expect.arrayContaining([{ flags: "--yes", description: expect.any(String) }]),
    };
    expect(json["commands"]).toContainEqual(ofCall);
    for (const words of [
      ["call", "--help"],
      ["help", "call"],
    ])
      expect((await bench.run(["--json", ...words])).json).toEqual({ command: ofCall });
    expect((await bench.run(["--version", "--json"])).json).toEqual({ version: expect.any(String) });
    for (const words of [[], ["nonsense"], ["call"], ["status", "--nonsense"]]) {
      const run = await bench.run([...words, "--json"]);
      expect(run.exitCode).toBe(2);
      expect(run.json).toMatchObject({ error: { code: "usage" } });
      expect(run.stderr).toMatch(/^portcullis: [^\n]+\nRun the command with --help and correct it.\n$/);
    }
  });

  it("errors are one document too", async () => {
    const run = await bench.run(["call", "nobody", "x", "--json"]);
    expect(shape(run.json["error"])).toEqual({ code: "string", help: "string", message: "string" });
  });
});

import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { createWorkbench, type Workbench } from "../support/workbench.ts";

let bench: Workbench;
beforeEach(() => {
  bench = createWorkbench();
});
afterEach(() => bench.remove());

describe(
  "portcullis call on the real `everything` server, no rule for its tools",
  { timeout: 60_000 },
  () => {
    beforeEach(() => bench.writeConfig({ mcpServers: { everything: bench.everythingEntry() } }));

    it("with --yes prints one document and exits 0 [TOOL-34]", async () => {
      const run = await bench.run(["call", "everything", "echo", '{"message":"hi"}', "--yes", "--json"]);
      expect(run.exitCode).toBe(0);
      expect(run.json).toMatchObject({
        server: "everything",
        tool: "echo",
        grade: "L2",
        outcome: "completed",
        code: null,
        effect: "applied",
        content: [{ type: "text", text: "Echo: hi" }],
        findings: [],
        attempts: 1,
      });
      expect(run.json["model"]).toMatch(/untrusted [0-9a-f]+>\nEcho: hi\n/);
      expect(typeof run.json["callId"]).toBe("string");
      expect(typeof run.json["durationMs"]).toBe("number");
    });

    it("wrong arguments: a hint that names the field, exit 4", async () => {
      const run = await bench.run(["call", "everything", "echo", '{"message":5}', "--yes", "--json"]);
      expect(run.exitCode).toBe(4);
      expect(run.json).toMatchObject({
        outcome: "invalid_arguments",
        code: "invalid_arguments",
        effect: "none",
      });
      expect(run.json["retryHint"]).toMatch(/message.*string/);
      expect(run.json["model"]).toContain("message");
    });

    it.each([
      ["an integer that no double holds", '{"message":"a","n":9007199254740993}'],
      ["a key given twice", '{"message":"a","message":"b"}'],
      ["a key that would vanish", '{"message":"a","__proto__":{"x":1}}'],
    ])("%s is refused, not sent as something else", async (_name, text) => {
      const run = await bench.run(["call", "everything", "echo", text, "--yes", "--json"]);
      expect(run.exitCode).toBe(4);
      expect(run.json).toMatchObject({ error: { code: "invalid_arguments" } });
    });

    it("a name that is not there is a usage error, with near names: tool, server, approval, call", async () => {
      const tool = await bench.run(["call", "everything", "ecko", "{}", "--yes", "--json"]);
      expect(tool.exitCode).toBe(2);
      expect(tool.json).toMatchObject({
        outcome: "refused",
        code: "unknown_tool",
        grade: null,
        effect: "none",
      });
      expect(tool.json["message"]).toContain("everything__echo");
      const server = await bench.run(["call", "everythin", "echo", "{}", "--yes", "--json"]);
      expect(server.exitCode).toBe(2);
      expect(server.json).toMatchObject({ error: { code: "unknown_server" } });
      expect(server.stderr).toContain("`everything`");
      for (const words of [["approve"], ["deny"], ["revoke"], ["undo"], ["release"], ["activity"]]) {
        const run = await bench.run([...words, "740ca0f2d7", "--json"]);
        expect([words, run.exitCode]).toEqual([words, 2]);
        expect(run.json).toMatchObject({ error: { code: "not_found" } });
        expect(run.stderr).toContain("`740ca0f2d7`");
      }
    });
  },
);

describe("what is sent, as the server itself wrote it down", { timeout: 60_000 }, () => {
  it("without --yes and without a terminal nothing is sent [BASE-22]", async () => {
    bench.writeConfig({ mcpServers: { ledger: bench.ledgerEntry() } });
    const run = await bench.run(["call", "ledger", "write", '{"text":"a"}', "--json"]);
    expect(run.exitCode).toBe(3);
    expect(run.json).toMatchObject({
      outcome: "refused",
      code: "approval_needed",
      effect: "none",
      grade: "L2",
    });
    expect(bench.sent("write")).toBe(0);
  });

  it("a tool that is off is not listed to models and cannot be called", async () => {
    bench.writeConfig({ mcpServers: { ledger: bench.ledgerEntry({ tools: { write: "off" } }) } });
    const run = await bench.run(["call", "ledger", "write", '{"text":"a"}', "--yes", "--json"]);
    expect(run.exitCode).toBe(3);
    expect(run.json).toMatchObject({ outcome: "refused", code: "tool_off" });
    expect(bench.sent("write")).toBe(0);
    const { json } = await bench.run(["tools", "--json"]);
    const listed = (json["tools"] as { tool: string; grade: string }[]).find(({ tool }) => tool === "write");
    expect(listed?.grade).toBe("off");
  });

  it("L3 is refused until enabled, then needs --yes and --confirm", async () => {
    bench.writeConfig({ mcpServers: { ledger: bench.ledgerEntry({ tools: { write: "L3" } }) } });
    const words = ["call", "ledger", "write", '{"text":"a"}', "--json"];
    expect((await bench.run([...words, "--yes", "--confirm", "write"])).json).toMatchObject({
      code: "tool_not_enabled",
    });
    bench.writeConfig({
      mcpServers: { ledger: bench.ledgerEntry({ tools: { write: { grade: "L3", enabled: true } } }) },
    });
    expect((await bench.run([...words, "--yes"])).json).toMatchObject({ code: "confirmation_needed" });
    expect((await bench.run([...words, "--yes", "--confirm", "wrong"])).json).toMatchObject({
      code: "confirmation_needed",
    });
    expect((await bench.run(words)).json).toMatchObject({ code: "approval_needed" });
    expect(bench.sent("write")).toBe(0);
    const run = await bench.run([...words, "--yes", "--confirm", "write"]);
    expect(run.exitCode).toBe(0);
    expect(bench.sent("write")).toBe(1);
  });

  it("the tool's own error is exit 1, and what it did is not known", async () => {
    bench.writeConfig({ mcpServers: { ledger: bench.ledgerEntry() } });
    const run = await bench.run(["call", "ledger", "fail", "--yes", "--json"]);
    expect(run.exitCode).toBe(1);
    expect(run.json).toMatchObject({ outcome: "tool_error", code: "tool_error", effect: "unknown" });
    expect(run.json["model"]).toContain("the disk is on fire");
  });

  it("pause stops everything at once, resume lets it go on; both survive the process", async () => {
    bench.writeConfig({
      mcpServers: { ledger: bench.ledgerEntry({ source: "own", tools: { read: "L0" } }) },
    });
    expect((await bench.run(["call", "ledger", "read", "--json"])).exitCode).toBe(0);
    expect((await bench.run(["pause", "--all"])).exitCode).toBe(0);
    expect((await bench.run(["call", "ledger", "read", "--json"])).json).toMatchObject({
      code: "server_paused",
      outcome: "refused",
    });
    expect((await bench.run(["status", "--json"])).json).toMatchObject({ servers: [{ state: "paused" }] });
    expect((await bench.run(["resume", "ledger"])).exitCode).toBe(0);
    expect((await bench.run(["call", "ledger", "read", "--json"])).json).toMatchObject({
      code: "server_paused",
    });
    expect((await bench.run(["resume", "--all"])).exitCode).toBe(0);
    expect((await bench.run(["call", "ledger", "read", "--json"])).exitCode).toBe(0);
    expect(bench.sent("read")).toBe(2);
  });

  it("grade edits the file in place, keeps comments, and takes effect", async () => {
    bench.writeConfig({ mcpServers: { ledger: bench.ledgerEntry() } });
    const run = await bench.run(["grade", "ledger", "read", "L0", "--json"]);
    expect(run.exitCode).toBe(0);
    const call = await bench.run(["call", "ledger", "read", '{"text":"x"}', "--json"]);
    expect(call.json).toMatchObject({ outcome: "completed", grade: "L0", effect: "none" });
    const explained = await bench.run(["explain", "ledger", "read", '{"text":"x"}', "--json"]);
    expect(explained.json).toMatchObject({
      decision: { decision: "allow", grade: "L0", gradeFrom: "mcpServers.ledger.tools.read" },
    });
    expect(bench.sent("read")).toBe(1);
  });

  it("explain tells what would be asked, and sends nothing", async () => {
    bench.writeConfig({
      mcpServers: { ledger: bench.ledgerEntry({ tools: { write: { grade: "L2", say: "Write {text}" } } }) },
    });
    const run = await bench.run(["explain", "ledger", "write", '{"text":"hello"}', "--json"]);
    expect(run.json).toMatchObject({ decision: { decision: "ask", grade: "L2" }, sentence: "Write hello" });
    expect(bench.sent("write")).toBe(0);
    expect((await bench.run(["activity", "--json"])).json).toEqual({ calls: [] });
  });

  it("usage errors say what is wrong and exit 2", async () => {
    bench.writeConfig({ mcpServers: { ledger: bench.ledgerEntry() } });
    for (const words of [
      ["call", "ledger"],
      ["nonsense"],
      ["call", "ledger", "read", "[1]"],
      ["pause"],
      ["approve", "nope", "--without", "x"],
    ]) {
      const run = await bench.run(words);
      expect([words, run.exitCode]).toEqual([words, 2]);
      expect(run.stderr).not.toBe("");
      const json = await bench.run([...words, "--json"]);
      expect([words, json.exitCode, json.json]).toMatchObject([words, 2, { error: {} }]);
    }
  });
});

describe("records for somebody else's eyes", { timeout: 60_000 }, () => {
  it("are written as JSON Lines into a new file of its owner alone, narrowed where that is asked for", async () => {
    bench.writeConfig({
      mcpServers: { ledger: bench.ledgerEntry({ source: "own", tools: { read: "L0" } }) },
    });
    await bench.run(["call", "ledger", "read", '{"text":"a"}', "--json"]);
    await bench.run(["call", "ledger", "write", '{"text":"b"}', "--yes", "--json"]);
    const file = join(bench.dir, "records.jsonl");
    const run = await bench.run(["audit", "--verify", "--export", file, "--tool", "write", "--json"]);
    expect(run.json).toMatchObject({ ok: true, exported: { file, lines: expect.any(Number) } });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const lines = readFileSync(file, "utf8").trimEnd().split("\n");
    const records = lines.map((line) => JSON.parse(line) as { kind: string; hash: string; body: JsonObject });
    expect(records.length).toBe((run.json["exported"] as { lines: number }).lines);
    expect(records.every(({ body }) => body["tool"] === "write")).toBe(true);
    expect(records.map(({ kind }) => kind)).toContain("opened");
    const again = await bench.run(["audit", "--export", file, "--json"]);
    expect([again.exitCode, again.json]).toMatchObject([2, { error: { code: "usage" } }]);
    expect(again.stderr).toContain("is there already");
    for (const words of [
      ["--tool", "write"],
      ["--since", "soon"],
      ["--export", "/nowhere/x"],
    ])
      expect((await bench.run(["audit", ...words, "--json"])).exitCode).toBe(2);
    const { calls } = (await bench.run(["activity", "--tool", "write", "--since", "1h", "--json"])).json;
    expect(calls).toMatchObject([{ tool: "write" }]);
    expect((await bench.run(["activity", "--limit", "many", "--json"])).stderr).toContain(
      "whole number from 1",
    );
  });
});

it.each([
  [["grade", "ledger", "read", "L9"], '`grade`: expected `L0`, `L1`, `L2`, `L3` or `off`, got `"L9"`'],
  [["rollout", "ledger", "500%"], "`percent`: must be at most 100"],
  [
    ["approve", "x", "--grant", "forever"],
    '`grant`: expected `session`, `hour` or `arguments`, got `"forever"`',
  ],
  [["activity", "--limit", "5000"], "`limit`: must be at most 1000"],
])("%j: what is wrong is said in plain words", { timeout: 60_000 }, async (words, message) => {
  bench.writeConfig({ mcpServers: { ledger: bench.ledgerEntry() } });
  const run = await bench.run(words);
  expect(run.exitCode).toBe(2);
  expect(run.stderr).toContain(message);
});

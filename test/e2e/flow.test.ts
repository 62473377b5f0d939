/** Decisions that people depend on, through the host over real processes: attack stories, batches, and what is recorded of an answer. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ApprovalView } from "../../src/approvals/view.ts";
import type { JsonObject } from "../../src/base/json.ts";
import type { Host } from "../../src/host/api.ts";
import { openHost } from "../../src/host/host.ts";
import { describeField, fieldServer } from "../support/field.ts";
import { openBench, send } from "../support/gateway-kit.ts";
import { createWorkbench, type Workbench } from "../support/workbench.ts";

const hosts: Host[] = [];
let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "portcullis-flow-"));
});
afterEach(async () => {
  for (const host of hosts.splice(0)) await host.close();
  rmSync(dir, { recursive: true, force: true });
});

const OWN = fileURLToPath(new URL("../servers/toxic-flow.mjs", import.meta.url));

/** Somebody at the console, who answers in order and keeps what was shown. */
function watch(host: Host, answers: readonly ("approve" | "approve for an hour" | "deny")[]): ApprovalView[] {
  const shown: ApprovalView[] = [];
  const seen = new Set<string>();
  host.onEvent((event) => {
    if (event.type !== "approval.requested") return;
    void host.approvals.list().then(async (waiting) => {
      for (const approval of waiting) {
        if (seen.has(approval.id)) continue;
        seen.add(approval.id);
        const answer = answers[shown.length] ?? "deny";
        shown.push(approval);
        await host.approvals.answer(approval.id, {
          verdict: answer === "deny" ? "deny" : "approve",
          by: "ann",
          channel: "console",
          ...(answer === "approve for an hour" ? { grant: "hour" } : {}),
          ...(answer === "deny" ? { reason: "nobody asked for that" } : {}),
        });
      }
    });
  });
  return shown;
}

interface Stage {
  readonly server: (grade: string, dir: string) => JsonObject;
  /** What was sent outward. */
  readonly leaked: (dir: string) => string;
}

const read = (file: string): string => {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
};

const rules = (grade: string): JsonObject => ({
  source: "own",
  labels: ["public", "trusted", "internal"],
  tools: {
    list_issues: { grade: "L0", labels: ["untrusted"] },
    read_private: { grade: "L0", labels: ["private"] },
    run_sql: { grade: "L0", labels: ["private", "untrusted"] },
    create_pr: { grade, labels: ["external"], say: "Open a pull request: {body}" },
  },
});

function tellStories(name: string, stage: Stage): void {
  const open = async (grade: string, approvals: JsonObject = { grants: "on" }): Promise<Host> => {
    const host = await openHost({
      config: { mcpServers: { code: stage.server(grade, dir) }, approvals },
      stateDir: join(dir, "state"),
    });
    hosts.push(host);
    return host;
  };

  describe(`${name}: a stranger's issue leads to private data in a pull request`, { timeout: 60_000 }, () => {
    it("the outward call is asked about with the reason, also under an `always allow` grant, and a no stops it", async () => {
      const host = await open("L2");
      const shown = watch(host, ["approve for an hour", "deny"]);
      const turn = host.turn({ userText: "Fix the typo, and look through the issues" });
      expect((await turn.call("code__create_pr", { body: "fix a typo" })).outcome).toBe("completed");
      expect((await turn.call("code__create_pr", { body: "fix another" })).outcome).toBe("completed");
      expect([shown.length, (await host.grants.list()).length]).toEqual([1, 1]);
      await turn.call("code__list_issues", {});
      const secret = await turn.call("code__read_private", {});
      expect(JSON.stringify(secret.content)).toContain("FAKE-PRIVATE-7f3a");
      const outward = await turn.call("code__create_pr", { body: "about the author: FAKE-PRIVATE-7f3a" });
      expect(outward).toMatchObject({ outcome: "refused", code: "approval_denied", effect: "none" });
      expect(shown).toHaveLength(2);
      expect(shown[1]?.mayGrant).toBe(false);
      expect(shown[1]?.reasons.map(({ rule }) => rule)).toEqual(
        expect.arrayContaining(["flow.toxic", "provenance.value"]),
      );
      expect(JSON.stringify(shown[1]?.reasons)).toContain("code read_private");
      expect(shown[1]?.provenance).toMatchObject([{ where: "/body" }]);
      expect(stage.leaked(dir)).not.toContain("FAKE-PRIVATE");
    });

    it("so is one that nobody would have asked about (L1), whatever stands in it", async () => {
      const host = await open("L1");
      const shown = watch(host, ["deny"]);
      const turn = host.turn();
      await turn.call("code__list_issues", {});
      await turn.call("code__read_private", {});
      expect(await turn.call("code__create_pr", { body: "RkFLRS1QUklWQVRF" })).toMatchObject({
        outcome: "refused",
        code: "approval_denied",
      });
      expect(shown[0]?.reasons.map(({ rule }) => rule)).toContain("flow.toxic");
    });

    it("where the configuration says so, values out of tools are refused without a question", async () => {
      const host = await open("L2", { provenance: "deny" });
      const shown = watch(host, []);
      const turn = host.turn();
      await turn.call("code__read_private", {});
      expect(await turn.call("code__create_pr", { body: "FAKE-PRIVATE-7f3a" })).toMatchObject({
        outcome: "refused",
        code: "policy_denied",
      });
      expect([shown, stage.leaked(dir)]).toEqual([[], ""]);
    });
  });

  describe(`${name}: a support ticket makes the agent read a secret table`, { timeout: 60_000 }, () => {
    it("reading goes on, but nothing goes outward without a person who sees why", async () => {
      const host = await open("L2");
      const shown = watch(host, ["approve for an hour", "deny"]);
      const clean = host.turn({ conversation: "support" });
      expect((await clean.call("code__create_pr", { body: "hello" })).outcome).toBe("completed");
      const turn = host.turn({ conversation: "support" });
      await turn.call("code__run_sql", { query: "select * from tickets" });
      await turn.call("code__run_sql", { query: "select * from integration_tokens" });
      expect(await turn.call("code__create_pr", { body: "reply to ticket 2: the rows" })).toMatchObject({
        outcome: "refused",
        code: "approval_denied",
      });
      expect(shown).toHaveLength(2);
      expect(shown[1]).toMatchObject({ mayGrant: false });
      expect(JSON.stringify(shown[1]?.reasons)).toContain("code run_sql");
      expect(stage.leaked(dir)).not.toContain("reply to ticket");
    });
  });
}

tellStories("own fixture", {
  server: (grade, at) => ({
    command: process.execPath,
    args: [OWN],
    env: { LEDGER: join(at, "ledger") },
    ...rules(grade),
  }),
  leaked: (at) => read(join(at, "ledger")),
});

describeField("fc93-poison", () => {
  tellStories("field server [FC-93]", {
    server: (grade, at) => ({
      command: process.execPath,
      args: [fieldServer("fc93-poison")],
      env: { MODE: "toxic-flow", STATE_FILE: join(at, "ledger") },
      ...rules(grade),
    }),
    leaked: (at) =>
      read(join(at, "ledger"))
        .split("\n")
        .filter((line) => line.includes('"leak"'))
        .map((line) => `FAKE-PRIVATE ${line}`)
        .join("\n"),
  });
});

describe("twenty deletes in one turn", { timeout: 60_000 }, () => {
  const ids = Array.from({ length: 20 }, (_unused, index) => `record-${index + 1}`);
  const VETOED = [3, 7, 20];

  async function waiting(host: Host): Promise<readonly ApprovalView[]> {
    for (let turn = 0; turn < 1_000; turn += 1) {
      const approvals = await host.approvals.list();
      if (approvals.length === ids.length) return approvals;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    throw new Error("not every call is waiting");
  }

  /** One screen: a group, numbered in order, with a sentence each. */
  const expectOneScreen = (screen: readonly ApprovalView[]): void => {
    expect(new Set(screen.map(({ group }) => group)).size).toBe(1);
    expect(screen.map(({ number }) => number)).toEqual(ids.map((_id, index) => index + 1));
    expect(screen.every(({ sentence }, index) => sentence.includes(`record-${index + 1}`))).toBe(true);
  };

  const expectSeventeen = (sent: readonly unknown[], outcomes: readonly (string | null)[]): void => {
    const kept = ids.filter((_id, index) => !VETOED.includes(index + 1));
    expect([...sent].sort()).toEqual([...kept].sort());
    expect(
      outcomes.map((code, index) => (code === null ? [] : [index + 1, code])).filter((one) => one.length > 0),
    ).toEqual(VETOED.map((number) => [number, "approval_denied"]));
  };

  it("one screen, three vetoed, seventeen sent: through the host", async () => {
    const bench = createWorkbench();
    try {
      const host = await openHost({
        config: {
          mcpServers: {
            ledger: bench.ledgerEntry({
              source: "own",
              tools: { remove: { grade: "L2", say: "Delete {ids}" } },
            }),
          },
        },
        stateDir: bench.stateDir,
      });
      hosts.push(host);
      const turn = host.turn();
      const calls = ids.map((id) => turn.call("ledger__remove", { ids: [id] }));
      const screen = await waiting(host);
      expectOneScreen(screen);
      const group = screen[0]?.group ?? "";
      await host.approvals.answerGroup(group, {
        by: "ann",
        channel: "console",
        seen: screen.map(({ id }) => id),
        without: VETOED,
      });
      const outcomes = await Promise.all(calls);
      expectSeventeen(
        bench.ledger().flatMap(({ args }) => (args?.["ids"] as string[] | undefined) ?? []),
        outcomes.map(({ code }) => code),
      );
      await host.close();
    } finally {
      bench.remove();
    }
  });

  it("the same through the console's API", async () => {
    const bench = await openBench({ entry: { tools: { write: { grade: "L2", say: "Delete {text}" } } } });
    try {
      const turn = bench.host.turn();
      const calls = ids.map((id) => turn.call("peer__write", { text: id }));
      await waiting(bench.host);
      const listed = await send(bench, { path: "/api/operations/approvals", body: {} });
      const screen = listed.json["approvals"] as unknown as ApprovalView[];
      expectOneScreen(screen);
      const answered = await send(bench, {
        path: "/api/operations/approve",
        body: {
          id: screen[0]?.group ?? "",
          without: VETOED,
          seen: screen.map(({ id }) => id),
        },
      });
      expect(answered.status).toBe(200);
      const states = (answered.json["answered"] as JsonObject[]).map(({ state }) => state);
      expect(states.filter((state) => state === "denied")).toHaveLength(3);
      const outcomes = await Promise.all(calls);
      expectSeventeen(
        bench.ledger().map((line) => (line["args"] as JsonObject)["text"]),
        outcomes.map(({ code }) => code),
      );
    } finally {
      await bench.close();
    }
  });

  it("what came after the screen was looked at is not answered with it", async () => {
    const bench = await openBench({ entry: { tools: { write: "L2" } } });
    try {
      const turn = bench.host.turn();
      const calls = [...ids, "late"].map((id) => turn.call("peer__write", { text: id }));
      for (let wait = 0; (await bench.host.approvals.list()).length < 21; wait += 1) {
        if (wait > 1_000) throw new Error("not every call is waiting");
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      const screen = (await bench.host.approvals.list()).slice(0, 20);
      const body = { id: screen[0]?.group ?? "", seen: screen.map(({ id }) => id) };
      await send(bench, { path: "/api/operations/approve", body });
      await Promise.all(calls.slice(0, 20));
      expect((await bench.host.approvals.list()).map(({ number }) => number)).toEqual([21]);
      await turn.close();
      expect(bench.ledger()).toHaveLength(20);
    } finally {
      await bench.close();
    }
  });
});

describe("what is recorded of an answer", { timeout: 60_000 }, () => {
  let bench: Workbench;
  beforeEach(() => {
    bench = createWorkbench();
  });
  afterEach(() => bench.remove());

  const open = async (more: JsonObject = {}): Promise<Host> => {
    bench.writeConfig({
      mcpServers: {
        ledger: bench.ledgerEntry({
          ...more,
          source: "own",
          tools: { write: "L2", remove: { grade: "L3", enabled: true } },
        }),
      },
      approvals: { grants: "on" },
    });
    const host = await openHost({ config: bench.configFile, stateDir: bench.stateDir });
    hosts.push(host);
    return host;
  };

  async function answerElsewhere(host: Host, words: (id: string) => readonly string[]): Promise<void> {
    for (;;) {
      const [first] = await host.approvals.list();
      if (first !== undefined) {
        const run = await bench.run([...words(first.id), "--json"]);
        expect(run.exitCode).toBe(0);
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  it("who, when, where and on what basis; also of one given in another process", async () => {
    const host = await open();
    const target = { server: "ledger", tool: "write" };
    const [yes] = await Promise.all([
      host.call(target, { text: "a" }),
      answerElsewhere(host, (id) => ["approve", id]),
    ]);
    const [no] = await Promise.all([
      host.call(target, { text: "b" }),
      answerElsewhere(host, (id) => ["deny", id, "--reason", "not today"]),
    ]);
    expect([yes.outcome, no.code]).toEqual(["completed", "approval_denied"]);
    const before = Date.now();
    const calls = await host.activity();
    const of = (callId: string) => calls.find((call) => call.callId === callId)?.decision;
    const answer = { by: "local", channel: "terminal", at: expect.any(String) as string };
    expect(of(yes.callId)).toMatchObject({
      verdict: "allow",
      basis: { kind: "approval", id: expect.any(String) as string },
      answers: [answer],
    });
    expect(of(no.callId)).toMatchObject({
      verdict: "deny",
      basis: { kind: "approval" },
      answers: [answer],
      reasons: [{ rule: "approval.denied", message: "local said no: not today" }],
    });
    expect(Date.parse(of(no.callId)?.answers[0]?.at ?? "")).toBeLessThanOrEqual(before);
    const { json } = await bench.run(["activity", "--json"]);
    expect((json["calls"] as JsonObject[]).map(({ decision }) => decision)).toEqual(
      calls.map(({ decision }) => decision),
    );
    expect(await host.verify()).toMatchObject({ ok: true });
  });

  it("a standing approval as the basis of what it let pass", async () => {
    const host = await open({ labels: ["trusted", "internal"] });
    watch(host, ["approve for an hour"]);
    const turn = host.turn();
    await turn.call("ledger__write", { text: "a" });
    await turn.call("ledger__write", { text: "b" });
    const [second, first] = await host.activity();
    const [grant] = await host.grants.list();
    expect(first?.decision).toMatchObject({
      basis: { kind: "approval" },
      answers: [{ by: "ann", channel: "console" }],
    });
    expect(second?.decision).toMatchObject({ basis: { kind: "grant", id: grant?.id }, answers: [] });
  });

  it("both of the two confirmations of L3", async () => {
    const host = await open();
    const call = host.call({ server: "ledger", tool: "remove" }, { ids: ["1"] });
    for (;;) {
      const [first] = await host.approvals.list();
      if (first !== undefined) {
        await host.approvals.answer(first.id, { verdict: "approve", by: "ann", channel: "terminal" });
        const typed = { verdict: "approve", by: "bob", channel: "console", typed: "remove" } as const;
        await host.approvals.answer(first.id, typed);
        break;
      }
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    const { callId } = await call;
    const [last] = await host.activity({ limit: 1 });
    expect(last).toMatchObject({
      callId,
      approvedBy: "ann",
      decision: {
        answers: [
          { by: "ann", channel: "terminal" },
          { by: "bob", channel: "console" },
        ],
      },
    });
  });
});

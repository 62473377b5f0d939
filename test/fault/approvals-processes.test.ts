/** Approvals across real processes that share one SQLite state: for one call, by one answer, once, in time. */
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Ask, Broker } from "../../src/approvals/broker.ts";
import type { Store } from "../../src/store/store.ts";
import { openBroker, testAsk, type Command } from "../support/approval-process.ts";

const SCRIPT = join(import.meta.dirname, "..", "support", "approval-process.ts");
const PERSON = { by: "ann", channel: "console" } as const;

interface Child {
  readonly process: ChildProcessWithoutNullStreams;
  /** The answer to a command; one at a time. */
  tell(command: Command): Promise<{ readonly value?: unknown; readonly code?: string }>;
}

let dir = "";
let broker: Broker;
let store: Store;
let children: Child[] = [];

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "portcullis-approvals-"));
  await chmod(dir, 0o700);
  ({ broker, store } = await openBroker(dir, "test parent"));
});

afterEach(async () => {
  for (const { process: child } of children) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    const gone = once(child, "exit");
    child.stdin.end();
    await gone;
  }
  children = [];
  broker.close();
  await store.close();
  await rm(dir, { recursive: true, force: true });
});

function start(shiftMs = 0): Child {
  const child = spawn(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", SCRIPT, dir, String(shiftMs)],
    { stdio: "pipe" },
  );
  child.stderr.pipe(process.stderr);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const made: Child = {
    process: child,
    async tell(command) {
      child.stdin.write(`${JSON.stringify(command)}\n`);
      const line = await lines.next();
      if (line.done === true) throw new Error("the child is gone");
      return JSON.parse(line.value) as { value?: unknown; code?: string };
    },
  };
  children.push(made);
  return made;
}

/** Resolves with the approvals that wait as soon as there are `count`. */
async function waiting(count: number): Promise<readonly string[]> {
  const changed = Promise.withResolvers<readonly string[]>();
  const look = (): void => {
    void broker
      .list()
      .then(
        (list) => (list.length === count ? changed.resolve(list.map(({ id }) => id)) : undefined),
        changed.reject,
      );
  };
  const unwatch = store.watch("approvals", look);
  look();
  try {
    return await changed.promise;
  } finally {
    unwatch();
  }
}

/** An approval that was given after its caller had gone. */
async function approvedAndAbandoned(more: Partial<Ask> = {}): Promise<string> {
  const controller = new AbortController();
  const asked = broker.request({ ...testAsk, ...more }, controller.signal);
  const [id = ""] = await waiting(1);
  controller.abort(new Error("gone"));
  await expect(asked).rejects.toThrow("gone");
  await broker.answer(id, { ...PERSON, verdict: "approve" });
  return id;
}

describe("an approval, across processes", () => {
  it("given here reaches the call that waits there", async () => {
    const answer = start().tell({ do: "request", ask: {} });
    const [id = ""] = await waiting(1);
    expect((await broker.list())[0]).toMatchObject({
      sentence: "files delete: /a.txt",
      arguments: testAsk.arguments,
    });
    await broker.answer(id, { ...PERSON, verdict: "approve" });
    expect(await answer).toMatchObject({
      value: { kind: "approved", approvalId: id, confirmations: [{ by: "ann" }] },
    });
  });

  it("given there reaches the call that waits here, also as a refusal with its reason", async () => {
    const child = start();
    const asked = broker.request(testAsk, new AbortController().signal);
    const [id = ""] = await waiting(1);
    expect(
      await child.tell({ do: "answer", id, answer: { ...PERSON, verdict: "deny", reason: "not today" } }),
    ).toMatchObject({ value: { state: "denied" } });
    expect(await asked).toMatchObject({ kind: "denied", reason: "not today" });
  });

  it.each([
    ["other arguments", { arguments: { path: "/b.txt" } }],
    ["another principal", { principal: "mallory" }],
    ["a changed tool", { pin: "pin-2" }],
  ] as const)("cannot be used for %s", async (_what, change) => {
    const id = await approvedAndAbandoned();
    const child = start();
    expect(await child.tell({ do: "consume", id, ask: change })).toEqual({ code: "approval_stale" });
    expect(await child.tell({ do: "consume", id, ask: {} })).toMatchObject({ value: { kind: "approved" } });
  });

  it("cannot be used twice, there and then here", async () => {
    const id = await approvedAndAbandoned();
    expect(await start().tell({ do: "consume", id, ask: {} })).toMatchObject({ value: { kind: "approved" } });
    await expect(broker.consume(id, testAsk)).rejects.toMatchObject({ code: "approval_stale" });
  });

  it("is used by exactly one of several processes that want it at the same time", async () => {
    const several = [start(), start(), start()];
    await Promise.all(several.map((child) => child.tell({ do: "list" })));
    for (let round = 0; round < 5; round += 1) {
      const id = await approvedAndAbandoned({ arguments: { round } });
      const answers = await Promise.all(
        several.map((child) => child.tell({ do: "consume", id, ask: { arguments: { round } } })),
      );
      expect(answers.filter(({ value }) => value !== undefined)).toHaveLength(1);
      expect(answers.filter(({ code }) => code === "approval_stale")).toHaveLength(2);
    }
  });

  it("is answered by exactly one of two people", async () => {
    const child = start();
    await child.tell({ do: "list" });
    const asked = broker.request(testAsk, new AbortController().signal);
    const [id = ""] = await waiting(1);
    const [there, here] = await Promise.all([
      child.tell({ do: "answer", id, answer: { by: "bob", channel: "terminal", verdict: "approve" } }),
      broker.answer(id, { ...PERSON, verdict: "deny" }).then(
        () => "won",
        (error: { code: string }) => error.code,
      ),
    ]);
    expect([there.code ?? "won", here].sort()).toEqual(["approval_stale", "won"]);
    expect((await asked).kind).toBe(here === "won" ? "denied" : "approved");
  });

  it("cannot be used or answered after its time", async () => {
    const id = await approvedAndAbandoned();
    const later = start(5 * 60_000);
    expect(await later.tell({ do: "consume", id, ask: {} })).toEqual({ code: "approval_expired" });
    const asked = broker.request({ ...testAsk, arguments: { path: "/c" } }, new AbortController().signal);
    const [open = ""] = await waiting(1);
    expect(await later.tell({ do: "answer", id: open, answer: { ...PERSON, verdict: "approve" } })).toEqual({
      code: "approval_expired",
    });
    await broker.answer(open, { ...PERSON, verdict: "approve" });
    expect(await asked).toMatchObject({ kind: "approved" });
  });

  it("outlives a process that was killed while it waited, and the same call again uses it", async () => {
    const child = start();
    void child.tell({ do: "request", ask: {} }).catch(() => undefined);
    const [id = ""] = await waiting(1);
    const gone = once(child.process, "exit");
    child.process.kill("SIGKILL");
    await gone;
    await broker.answer(id, { ...PERSON, verdict: "approve" });
    expect(await broker.request(testAsk, new AbortController().signal)).toMatchObject({
      kind: "approved",
      approvalId: id,
    });
  });
});

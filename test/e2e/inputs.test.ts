/** Questions of servers through the host, over real processes of both eras; what the server wrote down is the witness. */
import { copyFileSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import type { Host, HostOptions } from "../../src/host/api.ts";
import { openHost } from "../../src/host/host.ts";
import type { InputAnswer, InputQuestion } from "../../src/inputs/question.ts";
import { openSqliteStore } from "../../src/store/sqlite.ts";
import { systemClock } from "../../src/base/clock.ts";
import { systemRandom } from "../../src/base/random.ts";
import type { HostEvent } from "../../src/telemetry/events.ts";
import { describeField, fieldServer } from "../support/field.ts";

const SERVER = fileURLToPath(new URL("../servers/asks.mjs", import.meta.url));
type Era = "legacy" | "modern";

let dir: string;
const hosts: Host[] = [];
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "portcullis-inputs-")));
});
afterEach(async () => {
  for (const host of hosts.splice(0)) await host.close();
  rmSync(dir, { recursive: true, force: true });
});

interface Line extends JsonObject {
  begin: string;
  end: string;
  pid: number;
}
const ledger = (): Line[] => {
  try {
    return readFileSync(join(dir, "ledger"), "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as Line);
  } catch {
    return [];
  }
};
const got = (tool: string): unknown => ledger().find((line) => line.end === tool)?.["got"];
const capabilities = (): unknown => ledger().find((line) => "capabilities" in line)?.["capabilities"];

async function open(era: Era, more: Partial<HostOptions> = {}, entry: JsonObject = {}): Promise<Host> {
  const asks = {
    command: process.execPath,
    args: [SERVER],
    env: { ERA: era, LEDGER: join(dir, "ledger") },
    source: "own",
    tools: { "*": "L0" },
    ...entry,
  };
  const host = await openHost({ config: { mcpServers: { asks } }, stateDir: join(dir, "state"), ...more });
  hosts.push(host);
  return host;
}

/** Somebody who answers all questions alike, and keeps what they were shown. */
function person(
  answer: (question: InputQuestion, signal: AbortSignal) => InputAnswer | Promise<InputAnswer>,
) {
  const asked: InputQuestion[] = [];
  return {
    asked,
    onInput: async (question: InputQuestion, signal: AbortSignal) => {
      asked.push(question);
      return answer(question, signal);
    },
  };
}

const BLUE: InputAnswer = { action: "accept", content: { colour: "ultramarine" }, by: "ann" };
const call = (host: Host, tool: string, args: JsonObject = {}, principal = "local") =>
  host.call({ server: "asks", tool }, args, { principal });

describe.each(["legacy", "modern"] as const)("a %s server", { timeout: 60_000 }, (era) => {
  it("gets an answer that was shown with server, tool and call, and defaults with it [ELI-01] [ELI-08] [ELI-12] [MRTR-15] [DEP-09]", async () => {
    const ann = person(() => BLUE);
    const events: HostEvent[] = [];
    const host = await open(era, { onInput: ann.onInput, onEvent: (event) => void events.push(event) });
    const outcome = await call(host, "form");
    expect(outcome).toMatchObject({ outcome: "completed" });
    expect(got("form")).toEqual({ action: "accept", content: { colour: "ultramarine", size: 3 } });
    expect(capabilities()).toMatchObject({ elicitation: { form: {}, url: {} } });
    expect(ann.asked).toMatchObject([
      {
        kind: "form",
        server: "asks",
        tool: "asks__form",
        callId: outcome.callId,
        principal: "local",
        number: 1,
      },
    ]);
    expect(events.filter(({ type }) => type.startsWith("input."))).toMatchObject([
      { type: "input.asked", callId: outcome.callId, about: ["colour", "size"] },
      { type: "input.answered", callId: outcome.callId, action: "accept", by: "ann" },
    ]);
    await host.close();
    const store = await openSqliteStore({
      dir: join(dir, "state"),
      role: "test",
      clock: systemClock,
      random: systemRandom,
    });
    const records = await store.records.query({ limit: 1_000 });
    await store.close();
    expect(records.find(({ kind }) => kind === "input.answered")?.body).toMatchObject({
      callId: outcome.callId,
      about: ["colour", "size"],
      action: "accept",
      by: "ann",
      principal: "local",
    });
    expect(JSON.stringify(records)).not.toContain("ultramarine");
  });

  it.each(["decline", "cancel"] as const)("is told %s as what it is [ELI-02]", async (action) => {
    const host = await open(
      era,
      person(() => ({ action })),
    );
    await call(host, "form");
    expect(got("form")).toEqual({ action });
  });

  it("is shown to nobody where it asks for a password", async () => {
    const ann = person(() => BLUE);
    const host = await open(era, ann);
    const outcome = await call(host, "secret");
    expect(ann.asked).toEqual([]);
    if (era === "modern") expect(outcome).toMatchObject({ outcome: "protocol_error", code: "input_refused" });
    else expect(got("secret")).toMatchObject({ code: -32602 });
  });

  it("where nobody answers nothing is declared, and what is asked all the same is refused [ELI-05]", async () => {
    const host = await open(era);
    const outcome = await call(host, "form");
    expect(Object.keys(capabilities() as object)).not.toContain("elicitation");
    if (era === "modern") expect(outcome).toMatchObject({ code: "input_refused" });
    else expect(got("form")).toMatchObject({ code: -32601 });
  });

  it("a person is shown an address, which nobody opens, and hears once that it is done [ELI-04] [ELI-13] [ELI-14] [ELI-16] [ELI-27]", async () => {
    const ann = person(() => ({ action: "accept" }));
    const completed: HostEvent[] = [];
    const host = await open(era, {
      ...ann,
      onEvent: (event) => void (event.type === "input.completed" && completed.push(event)),
    });
    const { callId } = await call(host, "url");
    expect(got("url")).toEqual({ action: "accept" });
    expect(ann.asked).toMatchObject([
      { kind: "url", url: "https://login.example.com/start", host: "login.example.com" },
    ]);
    await call(host, "hold");
    if (era === "legacy") expect(completed).toMatchObject([{ callId }]);
  });

  it("a model and folders are not there unless the host has them; then each is agreed to [DEP-03] [DEP-18] [BASE-21, BASE-25]", async () => {
    const without = await open(
      era,
      person(() => BLUE),
    );
    await call(without, "roots");
    await call(without, "sample");
    if (era === "legacy")
      expect([got("roots"), got("sample")]).toMatchObject([{ code: -32601 }, { code: -32601 }]);
    expect(Object.keys(capabilities() as object)).toEqual(["elicitation"]);
    await without.close();
    rmSync(join(dir, "ledger"));
    const ann = person(() => ({ action: "accept" }));
    const host = await open(era, {
      ...ann,
      sampling: { models: ["house"], sample: async ({ maxTokens }) => ({ text: `at most ${maxTokens}` }) },
      roots: async () => [{ path: dir }],
    });
    await call(host, "roots");
    await call(host, "sample");
    expect(got("roots")).toEqual({ roots: [{ uri: pathToFileURL(dir).href }] });
    expect(got("sample")).toMatchObject({ content: { text: "at most 1000" }, model: "house" });
    expect(ann.asked.map(({ kind }) => kind)).toEqual(["roots", "sample", "sampled"]);
  });

  it("the wait for a person is on no clock", async () => {
    const limits = { timeout: "1s", total: "1s" };
    const host = await open(
      era,
      person(async () => {
        await new Promise((resolve) => setTimeout(resolve, 1_600));
        return BLUE;
      }),
      { limits },
    );
    expect(await call(host, "form")).toMatchObject({ outcome: "completed" });
  });

  it("whoever gives up a call withdraws its question", async () => {
    let isWithdrawn = false;
    const controller = new AbortController();
    const host = await open(
      era,
      person((_question, signal) => {
        signal.addEventListener("abort", () => (isWithdrawn = true));
        controller.abort();
        return new Promise<InputAnswer>(() => undefined);
      }),
    );
    expect(
      await host.call({ server: "asks", tool: "form" }, {}, { signal: controller.signal }),
    ).toMatchObject({
      outcome: "cancelled",
    });
    expect(isWithdrawn).toBe(true);
  });
});

/** Two calls, of which the first waits for a person: what the second could do meanwhile. */
async function whileAsked(
  host: Host,
  asked: Promise<void>,
  second: { readonly principal: string },
): Promise<readonly string[]> {
  const first = call(host, "form", { who: "first" });
  await asked;
  const other = call(host, "hold", { who: "second" }, second.principal);
  await other;
  await first;
  return ledger().flatMap(({ begin, end, who }) => {
    if (begin !== undefined) return [`${String(who)} begins`];
    return end === undefined ? [] : [`${String(who)} ends`];
  });
}

it("an answer that rests on what a person said is not given again when the server is gone [MRTR-13]", async () => {
  const script = join(dir, "asks.mjs");
  copyFileSync(SERVER, script);
  const host = await open(
    "modern",
    person(() => BLUE),
    { args: [script] },
  );
  expect([(await call(host, "form")).outcome, (await call(host, "hold")).outcome]).toEqual([
    "completed",
    "completed",
  ]);
  rmSync(script);
  await call(host, "leave");
  expect((await call(host, "hold")).stale).toBeDefined();
  expect((await call(host, "form")).stale).toBeUndefined();
}, 60_000);

describe("calls beside a question", { timeout: 60_000 }, () => {
  const waiting = () => {
    const isAsked = Promise.withResolvers<void>();
    const ann = person(async () => {
      isAsked.resolve();
      await new Promise((resolve) => setTimeout(resolve, 700));
      return BLUE;
    });
    return { ...ann, isAsked: isAsked.promise };
  };

  it("modern: the place of the call that waits is free for others", async () => {
    const ann = waiting();
    const host = await open("modern", ann, { limits: { concurrency: 1 } });
    await call(host, "hold");
    rmSync(join(dir, "ledger"));
    expect(await whileAsked(host, ann.isAsked, { principal: "local" })).toEqual([
      "first begins",
      "second begins",
      "second ends",
      "first begins",
      "first ends",
    ]);
  });

  it("legacy on stdio: one call at a time, because the server cannot say whose question it is", async () => {
    const ann = waiting();
    const host = await open("legacy", ann, { limits: { concurrency: 8 } });
    expect(await whileAsked(host, ann.isAsked, { principal: "local" })).toEqual([
      "first begins",
      "first ends",
      "second begins",
      "second ends",
    ]);
  });

  it("legacy on stdio: without anybody who answers calls run side by side as before", async () => {
    const host = await open("legacy", {}, { limits: { concurrency: 8 } });
    await Promise.all([
      call(host, "hold", { ms: 300, who: "one" }),
      call(host, "hold", { ms: 300, who: "two" }),
    ]);
    expect(
      ledger()
        .slice(1, 3)
        .map(({ begin }) => begin),
    ).toEqual(["hold", "hold"]);
  });

  it("legacy on stdio: never shared between principals; a modern one is", async () => {
    const pids = async (era: Era): Promise<readonly number[]> => {
      const host = await open(
        era,
        person(() => BLUE),
      );
      for (const who of ["local", "alice", "bob", "alice", "local"]) await call(host, "hold", { who }, who);
      await host.close();
      const lines = ledger().filter(({ begin }) => begin === "hold");
      rmSync(join(dir, "ledger"));
      return lines.map(({ pid }) => pid);
    };
    const [local, alice, bob, aliceAgain, localAgain] = await pids("legacy");
    expect(new Set([local, alice, bob]).size).toBe(3);
    expect([aliceAgain, localAgain]).toEqual([alice, local]);
    expect(new Set(await pids("modern")).size).toBe(1);
  });

  it("a question that comes after its call was answered is shown to nobody", async () => {
    const ann = person(() => BLUE);
    const host = await open("legacy", ann);
    await call(host, "late");
    for (let turn = 0; turn < 200 && ledger().every((line) => !("late" in line)); turn += 1)
      await new Promise((resolve) => setTimeout(resolve, 10));
    expect(ledger().find((line) => "late" in line)?.["late"]).toMatchObject({ code: -32603 });
    expect(ann.asked).toEqual([]);
  });

  it("what needs a person elsewhere first is shown to them, and can be called again then [ELI-22] [ELI-29]", async () => {
    const ann = person(() => ({ action: "accept" }));
    const host = await open("legacy", ann);
    const outcome = await call(host, "elsewhere");
    expect(ann.asked).toMatchObject([{ kind: "url", tool: "asks__elsewhere" }]);
    expect(outcome).toMatchObject({ outcome: "protocol_error", code: "remote_error" });
    expect(outcome.model).toContain("make the same call again");
    const alone = await open("legacy", { stateDir: join(dir, "other") });
    expect((await call(alone, "elsewhere")).model).toContain("was not sent there");
    expect(ledger().filter(({ begin }) => begin === "elsewhere")).toHaveLength(2);
  });
});

describeField("fc23-mrtr-rounds", () => {
  const openRounds = (more: Partial<HostOptions>): Promise<Host> =>
    open("modern", more, { args: [fieldServer("fc23-mrtr-rounds")], env: {} });

  it("fifty model requests, a password and a script address: none of them is shown [FC-23] [FC-96]", async () => {
    const ann = person(() => BLUE);
    let sampled = 0;
    const sample = async () => ({ text: String((sampled += 1)) });
    const host = await openRounds({ ...ann, sampling: { models: ["house"], sample } });
    expect(await call(host, "abuse")).toMatchObject({ outcome: "protocol_error", code: "input_refused" });
    expect([ann.asked, sampled]).toEqual([[], 0]);
  });

  it("rounds are answered one after another, no more than ten questions, and what was not declared is refused", async () => {
    const ann = person(() => BLUE);
    const host = await openRounds(ann);
    expect(await call(host, "rounds", { n: 3 })).toMatchObject({ outcome: "completed" });
    expect(ann.asked.map(({ number }) => number)).toEqual([1, 2, 3]);
    ann.asked.splice(0);
    expect(await call(host, "forever")).toMatchObject({ outcome: "protocol_error" });
    expect(ann.asked).toHaveLength(10);
    expect(await call(host, "undeclared")).toMatchObject({ code: "input_refused" });
  });
});

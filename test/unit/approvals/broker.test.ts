import { describe, expect, it } from "vitest";
import { createManualClock, type ManualClock } from "../../../src/base/manual-clock.ts";
import { createSeededRandom } from "../../../src/base/random.ts";
import { PortcullisError } from "../../../src/errors.ts";
import { bindingOf } from "../../../src/approvals/ask.ts";
import { createBroker, type Ask, type Broker } from "../../../src/approvals/broker.ts";
import type { HostEvent } from "../../../src/telemetry/events.ts";
import { createMemoryStore, type MemoryStore } from "../../support/memory-documents.ts";

const MINUTE = 60_000;
const PERSON = { by: "ann", channel: "console" } as const;

function ask(more: Partial<Ask> = {}): Ask {
  return {
    group: "turn-1",
    principal: "local",
    server: "files",
    tool: "delete",
    callId: "call-1",
    exposedName: "files__delete",
    pin: "pin-1",
    grade: "L2",
    arguments: { path: "/a.txt" },
    say: null,
    items: null,
    confirm: null,
    title: null,
    origins: [],
    reasons: [],
    preview: null,
    needsPerson: false,
    session: null,
    ...more,
  };
}

interface World {
  readonly clock: ManualClock;
  readonly store: MemoryStore;
  readonly broker: Broker;
  readonly events: HostEvent[];
  /** A second process on the same store. */
  other(): Broker;
  /** The only approval that waits. */
  waiting(): Promise<string>;
}

let seed = 0;

function world(): World {
  const clock = createManualClock();
  const store = createMemoryStore(clock);
  const events: HostEvent[] = [];
  const make = (on: MemoryStore): Broker =>
    createBroker({
      store: on,
      clock,
      random: createSeededRandom((seed += 1)),
      seal: { seal: (text, context) => Buffer.from(`${context}|${text}`).toString("base64"), open: openWith },
      makeVisible: (text) => text,
      channels: ["terminal", "console"],
      emit: (event) => events.push(event),
    });
  const broker = make(store);
  return {
    clock,
    store,
    broker,
    events,
    other: () => make(store.as("two")),
    async waiting() {
      for (;;) {
        const [first, second] = await broker.list();
        if (second !== undefined) throw new Error("more than one waits");
        if (first !== undefined) return first.id;
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
  };
}

function openWith(sealed: string, context: string): string {
  const text = Buffer.from(sealed, "base64").toString();
  if (!text.startsWith(`${context}|`)) throw new Error("the seal is for something else");
  return text.slice(context.length + 1);
}

async function codeOf(promise: Promise<unknown>): Promise<string> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return error instanceof PortcullisError ? error.code : String(error);
}

const never = new AbortController().signal;

describe("an answer", () => {
  it("reaches the waiting call, used up, and tells who gave it by which channel", async () => {
    const { broker, waiting, events } = world();
    const asked = broker.request(ask(), never);
    const id = await waiting();
    expect(await broker.answer(id, { ...PERSON, verdict: "approve" })).toEqual({
      id,
      state: "approved",
      toType: null,
    });
    const answer = await asked;
    expect(answer).toMatchObject({
      kind: "approved",
      arguments: { path: "/a.txt" },
      approval: { binding: bindingOf(ask()), confirmations: 1 },
      confirmations: [{ by: "ann", channel: "console" }],
    });
    expect(await broker.list()).toEqual([]);
    expect(events.map(({ type }) => type)).toEqual(["approval.requested", "approval.answered"]);
  });

  it("of no carries its reason, once", async () => {
    const { broker, waiting } = world();
    const asked = broker.request(ask(), never);
    await broker.answer(await waiting(), { ...PERSON, verdict: "deny", reason: "not on a Friday" });
    expect(await asked).toMatchObject({ kind: "denied", by: "ann", reason: "not on a Friday" });
    const again = broker.request(ask(), never);
    await broker.answer(await waiting(), { ...PERSON, verdict: "approve" });
    expect(await again).toMatchObject({ kind: "approved" });
  });

  it("given from another process on the same store is seen", async () => {
    const { broker, other, waiting } = world();
    const asked = broker.request(ask(), never);
    await other().answer(await waiting(), { ...PERSON, verdict: "approve" });
    expect(await asked).toMatchObject({ kind: "approved" });
  });

  it("given by two people: the first wins", async () => {
    const { broker, other, waiting } = world();
    const asked = broker.request(ask(), never);
    const id = await waiting();
    const answers = await Promise.allSettled([
      broker.answer(id, { ...PERSON, verdict: "deny", reason: "no" }),
      other().answer(id, { by: "bob", channel: "terminal", verdict: "approve" }),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    const won = answers[0]?.status === "fulfilled" ? "denied" : "approved";
    expect((await asked).kind).toBe(won);
  });

  it("through a channel that the configuration does not name counts for nothing", async () => {
    const { broker, waiting } = world();
    const controller = new AbortController();
    const asked = broker.request(ask(), controller.signal);
    const id = await waiting();
    expect(await codeOf(broker.answer(id, { by: "agent", channel: "callback", verdict: "approve" }))).toBe(
      "policy_denied",
    );
    expect(await codeOf(broker.answer(id, { by: "agent", channel: "elicitation", verdict: "approve" }))).toBe(
      "policy_denied",
    );
    controller.abort(new Error("enough"));
    await expect(asked).rejects.toThrow("enough");
  });

  it("to nothing that waits is told as not found", async () => {
    const { broker } = world();
    expect(await codeOf(broker.answer("0000000000", { ...PERSON, verdict: "approve" }))).toBe("not_found");
  });
});

describe("time", () => {
  it("ends the wait after five minutes as a refusal", async () => {
    const { broker, clock, waiting, events } = world();
    const asked = broker.request(ask(), never);
    const id = await waiting();
    await clock.advance(5 * MINUTE - 1);
    expect(await broker.list()).toHaveLength(1);
    await clock.advance(1);
    expect(await asked).toEqual({ kind: "expired", approvalId: id });
    // Forgotten with everything in it.
    expect(await codeOf(broker.answer(id, { ...PERSON, verdict: "approve" }))).toBe("not_found");
    expect(events.at(-1)).toMatchObject({ type: "approval.answered", answer: "expired" });
    expect(clock.pending()).toBe(0);
  });

  it("also ends an approval that nobody used", async () => {
    const { broker, clock, waiting } = world();
    const controller = new AbortController();
    const asked = broker.request(ask(), controller.signal);
    const id = await waiting();
    controller.abort(new Error("gone"));
    await expect(asked).rejects.toThrow("gone");
    await broker.answer(id, { ...PERSON, verdict: "approve" });
    await clock.advance(5 * MINUTE);
    expect(await codeOf(broker.consume(id, ask()))).toBe("not_found");
  });
});

describe("a caller that is gone", () => {
  it("leaves its question, and the same call again uses the answer given meanwhile", async () => {
    const { broker, other, waiting, store } = world();
    const controller = new AbortController();
    const asked = broker.request(ask(), controller.signal);
    const id = await waiting();
    controller.abort(new Error("gone"));
    await expect(asked).rejects.toThrow("gone");
    await broker.answer(id, { ...PERSON, verdict: "approve" });
    expect(await other().request(ask({ group: "turn-2" }), never)).toMatchObject({
      kind: "approved",
      approvalId: id,
    });
    expect(store.watcherCount()).toBe(0);
  });

  it("leaves a question that the same call picks up instead of asking twice", async () => {
    const { broker, waiting } = world();
    const controller = new AbortController();
    const asked = broker.request(ask(), controller.signal);
    const id = await waiting();
    controller.abort(new Error("gone"));
    await expect(asked).rejects.toThrow("gone");
    const again = broker.request(ask(), never);
    expect(await waiting()).toBe(id);
    await broker.answer(id, { ...PERSON, verdict: "approve" });
    expect(await again).toMatchObject({ kind: "approved", approvalId: id });
  });

  it("and whose process died does not block the same call", async () => {
    const { broker, other, store, waiting } = world();
    const lost = other();
    const dead = lost.request(ask(), never);
    const id = await waiting();
    lost.close();
    expect(await codeOf(dead)).toBe("interrupted");
    store.kill("two");
    const again = broker.request(ask(), never);
    await broker.answer(id, { ...PERSON, verdict: "approve" });
    expect(await again).toMatchObject({ approvalId: id });
  });

  it("gets the refusal that was meant for it", async () => {
    const { broker, waiting } = world();
    const controller = new AbortController();
    const asked = broker.request(ask(), controller.signal);
    const id = await waiting();
    controller.abort(new Error("gone"));
    await expect(asked).rejects.toThrow("gone");
    await broker.answer(id, { ...PERSON, verdict: "deny", reason: "never" });
    expect(await broker.request(ask(), never)).toMatchObject({ kind: "denied", reason: "never" });
  });
});

describe("an approval is for one call", () => {
  it.each([
    ["other arguments", { arguments: { path: "/b.txt" } }],
    ["another principal", { principal: "mallory" }],
    ["a changed tool", { pin: "pin-2" }],
    ["another tool", { tool: "write" }],
    ["another server", { server: "other" }],
  ])("not for %s", async (_what, change) => {
    const { broker, waiting } = world();
    const controller = new AbortController();
    const asked = broker.request(ask(), controller.signal);
    const id = await waiting();
    controller.abort(new Error("gone"));
    await expect(asked).rejects.toThrow("gone");
    await broker.answer(id, { ...PERSON, verdict: "approve" });
    expect(await codeOf(broker.consume(id, ask(change)))).toBe("approval_stale");
    expect(await broker.consume(id, ask())).toMatchObject({ kind: "approved" });
    expect(await codeOf(broker.consume(id, ask()))).toBe("approval_stale");
  });

  it("so two equal calls side by side are two questions", async () => {
    const { broker } = world();
    const asked = [broker.request(ask(), never), broker.request(ask(), never)];
    let waiting = await broker.list();
    while (waiting.length < 2) waiting = await broker.list();
    expect(waiting.map(({ number }) => number)).toEqual([1, 2]);
    await broker.answer(waiting[0]?.id ?? "", { ...PERSON, verdict: "approve" });
    await broker.answer(waiting[1]?.id ?? "", { ...PERSON, verdict: "deny" });
    expect((await Promise.all(asked)).map(({ kind }) => kind)).toEqual(["approved", "denied"]);
  });
});

describe("groups and items", () => {
  it("twenty deletes of one turn on one screen: three vetoed, seventeen go on", async () => {
    const { broker } = world();
    const asked = Array.from({ length: 20 }, (_one, index) =>
      broker.request(ask({ arguments: { path: `/${index}` } }), never),
    );
    let waiting = await broker.list();
    while (waiting.length < 20) waiting = await broker.list();
    expect(waiting.map(({ number }) => number)).toEqual(
      Array.from({ length: 20 }, (_one, index) => index + 1),
    );
    const reports = await broker.answerGroup("turn-1", {
      ...PERSON,
      seen: waiting.map(({ id }) => id),
      without: [2, 7, 19],
    });
    expect(reports).toHaveLength(20);
    const answers = await Promise.all(asked);
    expect(answers.filter(({ kind }) => kind === "approved")).toHaveLength(17);
    expect(
      answers.map(({ kind }) => kind).flatMap((kind, index) => (kind === "denied" ? [index + 1] : [])),
    ).toEqual([2, 7, 19]);
  });

  it("a group answer touches only what was seen, and no L3", async () => {
    const { broker } = world();
    const controller = new AbortController();
    const asked = [1, 2, 3].map((n) =>
      broker.request(ask({ arguments: { n }, grade: n === 3 ? "L3" : "L2" }), controller.signal),
    );
    let waiting = await broker.list();
    while (waiting.length < 3) waiting = await broker.list();
    const seen = waiting.filter(({ number }) => number !== 2).map(({ id }) => id);
    const reports = await broker.answerGroup("turn-1", { ...PERSON, seen, without: [] });
    expect(reports[1]).toMatchObject({ error: { code: "confirmation_needed" } });
    expect(await asked[0]).toMatchObject({ kind: "approved" });
    expect((await broker.list()).map(({ number }) => number)).toEqual([2, 3]);
    controller.abort(new Error("enough"));
    await Promise.allSettled(asked);
  });

  it("vetoed items leave the arguments, and the approval is bound to what is left", async () => {
    const { broker, waiting } = world();
    const ids = Array.from({ length: 20 }, (_one, index) => `id-${index}`);
    const request = ask({ arguments: { deep: { ids }, force: true }, items: "deep.ids" });
    const asked = broker.request(request, never);
    const id = await waiting();
    expect((await broker.list())[0]?.items?.slice(0, 2)).toEqual([
      { number: 1, text: "id-0", value: "id-0" },
      { number: 2, text: "id-1", value: "id-1" },
    ]);
    await broker.answer(id, { ...PERSON, verdict: "approve", without: [0, 5, 19] });
    const answer = await asked;
    const left = { deep: { ids: ids.filter((_one, index) => ![0, 5, 19].includes(index)) }, force: true };
    expect(answer).toMatchObject({ kind: "approved", arguments: left, without: [0, 5, 19] });
    expect(answer.kind === "approved" && answer.approval.binding).toEqual(
      bindingOf({ ...request, arguments: left }),
    );
  });

  it("taking out everything is refusing", async () => {
    const { broker, waiting } = world();
    const asked = broker.request(ask({ arguments: { ids: [1, 2] }, items: "ids" }), never);
    await broker.answer(await waiting(), { ...PERSON, verdict: "approve", without: [0, 1] });
    expect(await asked).toMatchObject({ kind: "denied" });
  });

  it("an item that is not there, or items where there are none, is a mistake of the one who answers", async () => {
    const { broker, waiting } = world();
    const controller = new AbortController();
    const asked = broker.request(ask({ arguments: { ids: [1, 2] }, items: "ids" }), controller.signal);
    expect(
      await codeOf(broker.answer(await waiting(), { ...PERSON, verdict: "approve", without: [2] })),
    ).toBe("usage");
    controller.abort(new Error("enough"));
    await expect(asked).rejects.toThrow("enough");
  });
});

describe("L3", () => {
  it("takes two confirmations, the second by typing the tool's name", async () => {
    const { broker, waiting } = world();
    const asked = broker.request(ask({ grade: "L3" }), never);
    const id = await waiting();
    expect(await broker.answer(id, { ...PERSON, verdict: "approve" })).toEqual({
      id,
      state: "pending",
      toType: "delete",
    });
    expect(await broker.answer(id, { ...PERSON, verdict: "approve" })).toEqual({
      id,
      state: "pending",
      toType: "delete",
    });
    expect(await codeOf(broker.answer(id, { ...PERSON, verdict: "approve", typed: "delete all" }))).toBe(
      "confirmation_needed",
    );
    await broker.answer(id, { ...PERSON, by: "bob", verdict: "approve", typed: " delete " });
    expect(await asked).toMatchObject({
      kind: "approved",
      approval: { confirmations: 2 },
      confirmations: [{ by: "ann" }, { by: "bob" }],
    });
  });

  it("or the argument that `confirm` names", async () => {
    const { broker, waiting } = world();
    const asked = broker.request(
      ask({ grade: "L3", arguments: { amount: 1250, to: "x" }, confirm: "amount" }),
      never,
    );
    const id = await waiting();
    expect((await broker.list())[0]?.toType).toBe("1250");
    expect(await codeOf(broker.answer(id, { ...PERSON, verdict: "approve", typed: "125" }))).toBe(
      "confirmation_needed",
    );
    await broker.answer(id, { ...PERSON, verdict: "approve", typed: "1250" });
    expect(await asked).toMatchObject({ kind: "approved", approval: { confirmations: 2 } });
  });
});

describe("what lies in the store", () => {
  it("holds no argument in the clear, and a denied one none at all", async () => {
    const { broker, store, waiting } = world();
    const secret = "4111 1111 1111 1111";
    const asked = broker.request(
      ask({ grade: "L3", arguments: { card: secret }, confirm: "card", say: "Charge {card}" }),
      never,
    );
    const id = await waiting();
    expect(JSON.stringify(await store.documents.list("approvals"))).not.toContain(secret);
    await broker.answer(id, { ...PERSON, verdict: "deny" });
    await asked;
    expect((await store.documents.get("approvals", `a/${id}`))?.value).toMatchObject({ sealed: null });
  });

  it("shows the next one against the last approved call of the tool", async () => {
    const { broker, waiting } = world();
    const first = broker.request(ask({ arguments: { path: "/a", mode: "soft" } }), never);
    await broker.answer(await waiting(), { ...PERSON, verdict: "approve" });
    await first;
    const controller = new AbortController();
    const second = broker.request(ask({ arguments: { path: "/b", all: true } }), controller.signal);
    await waiting();
    expect(
      (await broker.list())[0]?.details.map(({ name, change, before }) => [name, change, before]),
    ).toEqual([
      ["path", "changed", "/a"],
      ["all", "new", null],
      ["mode", "removed", "soft"],
    ]);
    controller.abort(new Error("enough"));
    await expect(second).rejects.toThrow("enough");
  });
});

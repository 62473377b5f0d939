import { describe, expect, it } from "vitest";
import { createBroker, type Ask } from "../../../src/approvals/broker.ts";
import {
  createGrants,
  GRANT_LIMITS,
  type GrantChange,
  type GrantRequest,
} from "../../../src/approvals/grants.ts";
import { createManualClock } from "../../../src/base/manual-clock.ts";
import { createSeededRandom } from "../../../src/base/random.ts";
import { PortcullisError } from "../../../src/errors.ts";
import { createMemoryStore } from "../../support/memory-documents.ts";

const CALL = { principal: "local", server: "s", tool: "t", digest: "d1", pin: "p1" };
const seal = {
  seal: (text: string) => `sealed:${Buffer.from(text).toString("base64")}`,
  open: (text: string) => Buffer.from(text.slice(7), "base64").toString(),
};

function world() {
  const clock = createManualClock();
  const store = createMemoryStore(clock);
  const changes: GrantChange[] = [];
  const state = { isOn: true };
  const random = createSeededRandom(3);
  const grants = createGrants({
    documents: store.documents,
    clock,
    random,
    seal,
    isOn: () => state.isOn,
    onChange: (change) => changes.push(change),
  });
  const give = (more: Partial<GrantRequest> = {}) =>
    grants.give({
      call: CALL,
      grade: "L2",
      needsPerson: false,
      scope: "hour",
      session: "c1",
      by: "ann",
      channel: "console",
      sentence: "Write /secret",
      ...more,
    });
  return { clock, store, grants, give, changes, state, random };
}

async function codeOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => "none",
    (error: unknown) => (error instanceof PortcullisError ? error.code : String(error)),
  );
}

describe("a grant", () => {
  it.each([
    ["hour", { digest: "d2" }, "c2", true],
    ["session", { digest: "d2" }, "c1", true],
    ["session", {}, "c2", false],
    ["session", {}, null, false],
    ["arguments", {}, "c2", true],
    ["arguments", { digest: "d2" }, "c1", false],
    ["hour", { principal: "mallory" }, "c1", false],
    ["hour", { server: "other" }, "c1", false],
    ["hour", { tool: "other" }, "c1", false],
    ["hour", { pin: "p2" }, "c1", false],
  ] as const)("of scope %s, call %j in %j: %s", async (scope, change, session, covers) => {
    const { grants, give } = world();
    const { id } = await give({ scope });
    const found = await grants.find({ ...CALL, ...change }, session);
    expect(found?.id).toBe(covers ? id : undefined);
  });

  it("is void for good once another pin is seen", async () => {
    const { grants, give, changes } = world();
    await give();
    expect(await grants.find({ ...CALL, pin: "p2" }, "c1")).toBeUndefined();
    expect(await grants.find(CALL, "c1")).toBeUndefined();
    expect(changes.map(({ kind }) => kind)).toEqual(["given", "void"]);
  });

  it.each(["hour", "session", "arguments"] as const)(
    "of scope %s ends with its time and with its uses",
    async (scope) => {
      const { clock, grants, give } = world();
      const { id } = await give({ scope });
      for (let use = 0; use < GRANT_LIMITS[scope].uses; use += 1) expect(await grants.use(id)).toBe(true);
      expect(await grants.use(id)).toBe(false);
      expect(await grants.find(CALL, "c1")).toBeUndefined();
      const second = await give({ scope });
      await clock.advance(GRANT_LIMITS[scope].lifeMs - 1);
      expect(await grants.find(CALL, "c1")).toMatchObject({ id: second.id });
      await clock.advance(1);
      expect(await grants.find(CALL, "c1")).toBeUndefined();
      expect(await grants.use(second.id)).toBe(false);
    },
  );

  it("counts each use once, however many take it at a time", async () => {
    const { grants, give } = world();
    const { id, usesLeft } = await give({ scope: "arguments" });
    const taken = await Promise.all(Array.from({ length: usesLeft + 10 }, () => grants.use(id)));
    expect(taken.filter(Boolean)).toHaveLength(usesLeft);
  });

  it("is listed with what was approved, kept sealed, and revocable", async () => {
    const { grants, give, store, changes } = world();
    const { id } = await give();
    expect(JSON.stringify(await store.documents.list("grants"))).not.toContain("secret");
    expect(await grants.list()).toMatchObject([{ id, sentence: "Write /secret", by: "ann" }]);
    expect(await grants.revoke(id, "bob")).toBe(true);
    expect(await grants.revoke(id, "bob")).toBe(false);
    expect(await grants.find(CALL, "c1")).toBeUndefined();
    expect(changes.at(-1)).toMatchObject({ kind: "revoked", by: "bob" });
  });

  it("is never given for L3, for what needs a person, or while they are off; turning them off ends them", async () => {
    const { grants, give, state } = world();
    expect(await codeOf(give({ grade: "L3" }))).toBe("policy_denied");
    expect(await codeOf(give({ needsPerson: true }))).toBe("policy_denied");
    expect(await codeOf(give({ scope: "session", session: null }))).toBe("usage");
    const { id } = await give();
    state.isOn = false;
    expect(await codeOf(give())).toBe("policy_denied");
    expect(await grants.find(CALL, "c1")).toBeUndefined();
    expect(await grants.use(id)).toBe(false);
    expect(await grants.list()).toHaveLength(1);
  });

  it("prefers the narrowest of several", async () => {
    const { grants, give } = world();
    await give({ scope: "hour" });
    await give({ scope: "session" });
    const { id } = await give({ scope: "arguments" });
    expect((await grants.find(CALL, "c1"))?.id).toBe(id);
  });
});

describe("a grant together with an answer", () => {
  const ask: Ask = {
    callId: "call-1",
    group: "g",
    principal: "local",
    server: "s",
    tool: "t",
    exposedName: "s__t",
    pin: "p1",
    grade: "L2",
    arguments: { path: "/a" },
    say: "Write {path}",
    items: null,
    confirm: null,
    title: null,
    origins: [],
    reasons: [],
    preview: null,
    needsPerson: false,
    session: "c1",
  };

  async function asked(
    more: Partial<Ask>,
    answer: { grant: "hour" | "arguments" | "session"; verdict?: "deny" },
  ) {
    const { store, clock, random, grants, state } = world();
    const broker = createBroker({
      store,
      clock,
      random,
      seal,
      makeVisible: (text) => text,
      channels: ["console"],
      grants,
    });
    const controller = new AbortController();
    const request = broker.request({ ...ask, ...more }, controller.signal);
    let waiting = await broker.list();
    while (waiting.length === 0) waiting = await broker.list();
    const id = waiting[0]?.id ?? "";
    const outcome = await broker
      .answer(id, { verdict: "approve", by: "ann", channel: "console", ...answer })
      .then(
        (report) => report.grantId ?? "none",
        (error: unknown) => (error instanceof PortcullisError ? error.code : String(error)),
      );
    const left = await broker.list();
    controller.abort(new Error("enough"));
    await request.catch(() => undefined);
    return { outcome, left, grants, state, view: waiting[0] };
  }

  it("is given with the approval and covers the next call", async () => {
    const { outcome, grants, view } = await asked({}, { grant: "hour" });
    expect(view?.mayGrant).toBe(true);
    expect((await grants.list())[0]).toMatchObject({ id: outcome, sentence: "Write /a" });
    expect(await grants.find({ ...CALL, digest: "other" }, null)).toMatchObject({ id: outcome });
  });

  it.each([
    ["L3", { grade: "L3" }, { grant: "hour" }, "policy_denied"],
    ["a question that needs a person", { needsPerson: true }, { grant: "hour" }, "policy_denied"],
    ["a call without a session", { session: null }, { grant: "session" }, "usage"],
    ["a refusal", {}, { grant: "hour", verdict: "deny" }, "usage"],
  ] as const)("is refused for %s, and the question stays open", async (_what, more, answer, code) => {
    const { outcome, left, grants } = await asked(more, answer);
    expect(outcome).toBe(code);
    expect(left).toHaveLength(1);
    expect(await grants.list()).toEqual([]);
  });
});

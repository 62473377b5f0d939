import { describe, expect, it } from "vitest";
import {
  idleState,
  nextStep,
  transition,
  type ConnectionEvent,
  type ConnectionState,
  type ReconnectPlan,
} from "../../../src/connection/state.ts";

const stdio: ReconnectPlan = { maxRestarts: 3, delayMs: (n) => 1_000 * 2 ** (n - 1), whenExhausted: "dead" };
const http: ReconnectPlan = {
  maxRestarts: 4,
  delayMs: (n, after) => Math.max(after, 1_000 * 2 ** (n - 1)),
  whenExhausted: "idle",
};

type Failed = Extract<ConnectionEvent, { readonly type: "failed" }>;

const failed = (reason = "exit code 1", more: Partial<Failed> = {}): ConnectionEvent => ({
  type: "failed",
  reason,
  code: "process_exited",
  retryAfterMs: 0,
  starts: 1,
  isFinal: false,
  ...more,
});

function play(events: readonly ConnectionEvent[], plan = stdio, from: ConnectionState = idleState(0)) {
  const effects: string[] = [];
  let state = from;
  for (const event of events) {
    const step = transition(state, event, plan, 0);
    state = step.state;
    effects.push(
      ...step.effects.map((effect) => (effect.type === "wait" ? `wait ${effect.delayMs}` : effect.type)),
    );
  }
  return { state, effects };
}

describe("transition", () => {
  it("starts when wanted, once", () => {
    expect(play([{ type: "wanted" }, { type: "wanted" }])).toMatchObject({
      state: { kind: "connecting" },
      effects: ["start"],
    });
  });

  it("counts nothing against a server where our own state could not be written: the next call tries again", () => {
    const unwritten = failed("the disk is full", { code: "state_unusable" });
    const once = [{ type: "wanted" }, unwritten] as const;
    const { state, effects } = play([...once, ...once, ...once, ...once, ...once]);
    expect(state).toMatchObject({
      kind: "idle",
      failures: 0,
      code: "state_unusable",
      reason: "the disk is full",
    });
    expect(effects).toEqual(Array.from({ length: 5 }, () => ["start", "end", "refuse-waiters"]).flat());
  });

  it("restarts after 1, 2, 4 s, at most three times, then is dead with the last reason until asked", () => {
    const round: ConnectionEvent[] = [failed(), { type: "waited" }];
    const { state, effects } = play([
      { type: "wanted" },
      ...round,
      ...round,
      ...round,
      failed("exit code 7"),
    ]);
    expect(effects).toEqual([
      "start",
      "end",
      "wait 1000",
      "start",
      "end",
      "wait 2000",
      "start",
      "end",
      "wait 4000",
      "start",
      "end",
      "refuse-waiters",
    ]);
    expect(state).toMatchObject({ kind: "dead", reason: "gave up after 4 failures: exit code 7" });
    expect(play([{ type: "wanted" }], stdio, state).state.kind).toBe("dead");
    expect(play([{ type: "asked", reason: "reconnect" }], stdio, state)).toMatchObject({
      state: { kind: "connecting", failures: 0 },
      effects: ["start"],
    });
  });

  it("a handshake does not clear the count, a minute of health does", () => {
    const crash: ConnectionEvent[] = [{ type: "connected", starts: 1 }, failed(), { type: "waited" }];
    expect(play([{ type: "wanted" }, ...crash, ...crash]).state.failures).toBe(2);
    expect(
      play([{ type: "wanted" }, ...crash, { type: "connected", starts: 1 }, { type: "proved-healthy" }]).state
        .failures,
    ).toBe(0);
  });

  it("counts each process that was started for nothing", () => {
    const twice = failed("left because of the probe", { starts: 2 });
    const once: ConnectionEvent[] = [failed(), { type: "waited" }];
    const { state, effects } = play([{ type: "wanted" }, twice, { type: "waited" }, ...once, failed()]);
    expect(effects.filter((effect) => effect === "start")).toHaveLength(3);
    expect(state).toMatchObject({ kind: "dead", reason: "gave up after 4 failures: exit code 1" });
  });

  it("a start that took two processes leaves one restart less, until a minute of health", () => {
    const shy: ConnectionEvent[] = [{ type: "wanted" }, { type: "connected", starts: 2 }];
    expect(play(shy).state).toMatchObject({ kind: "ready", failures: 1 });
    expect(play([...shy, { type: "proved-healthy" }]).state.failures).toBe(0);
  });

  it("what only a person can mend is dead at once, and says what the server said last", () => {
    const { state, effects } = play([
      { type: "wanted" },
      failed("no such program", { code: "spawn_failed", isFinal: true, lastWords: "sh: nope" }),
    ]);
    expect(state).toMatchObject({ kind: "dead", reason: "no such program", lastWords: "sh: nope" });
    expect(effects).toEqual(["start", "end", "refuse-waiters"]);
  });

  it("misses of a server that has calls running degrade it, and end it only when none runs any more", () => {
    const missed = (isBusy: boolean): ConnectionEvent => ({
      type: "missed",
      reason: "no answer",
      code: "timed_out",
      isBusy,
    });
    const up: ConnectionEvent[] = [{ type: "wanted" }, { type: "connected", starts: 1 }];
    const busy = play([...up, ...Array.from({ length: 6 }, () => missed(true))]).state;
    expect(busy).toMatchObject({ kind: "degraded", misses: 6 });
    expect(nextStep(busy, 0)).toBe("is connected anew after one more miss");
    expect(play([missed(false)], stdio, busy).state.kind).toBe("backing-off");
  });

  it("resuming a paused one leaves it idle without the reason", () => {
    const paused: ConnectionEvent[] = [
      { type: "wanted" },
      { type: "connected", starts: 1 },
      { type: "paused" },
    ];
    for (const rest of [
      [{ type: "ended" }, { type: "resumed" }],
      [{ type: "resumed" }, { type: "ended" }],
    ] as const) {
      const { state } = play([...paused, ...rest]);
      expect(state).toMatchObject({ kind: "idle", code: null, reason: "resumed" });
    }
  });

  it("HTTP is idle after four tries, and the next call tries once more", () => {
    const round: ConnectionEvent[] = [failed(), { type: "waited" }];
    const { state } = play([{ type: "wanted" }, ...round, ...round, ...round, ...round, failed()], http);
    expect(state.kind).toBe("idle");
    const again = play([{ type: "wanted" }, failed()], http, state);
    expect(again.state.kind).toBe("idle");
    expect(again.effects).toEqual(["start", "end", "refuse-waiters"]);
  });

  it("obeys what the peer asked to wait", () => {
    expect(play([{ type: "wanted" }, failed("503", { retryAfterMs: 7_000 })], http).effects).toContain(
      "wait 7000",
    );
  });

  it("one or two missed beats degrade, three make it anew, a beat heals", () => {
    const missed: ConnectionEvent = {
      type: "missed",
      reason: "no answer to ping",
      code: "timed_out",
      isBusy: false,
    };
    const up: ConnectionEvent[] = [{ type: "wanted" }, { type: "connected", starts: 1 }];
    expect(play([...up, missed, missed]).state).toMatchObject({ kind: "degraded", misses: 2 });
    expect(play([...up, missed, missed, { type: "beat" }]).state.kind).toBe("ready");
    expect(play([...up, missed, missed, missed]).state.kind).toBe("backing-off");
  });

  it.each([
    ["incompatible", "incompatible"],
    ["auth_required", "auth-required"],
  ] as const)("%s ends it and is not tried again by itself", (code, kind) => {
    const { state, effects } = play([
      { type: "wanted" },
      failed("no", { code }),
      { type: "waited" },
      { type: "wanted" },
    ]);
    expect(state.kind).toBe(kind);
    expect(effects).toEqual(["start", "end", "refuse-waiters"]);
  });

  it("reconnect of a living one ends it first, then starts", () => {
    const { state, effects } = play([
      { type: "wanted" },
      { type: "connected", starts: 1 },
      { type: "asked", reason: "reconnect" },
      { type: "ended" },
    ]);
    expect(state.kind).toBe("connecting");
    expect(effects).toEqual(["start", "watch-health", "end", "start"]);
  });

  it.each<[string, ConnectionEvent]>([
    ["asked to connect anew", { type: "asked", reason: "reconnect" }],
    ["not used for a while", { type: "unused" }],
  ])("paused while it ends because it was %s: it does not come back by itself", (_name, event) => {
    const up: ConnectionEvent[] = [
      { type: "wanted" },
      { type: "connected", starts: 1 },
      event,
      { type: "paused" },
    ];
    const { state, effects } = play([...up, { type: "ended" }]);
    expect(state).toMatchObject({ kind: "idle", code: "server_paused" });
    expect(effects.filter((effect) => effect === "start")).toHaveLength(1);
  });

  it("close in any state ends in closed, and nothing opens it again", () => {
    const { state } = play([
      { type: "wanted" },
      failed(),
      { type: "close" },
      { type: "ended" },
      { type: "asked", reason: "reconnect" },
      { type: "wanted" },
    ]);
    expect(state.kind).toBe("closed");
  });

  it("says what happens next", () => {
    const { state } = play([{ type: "wanted" }, failed()]);
    expect(nextStep(state, 400)).toBe("tries again in 1 s");
  });
});

import fc from "fast-check";
import { expect, it } from "vitest";
import {
  idleState,
  isOpen,
  transition,
  type ConnectionEvent,
  type ConnectionState,
  type ReconnectPlan,
} from "../../src/connection/state.ts";

const events: readonly ConnectionEvent[] = [
  { type: "wanted" },
  { type: "asked", reason: "reconnect" },
  { type: "connected", starts: 1 },
  { type: "connected", starts: 2 },
  { type: "failed", reason: "lost", code: "connection_lost", retryAfterMs: 0, starts: 1, isFinal: false },
  { type: "failed", reason: "twice", code: "process_exited", retryAfterMs: 0, starts: 2, isFinal: false },
  { type: "failed", reason: "gone", code: "spawn_failed", retryAfterMs: 0, starts: 1, isFinal: true },
  { type: "failed", reason: "old", code: "incompatible", retryAfterMs: 0, starts: 1, isFinal: false },
  { type: "beat" },
  { type: "missed", reason: "silent", code: "timed_out", isBusy: false },
  { type: "missed", reason: "silent", code: "timed_out", isBusy: true },
  { type: "unauthorized", reason: "401", code: "auth_required" },
  { type: "waited" },
  { type: "proved-healthy" },
  { type: "unused" },
  { type: "paused" },
  { type: "resumed" },
  { type: "close" },
  { type: "ended" },
];

const plans = fc.record({
  maxRestarts: fc.integer({ min: 0, max: 4 }),
  whenExhausted: fc.constantFrom("dead" as const, "idle" as const),
});

/**
 * The driver's view of the world: effects open and end the one transport, and `ended` follows `end`. Whatever comes in
 * whatever order, there is never a second start on top of a living one, and closing always ends.
 */
it("never starts twice, never waits in a state that cannot be left by itself, always closes", () => {
  fc.assert(
    fc.property(plans, fc.array(fc.constantFrom(...events), { maxLength: 60 }), (chosen, sequence) => {
      const plan: ReconnectPlan = { ...chosen, delayMs: () => 1_000 };
      let state: ConnectionState = idleState(0);
      let isUp = false;
      let isWaiting = false;
      const apply = (event: ConnectionEvent): void => {
        const step = transition(state, event, plan, 0);
        state = step.state;
        for (const effect of step.effects) {
          if (effect.type === "end") isUp = false;
          if (effect.type === "start") {
            expect(isUp).toBe(false);
            isUp = true;
          }
          if (effect.type === "wait") isWaiting = true;
          if (effect.type === "stop-waiting") isWaiting = false;
        }
      };
      for (const event of sequence) {
        if (event.type === "ended" && isUp) continue;
        if (event.type === "waited") isWaiting = false;
        apply(event);
        expect(isOpen(state)).toBe(isUp);
        if (state.kind === "backing-off") expect(isWaiting).toBe(true);
        expect(state.failures).toBeLessThanOrEqual(plan.maxRestarts);
      }
      apply({ type: "close" });
      apply({ type: "ended" });
      expect(state.kind).toBe("closed");
      expect(isUp).toBe(false);
    }),
    { numRuns: 2_000 },
  );
});

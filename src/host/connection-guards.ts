/** Breakers and bulkheads by connection. Breaker states are shared through the store: written on change, adopted when others change them. */
import type { Clock } from "../base/clock.ts";
import { isJsonObject, type JsonValue } from "../base/json.ts";
import type { Config } from "../config/compiled.ts";
import { createBreaker, type Breaker, type BreakerState } from "../resilience/breaker.ts";
import { createHold, type Hold } from "../resilience/hold.ts";
import { createLimiter, createRateLimiter, type Limiter } from "../resilience/limiter.ts";
import type { Store } from "../store/store.ts";
import { connectionId, type ConnectionKey } from "../vocabulary.ts";
import type { ConnectionGuards } from "./core.ts";

export interface SharedGuards extends ConnectionGuards {
  /** Adopts what the store holds: at start, and whenever it may have changed. */
  load(): Promise<void>;
}

/** Calls that may wait for one connection; beyond it they are told at once. */
const QUEUE_PER_CONNECTION = 256;
const QUEUE_OF_HOST = 1_024;

export function createConnectionGuards(
  { documents }: Pick<Store, "documents">,
  clock: Clock,
  config: () => Config,
  onFault: (error: unknown) => void,
): SharedGuards {
  const breakers = new Map<string, Breaker>();
  const holds = new Map<string, Hold>();
  const limiters = new Map<string, { readonly limiter: Limiter; isExclusive: boolean }>();
  const known = new Map<string, BreakerState>();
  const whole = createLimiter("this host", () => config().limits.concurrency, QUEUE_OF_HOST);

  const breaker = (key: ConnectionKey): Breaker => {
    const id = connectionId(key);
    const made = breakers.get(id);
    if (made !== undefined) return made;
    const initial = known.get(id);
    const created = createBreaker({
      clock,
      name: key.server,
      ...(initial === undefined ? {} : { initial }),
      onChange: (state) => {
        // Single failures stay here; what others must know is that it opened, probes, or closed.
        if (state.kind === "closed" && state.failures > 0) return;
        documents.put("breakers", id, { ...state }, { durable: false }).catch(onFault);
      },
    });
    breakers.set(id, created);
    return created;
  };

  const limiterOf = (
    key: ConnectionKey,
    isExclusive: boolean,
  ): { readonly limiter: Limiter; isExclusive: boolean } => {
    const places = (): number =>
      entry.isExclusive ? 1 : (config().servers.get(key.server)?.limits.concurrency ?? 1);
    const entry = { limiter: createLimiter(key.server, places, QUEUE_PER_CONNECTION), isExclusive };
    return entry;
  };

  const hold = (key: ConnectionKey): Hold => {
    const id = connectionId(key);
    const made = holds.get(id) ?? createHold(clock, key.server);
    holds.set(id, made);
    return made;
  };

  return {
    breaker,
    hold,
    forgive(key) {
      breaker(key).reset();
      hold(key).clear();
    },
    limiters(key, isExclusive) {
      const id = connectionId(key);
      const entry = limiters.get(id) ?? limiterOf(key, isExclusive);
      entry.isExclusive = isExclusive;
      limiters.set(id, entry);
      return [entry.limiter, whole];
    },
    callsOf(key) {
      const limiter = limiters.get(connectionId(key))?.limiter;
      return { running: limiter?.running ?? 0, waiting: limiter?.waiting ?? 0 };
    },
    takesCalls(key) {
      const { state } = breaker(key);
      return state.kind === "closed" || (state.kind === "open" && clock.now() >= state.untilMs);
    },
    rate: createRateLimiter(clock),
    async load() {
      for (const { key, value } of await documents.list("breakers")) {
        const state = readState(value);
        if (state === undefined) continue;
        known.set(key, state);
        const made = breakers.get(key);
        // A probe of another process is its own; only a verdict is taken over.
        if (made !== undefined && state.kind !== "half-open" && made.state.kind !== state.kind)
          made.adopt(state);
      }
    },
  };
}

function readState(value: JsonValue): BreakerState | undefined {
  if (!isJsonObject(value)) return undefined;
  const { kind, failures, untilMs, probeSinceMs } = value;
  if (typeof failures !== "number") return undefined;
  if (kind === "closed") return { kind, failures };
  if (kind === "open" && typeof untilMs === "number") return { kind, failures, untilMs };
  return kind === "half-open" && typeof probeSinceMs === "number"
    ? { kind, failures, probeSinceMs }
    : undefined;
}

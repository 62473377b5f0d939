/**
 * Which answers were given from the last good result while their server could not be reached, and when it is worth fetching
 * them again: once, when the server takes calls again. Bounded per connection; the newest answer of the same call counts.
 */
import type { Clock } from "../base/clock.ts";
import type { HostEvent } from "../telemetry/events.ts";
import { connectionId, type ConnectionKey } from "../vocabulary.ts";

type Recovered = Extract<HostEvent, { readonly type: "server.recovered" }>;
type StaleGiven = Recovered["stale"][number];

export interface Recoveries {
  /** A stale answer was given. @param identity the same for the same call: principal, tool and arguments. */
  gaveStale(key: ConnectionKey, identity: string, given: StaleGiven): void;
  /** A call was answered: it takes calls. */
  served(key: ConnectionKey): void;
  /** The connection shows life; whether calls are let through is asked. */
  lives(key: ConnectionKey): void;
}

export interface RecoveriesOptions {
  readonly clock: Clock;
  readonly emit: (event: HostEvent) => void;
  /** Whether a call would be let through now. */
  readonly takesCalls: (key: ConnectionKey) => boolean;
}

/** Answers remembered per connection. */
const MAX_GIVEN = 100;

export function createRecoveries({ clock, emit, takesCalls }: RecoveriesOptions): Recoveries {
  const given = new Map<string, Map<string, StaleGiven>>();

  const tell = (key: ConnectionKey): void => {
    const id = connectionId(key);
    const stale = given.get(id);
    if (stale === undefined) return;
    given.delete(id);
    emit({ type: "server.recovered", at: clock.now(), key, stale: [...stale.values()] });
  };

  return {
    gaveStale(key, identity, answer) {
      const id = connectionId(key);
      const known = given.get(id) ?? new Map<string, StaleGiven>();
      given.set(id, known);
      known.delete(identity);
      known.set(identity, answer);
      const [oldest] = known.keys();
      if (known.size > MAX_GIVEN && oldest !== undefined) known.delete(oldest);
    },
    served: tell,
    lives(key) {
      if (given.has(connectionId(key)) && takesCalls(key)) tell(key);
    },
  };
}

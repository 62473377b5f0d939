/** What the parts of a host share while it is open: every module, made once by the composition root (`host.ts`). */
import type { Audit } from "../audit/trail.ts";
import type { Broker } from "../approvals/broker.ts";
import type { Grants } from "../approvals/grants.ts";
import type { Clock } from "../base/clock.ts";
import type { Random } from "../base/random.ts";
import type { Roster } from "../base/roster.ts";
import type { Config, ServerConfig } from "../config/compiled.ts";
import type { Pool } from "../connection/pool.ts";
import { PortcullisError } from "../errors.ts";
import type { Registry } from "../registry/registry.ts";
import type { Schemas } from "../registry/schemas.ts";
import type { Breaker } from "../resilience/breaker.ts";
import type { Hold } from "../resilience/hold.ts";
import type { Limiter, RateLimiter } from "../resilience/limiter.ts";
import type { Channels } from "../results/channels.ts";
import type { LastGood } from "../results/last-good.ts";
import type { Rests } from "../results/rests.ts";
import type { Store } from "../store/store.ts";
import type { HostEvent } from "../telemetry/events.ts";
import type { Redactor } from "../text/redact.ts";
import { SHARED_CREDENTIAL, type ConnectionKey, type Principal, type TraceContext } from "../vocabulary.ts";
import type { Inputs } from "./inputs.ts";
import type { HostSession } from "./open-session.ts";
import type { Recoveries } from "./recoveries.ts";
import type { Undos } from "./undos.ts";

/** What the end of a host tells of a call that it cut off. */
export interface Running {
  readonly callId: string;
  readonly server: string | null;
  readonly tool: string;
}

export interface Core {
  /** The configuration as it is now: a reload replaces it. */
  readonly config: () => Config;
  readonly clock: Clock;
  readonly random: Random;
  readonly store: Store;
  readonly registry: Registry;
  readonly schemas: Schemas;
  readonly pool: Pool<HostSession>;
  readonly guards: ConnectionGuards;
  readonly audit: Audit;
  readonly broker: Broker;
  readonly channels: Channels;
  readonly redactor: Redactor;
  readonly pauses: { isPaused(server: string): boolean };
  readonly lists: {
    /** The lists of a connection are about to be used: what is stale is asked for again in the background. */
    used(key: ConnectionKey): void;
    /** Waits, for a while, where they were announced as changed: see `Catalogs.settle`. */
    settle(key: ConnectionKey, signal: AbortSignal): Promise<void> | undefined;
  };
  readonly recoveries: Recoveries;
  readonly lastGood: LastGood;
  readonly rests: Rests;
  readonly grants: Grants;
  readonly undos: Undos;
  /** Who answers what servers ask, and which connection serves whom. */
  readonly inputs: Inputs;
  readonly emit: (event: HostEvent) => void;
  /** Whether anybody listens to single calls: what each would tell is put together only then. */
  readonly hearsCalls: () => boolean;
  /** The trace that requests of a call belong to, where somebody keeps one. */
  readonly traceOf: (callId: string) => TraceContext | undefined;
  /** Calls, reads and prompts from their first step to their last. */
  readonly running: Roster<() => Running>;
  /** Aborted, with the reason for callers, when the host takes no calls any more. */
  readonly draining: AbortSignal;
  /** Aborted when what still runs is cut off. */
  readonly signal: AbortSignal;
}

/** What stands in front of each connection, and of the whole host. */
export interface ConnectionGuards {
  breaker(key: ConnectionKey): Breaker;
  /** What the server asked for by `Retry-After`. */
  hold(key: ConnectionKey): Hold;
  /** Forgets what went wrong: a person asked, or another server stands behind the key. */
  forgive(key: ConnectionKey): void;
  /** Whether the breaker would let a call through now. */
  takesCalls(key: ConnectionKey): boolean;
  /** That of the connection, then that of the host. @param isExclusive it runs one call at a time. */
  limiters(key: ConnectionKey, isExclusive: boolean): readonly [Limiter, Limiter];
  /** How many calls of a connection hold a place, and how many wait for one. */
  callsOf(key: ConnectionKey): { readonly running: number; readonly waiting: number };
  readonly rate: RateLimiter;
}

/** The server of that name. @throws PortcullisError `unknown_server`: a server that is not in the configuration does not exist. */
export function requireServer(config: Config, name: string): ServerConfig {
  const server = config.servers.get(name);
  if (server !== undefined) return server;
  const known = [...config.servers.keys()].map((one) => `\`${one}\``).join(", ");
  throw new PortcullisError(
    "unknown_server",
    `there is no server \`${name}\` in the configuration (there is ${known === "" ? "none" : known})`,
  );
}

/** Which connection serves `principal`, as far as credentials say; see `Inputs.keyOf`. */
export function connectionKeyOf(server: ServerConfig, principal: Principal): ConnectionKey {
  return {
    server: server.name,
    credential: server.auth?.per === "principal" ? principal : SHARED_CREDENTIAL,
  };
}

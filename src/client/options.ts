/** What a client is made of, and what a request may say. */
import type { Clock } from "../base/clock.ts";
import type { JsonObject } from "../base/json.ts";
import type { Random } from "../base/random.ts";
import type { PortcullisError } from "../errors.ts";
import type { Era } from "../protocol/revisions.ts";
import type { ClientCapabilities, Implementation, LoggingLevel, Progress } from "../protocol/types.ts";
import type { Transport } from "../transport/transport.ts";
import type { HeaderPlan } from "../wire/header-plan.ts";
import type { LateAnswer } from "./correlation.ts";
import type { ClientEvent } from "./events.ts";
import type { ServerFacts } from "./facts.ts";
import type { InputHandler } from "./input-handler.ts";
import type { ClientLimits } from "./limits.ts";
import type { ListOptions, ListOutcome } from "./list.ts";
import type { ListKind } from "../protocol/methods.ts";
import type { ListItems } from "../wire/list.ts";
import type { TraceContext } from "../vocabulary.ts";

/**
 * Asked when a server answers 401, or 403 with a challenge (HTTP). Gives the headers of every later message, or `undefined`
 * where nothing can be done. Asked once for all requests that meet the same refusal. May throw `auth_required`.
 */
export type UnauthorizedHook = (
  error: PortcullisError,
  signal: AbortSignal,
) => Promise<Readonly<Record<string, string>> | undefined>;

/** What may be done on a new session before the requests that wait for it go on. */
export interface NewSession {
  readonly facts: ServerFacts;
  list<Kind extends ListKind>(kind: Kind, options?: ListOptions): Promise<ListOutcome<ListItems[Kind]>>;
}

export interface ClientOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly random: Random;
  readonly clientInfo: Implementation;
  /** Extensions and settings; inputs are declared by what `inputs` handles. */
  readonly capabilities?: ClientCapabilities;
  readonly inputs?: InputHandler;
  readonly limits?: Partial<ClientLimits>;
  /** What is known from before: `legacy` skips the probe, `modern` gives the probe half of the handshake time. */
  readonly eraHint?: Era;
  readonly onEvent?: (event: ClientEvent) => void;
  /** Called for every message that comes in: the server lives. */
  readonly onTraffic?: () => void;
  readonly onUnauthorized?: UnauthorizedHook;
  /** Legacy HTTP: awaited after a session was replaced and before any request goes on. A failure ends the client. */
  readonly onNewSession?: (session: NewSession, signal: AbortSignal) => Promise<void>;
}

/** What `connectStdio` and `connectHttp` take of it: everything but the parts they make. */
export interface ConnectOptions extends Omit<ClientOptions, "transport" | "clock" | "random"> {
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
}

export interface RequestOptions {
  /** Aborting ends the request at once with `cancelled` (or the reason's own code) and cancels it on the wire. */
  readonly signal?: AbortSignal;
  /** Without progress; default of the client's limits. Infinity: no limit. */
  readonly idleTimeoutMs?: number;
  /** In all; default of the client's limits. */
  readonly totalTimeoutMs?: number;
  /** How much of the total is left, where something was done before; default all of it. The message of a time-out names the total. */
  readonly totalLeftMs?: number;
  readonly onProgress?: (progress: Progress) => void;
  /** True for what may change the world: never on an idle socket. Default: true for `tools/call`. */
  readonly mayHaveEffect?: boolean;
  /** Which arguments travel as headers (HTTP, modern); default: as the last list of tools said. */
  readonly headerPlan?: HeaderPlan;
  readonly trace?: TraceContext;
  /** An answer that came after the request had been given up. */
  readonly onLate?: (answer: LateAnswer) => void;
  /** Declared on this request instead of the client's own (modern): for gateways that stand in for somebody else. */
  readonly clientCapabilities?: ClientCapabilities;
  /** Answers the inputs of this request instead of the client's handler. */
  readonly inputs?: InputHandler;
  /** Opts in to log messages of this request (modern). */
  readonly logLevel?: LoggingLevel;
  /** Further members of `_meta`. */
  readonly meta?: JsonObject;
}

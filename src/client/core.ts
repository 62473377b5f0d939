/** What the parts of one client share. Made once by `createClient`; nobody else writes to it. */
import type { Clock } from "../base/clock.ts";
import type { Random } from "../base/random.ts";
import type { ClientCapabilities, Implementation, LoggingLevel, Progress } from "../protocol/types.ts";
import type { Transport } from "../transport/transport.ts";
import type { HeaderPlan } from "../wire/header-plan.ts";
import type { Correlation, ProgressMark } from "./correlation.ts";
import type { ClientEvent } from "./events.ts";
import type { Exchange } from "./exchange.ts";
import type { ServerFacts } from "./facts.ts";
import type { InputHandler } from "./input-handler.ts";
import type { ClientLimits } from "./limits.ts";
import type { Oddities } from "./oddities.ts";

/** The token of a legacy task stays valid after its call was answered. */
interface TaskProgress {
  readonly taskId: string;
  readonly onProgress: (progress: Progress) => void;
  progress?: ProgressMark;
}

export interface Core {
  readonly transport: Transport;
  readonly isHttp: boolean;
  readonly clock: Clock;
  readonly random: Random;
  readonly limits: ClientLimits;
  readonly clientInfo: Implementation;
  /** Declared to the server; only inputs that `inputs` handles are in it. */
  readonly capabilities: ClientCapabilities;
  /** As the owner gave them, for requests that bring their own inputs. */
  readonly baseCapabilities: ClientCapabilities;
  readonly inputs: InputHandler | undefined;
  readonly correlation: Correlation;
  readonly exchange: Exchange;
  readonly oddities: Oddities;
  /** Aborted when the client is over. */
  readonly signal: AbortSignal;
  /** By tool, as the last list said. */
  readonly headerPlans: Map<string, HeaderPlan>;
  /** Progress of legacy tasks, by the token of the call that started them. */
  readonly taskProgress: Map<number, TaskProgress>;
  /** Opted in for every modern request. */
  logLevel: LoggingLevel | undefined;
  emit(event: ClientEvent): void;
  /** Headers of the last authorization, for messages that are no requests. */
  authorization(): Readonly<Record<string, string>>;
  /** @throws PortcullisError `connection_lost` before the handshake and after the end. */
  facts(): ServerFacts;
}

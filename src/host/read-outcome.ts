/** What reading ends in: of a resource, a prompt, the values for an argument; and the watch of a resource. */
import type { ErrorCode } from "../errors.ts";
import type { ContentBlock } from "../protocol/types.ts";
import type { Finding, OutcomeKind } from "../vocabulary.ts";

/** How a read ended. It changes nothing in the world, whatever became of it. */
export interface ReadOutcome {
  readonly callId: string;
  readonly server: string;
  readonly outcome: OutcomeKind;
  readonly code: ErrorCode | null;
  /** Of the error that the server answered with; `null` where it did not. */
  readonly rpcCode: number | null;
  readonly message: string;
  readonly content: readonly ContentBlock[];
  readonly model: string;
  /** As `Outcome.lastWords`. */
  readonly lastWords?: string;
  readonly findings: readonly Finding[];
  readonly durationMs: number;
}

/** What a server proposes for an argument of a prompt or a template. */
export interface CompletionOutcome extends ReadOutcome {
  /** At most 100; none where they were held back. */
  readonly values: readonly string[];
  /** How many there are in all; `null` where the server does not say it. */
  readonly total: number | null;
  readonly hasMore: boolean | null;
}

/** Hears of changes until it is closed. */
export interface Watch {
  close(): void;
}

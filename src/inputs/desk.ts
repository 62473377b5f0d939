/**
 * Where the questions of one call pass, one at a time: counted, shown, and their end told whatever it is.
 *
 * Invariants: at most `perCall` questions and `totalMs` of waiting; a question is counted before it is judged, because a
 * malformed one is a question too; its end is told to `onEnded` before anything of it is sent, without what was typed.
 */
import { linkAbort, untilAborted } from "../base/abort.ts";
import type { Clock } from "../base/clock.ts";
import { createKeyedLock } from "../base/keyed-lock.ts";
import { PortcullisError } from "../errors.ts";
import { rpcCodes } from "../protocol/codes.ts";
import type { Finding } from "../vocabulary.ts";
import type { InputLimits, QuestionRate } from "./limits.ts";
import type { InputAnswer, InputCallback, InputQuestion, QuestionSource } from "./question.ts";
import { refusal } from "./refusal.ts";

/** What is told of a question: facts for records and events, nothing that anybody typed. */
export interface QuestionFacts {
  readonly kind: InputQuestion["kind"];
  readonly number: number;
  /** Names of the fields of a form, the host of an address, the model. */
  readonly about: readonly string[];
}

export interface QuestionEnd extends QuestionFacts {
  /** `refused`: it was never shown, or its answer could not be used. */
  readonly action: InputAnswer["action"] | "refused";
  readonly by: string | null;
  /** For `refused`: why. */
  readonly reason: string | null;
  /** For an accepted address of 2025-11-25: what its completion will be told by. Opaque. */
  readonly elicitationId: string | null;
}

export interface DeskOptions {
  readonly clock: Clock;
  readonly source: Omit<QuestionSource, "number" | "max">;
  readonly ask: InputCallback;
  /** Aborted when the call is over: what is still asked for it is withdrawn. */
  readonly signal: AbortSignal;
  readonly limits: InputLimits;
  /** Shared by all calls of the server. */
  readonly rate: QuestionRate;
  /** Stands around every wait for a person: what is held for the call is given back meanwhile. */
  readonly standstill: <T>(wait: () => Promise<T>) => Promise<T>;
  /** A question is about to be shown. */
  readonly onAsked: (facts: QuestionFacts, findings: readonly Finding[]) => void;
  /** Awaited before the answer is sent; where it fails nothing is. */
  readonly onEnded: (end: QuestionEnd) => Promise<void>;
}

/** One question on the desk. */
export interface Turn {
  readonly source: QuestionSource & {
    readonly warnings: readonly string[];
    readonly findings: readonly Finding[];
  };
  readonly signal: AbortSignal;
  /** The question is fit to be shown. @param about see `QuestionFacts`. @param findings of the scan. */
  fit(about: readonly string[], findings?: readonly Finding[]): void;
  /** A look of a person at it. Time that is used up counts as going away: `cancel`. */
  show(question: InputQuestion): Promise<InputAnswer>;
  /** How it ended; the first end counts. */
  end(answer: Pick<InputAnswer, "action" | "by">, elicitationId?: string): Promise<void>;
  /** Waits for something else than a person, off the clock as well. */
  aside<T>(wait: () => Promise<T>): Promise<T>;
}

export interface Desk {
  /** @throws PortcullisError `input_refused`, what `answer` throws, or the reason of `signal`. */
  take<Result>(
    kind: InputQuestion["kind"],
    signal: AbortSignal,
    answer: (turn: Turn) => Promise<Result>,
  ): Promise<Result>;
}

export function createDesk(options: DeskOptions): Desk {
  const { clock, limits } = options;
  const line = createKeyedLock();
  let taken = 0;
  let leftMs = limits.totalMs;

  const show = (question: InputQuestion, signal: AbortSignal): Promise<InputAnswer> =>
    options.standstill(async () => {
      const link = linkAbort(signal);
      const startedMs = clock.monotonic();
      const late = new PortcullisError("timed_out", "nobody answered the question in time");
      const timer = clock.timer(leftMs, () => link.abort(late));
      try {
        return await untilAborted(options.ask(question, link.signal), link.signal);
      } catch (error) {
        if (error === late) return { action: "cancel" };
        throw error;
      } finally {
        timer.cancel();
        link.unlink();
        leftMs = Math.max(0, leftMs - (clock.monotonic() - startedMs));
      }
    });

  const count = (): void => {
    taken += 1;
    if (taken > limits.perCall) {
      throw refusal(
        `the server asked more than ${limits.perCall} questions for one call; no more are answered`,
        rpcCodes.internalError,
      );
    }
    options.rate.take();
  };

  const takeInTurn: Desk["take"] = (kind, signal, answer) =>
    line.run(
      "",
      async () => {
        let about: readonly string[] = [];
        let hasEnded = false;
        const end = async (how: Omit<QuestionEnd, keyof QuestionFacts>): Promise<void> => {
          if (hasEnded) return;
          hasEnded = true;
          await options.onEnded({ kind, number: taken, about, ...how });
        };
        try {
          count();
          return await answer({
            source: { ...options.source, number: taken, max: limits.perCall, warnings: [], findings: [] },
            signal,
            fit(names, findings = []) {
              about = names;
              options.onAsked({ kind, number: taken, about }, findings);
            },
            show: (question) => show(question, signal),
            end: ({ action, by = null }, elicitationId) =>
              end({ action, by, reason: null, elicitationId: elicitationId ?? null }),
            aside: (wait) => options.standstill(() => untilAborted(wait(), signal)),
          });
        } catch (error) {
          const reason = error instanceof PortcullisError ? error.message : "whoever answers failed";
          await end({ action: "refused", by: null, reason, elicitationId: null });
          throw error;
        }
      },
      signal,
    );

  return {
    async take(kind, wanted, answer) {
      const link = linkAbort(wanted, options.signal);
      try {
        return await takeInTurn(kind, link.signal, answer);
      } finally {
        link.unlink();
      }
    },
  };
}

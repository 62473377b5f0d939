/**
 * Asks a silent connection whether it lives. Any traffic is life, an error answer is life; only silence is not. One
 * question at a time.
 */
import { linkAbort } from "../base/abort.ts";
import type { Clock, Timer } from "../base/clock.ts";
import { PortcullisError, toPortcullisError } from "../errors.ts";

export interface HeartbeatOptions {
  readonly clock: Clock;
  /** Silence after which a question is asked. */
  readonly silenceMs: number;
  /** How long its answer may take. */
  readonly timeoutMs: number;
  readonly ask: (signal: AbortSignal) => Promise<number>;
  readonly onBeat: (latencyMs: number) => void;
  readonly onMiss: (error: PortcullisError) => void;
}

export interface Heartbeat {
  sawLife(): void;
  /** Asks now instead of after the silence, because something looks wrong. */
  doubt(): void;
  stop(): void;
}

export function createHeartbeat(options: HeartbeatOptions): Heartbeat {
  const { clock, silenceMs } = options;
  const link = linkAbort();
  let lastLifeMs = clock.monotonic();
  let timer: Timer | undefined;
  let isAsking = false;

  // The timer is not restarted on every message: it looks at the time when it fires.
  const watch = (delayMs: number): void => {
    timer = clock.timer(delayMs, () => {
      const silentMs = clock.monotonic() - lastLifeMs;
      if (silentMs < silenceMs) watch(silenceMs - silentMs);
      else void ask();
    });
  };

  const ask = async (): Promise<void> => {
    isAsking = true;
    const answer = linkAbort(link.signal);
    const limit = clock.timer(options.timeoutMs, () => {
      answer.abort(
        new PortcullisError("timed_out", `no answer to a heartbeat within ${options.timeoutMs / 1_000} s`),
      );
    });
    const askedMs = clock.monotonic();
    try {
      const latencyMs = await options.ask(answer.signal);
      if (link.signal.aborted) return;
      lastLifeMs = clock.monotonic();
      options.onBeat(latencyMs);
    } catch (cause) {
      if (link.signal.aborted) return;
      // Something else came in meanwhile: busy, not dead.
      if (lastLifeMs > askedMs) options.onBeat(0);
      else options.onMiss(toPortcullisError(cause, "connection_lost"));
    } finally {
      isAsking = false;
      limit.cancel();
      answer.unlink();
      if (!link.signal.aborted) watch(silenceMs);
    }
  };

  watch(silenceMs);
  return {
    sawLife() {
      lastLifeMs = clock.monotonic();
    },
    doubt() {
      if (isAsking || link.signal.aborted) return;
      timer?.cancel();
      void ask();
    },
    stop() {
      timer?.cancel();
      link.abort(new PortcullisError("interrupted", "the heartbeat ends"));
    },
  };
}

/** What ends a command in its middle: Ctrl-C, SIGTERM, and the end of the terminal that it was typed in. */
import { systemClock } from "../base/clock.ts";
import { errorCodes, PortcullisError } from "../errors.ts";
import type { Streams } from "./output.ts";

export interface Interruption {
  readonly signal: AbortSignal;
  stop(): void;
}

/** One Ctrl-C arrives more than once where npm passes it on; a later one means: at once. */
const SAME_KEYSTROKE_MS = 1_000;

/** Listens until `stop`; a second wish ends the process at once. */
export function listenForInterruption(streams: Pick<Streams, "stderr">): Interruption {
  const controller = new AbortController();
  let askedAtMs = 0;
  const interrupt = (): void => {
    const nowMs = systemClock.monotonic();
    if (!controller.signal.aborted) {
      askedAtMs = nowMs;
      controller.abort(new PortcullisError("cancelled", "interrupted"));
      streams.stderr.write("stopping; once more ends it at once\n");
    } else if (nowMs - askedAtMs > SAME_KEYSTROKE_MS) process.exit(errorCodes.cancelled.exitCode);
  };
  // Where there is no terminal a hang-up is not ours to take: `nohup` ignores it, and `serve` reads its file again.
  const hangUp = process.stdin.isTTY ? (["SIGHUP"] as const) : [];
  const signals = ["SIGINT", "SIGTERM", ...hangUp] as const;
  for (const signal of signals) process.on(signal, interrupt);
  // A terminal or pipe that is gone: nobody types, and the rest must end well all the same.
  const onGone = (): void => undefined;
  process.stdin.on("error", onGone);
  return {
    signal: controller.signal,
    stop() {
      for (const signal of signals) process.off(signal, interrupt);
      process.stdin.off("error", onGone);
    },
  };
}

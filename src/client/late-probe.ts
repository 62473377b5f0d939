/** The answer to a probe whose time was over: it still counts where `initialize` is refused. */
import { linkAbort } from "../base/abort.ts";
import type { JsonObject } from "../base/json.ts";
import type { DiscoverResult } from "../protocol/handshake.ts";
import { readDiscoverResult } from "../wire/modern.ts";
import type { Core } from "./core.ts";
import type { LateAnswer } from "./correlation.ts";

export interface LateProbe {
  readonly onLate: (answer: LateAnswer) => void;
  discovered(): DiscoverResult | undefined;
  result(): JsonObject | undefined;
  /** Waits a little for it: a slow server answers in the order in which it was asked. */
  arrival(core: Core, signal: AbortSignal | undefined): Promise<void>;
}

export function createLateProbe(): LateProbe {
  let answer: LateAnswer | undefined;
  let wake: () => void = () => undefined;
  return {
    onLate(late) {
      answer = late;
      wake();
    },
    discovered: () => (answer?.kind === "result" ? readDiscoverResult(answer.result) : undefined),
    result: () => (answer?.kind === "result" ? answer.result : undefined),
    async arrival(core, signal) {
      if (answer !== undefined) return;
      const link = linkAbort(signal, core.signal);
      wake = () => link.abort(new Error("it is there"));
      await core.clock.sleep(core.limits.probeMs, link.signal).catch(() => undefined);
      link.unlink();
    },
  };
}

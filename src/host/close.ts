/**
 * The end of a host, in the reverse order of its parts: calls in flight finish or are cancelled within the deadline, the pool
 * drains, each process group is ended and awaited, open trails are closed as interrupted, the store closes.
 */
import type { Lifetime } from "../base/lifetime.ts";
import { untilAborted } from "../base/abort.ts";
import type { CloseSummary } from "./api.ts";
import type { Catalogs } from "./catalogs.ts";
import type { Core } from "./core.ts";

export interface CloseOptions {
  readonly core: Core;
  readonly catalogs: Catalogs;
  readonly lifetime: Lifetime;
  readonly deadlineMs: number;
}

/** What the end itself may need of the deadline; the rest is left to calls in flight. */
const RESERVED_MS = 3_000;

export async function closeHost({
  core,
  catalogs,
  lifetime,
  deadlineMs,
}: CloseOptions): Promise<CloseSummary> {
  const { audit, clock, broker, pool } = core;
  await waitForCalls(core, Math.max(0, deadlineMs - RESERVED_MS));
  const cutOff = audit.countOpen();
  // Whoever waits for a person or a server is told; what was sent is closed as interrupted.
  broker.close();
  catalogs.close();
  await audit.close();
  const deadline = new AbortController();
  const timer = clock.timer(RESERVED_MS, () => deadline.abort(new Error("the deadline is over")));
  let remains: readonly string[];
  try {
    remains = await untilAborted(pool.close(), deadline.signal);
  } catch {
    remains = pool
      .list()
      .filter(({ state }) => state.kind !== "closed")
      .map(({ key }) => key.server);
  } finally {
    timer.cancel();
  }
  await core.lastGood.flush().catch(() => undefined);
  core.emit({ type: "host.closed", at: clock.now(), leftOver: remains });
  await lifetime.close();
  return { cutOff, remains };
}

async function waitForCalls({ audit, clock }: Core, waitMs: number): Promise<void> {
  const untilMs = clock.monotonic() + waitMs;
  while (audit.countOpen() > 0 && clock.monotonic() < untilMs) await clock.sleep(STEP_MS);
}

const STEP_MS = 20;

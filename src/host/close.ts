/**
 * The end of a host, in the reverse order of its parts: no call is taken any more, calls in flight finish within the deadline or are
 * cut off, the pool drains, each process group is ended and awaited, open trails are closed as interrupted, the store closes.
 */
import { untilAborted, type LinkedAbort } from "../base/abort.ts";
import type { Lifetime } from "../base/lifetime.ts";
import { PortcullisError } from "../errors.ts";
import type { CloseSummary } from "./api.ts";
import type { Catalogs } from "./catalogs.ts";
import type { Core } from "./core.ts";

export interface CloseOptions {
  readonly core: Core;
  readonly draining: AbortController;
  readonly cutting: LinkedAbort;
  readonly catalogs: Catalogs;
  readonly lifetime: Lifetime;
  readonly deadlineMs: number;
}

/** What the end itself may need of the deadline: a server that ignores everything is killed after 2 s. */
const RESERVED_MS = 3_000;
/** For calls that were cut off to write down how. */
const LAST_MARKS_MS = 200;

export async function closeHost(options: CloseOptions): Promise<CloseSummary> {
  const { core, catalogs, lifetime, deadlineMs } = options;
  const { audit, clock, broker } = core;
  options.draining.abort(new PortcullisError("interrupted", "the host is shutting down: no call is taken"));
  await waitForCalls(core, Math.max(0, deadlineMs - RESERVED_MS));
  const calls = core.running
    .list()
    .map((about) => about())
    .map(({ callId, server, tool }) => ({ callId, server: server ?? "", tool }));
  // Whoever waits, for a person, a place or an answer, is told; what was sent is cancelled on the wire.
  options.cutting.abort(new PortcullisError("interrupted", "the host was shut down meanwhile"));
  broker.close();
  catalogs.close();
  await waitForCalls(core, LAST_MARKS_MS);
  await audit.close();
  const remains = await closePool(core, RESERVED_MS - LAST_MARKS_MS);
  await core.lastGood.flush().catch(() => undefined);
  core.emit({ type: "host.closed", at: clock.now(), leftOver: remains });
  await lifetime.close();
  return { cutOff: calls.length, calls, remains };
}

/** @returns the connections that would not end in time. */
async function closePool({ pool, clock }: Core, withinMs: number): Promise<readonly string[]> {
  const deadline = new AbortController();
  const timer = clock.timer(withinMs, () => deadline.abort(new Error("the deadline is over")));
  try {
    return await untilAborted(pool.close(), deadline.signal);
  } catch {
    const open = pool.list().filter(({ state }) => state.kind !== "closed");
    return open.map(({ key }) => key.server);
  } finally {
    timer.cancel();
  }
}

async function waitForCalls({ running, clock }: Core, waitMs: number): Promise<void> {
  const untilMs = clock.monotonic() + waitMs;
  while (running.size() > 0 && clock.monotonic() < untilMs) await clock.sleep(STEP_MS);
}

const STEP_MS = 20;

/** The end of a connection that is replaced: what runs over it may finish, for a while, before it is closed. */
import { linkAbort, untilAborted } from "../base/abort.ts";
import type { Clock } from "../base/clock.ts";
import type { CloseReport } from "../transport/transport.ts";
import type { Connection } from "./connection.ts";
import type { Session } from "./session.ts";

/** As long as the end of a host waits for its calls. */
const DRAIN_MS = 5_000;

/** @param cut ends the wait. @returns once nothing of it is left. */
export async function drainAndClose(
  connection: Connection<Session>,
  clock: Clock,
  cut: AbortSignal,
): Promise<CloseReport> {
  const over = linkAbort(cut);
  const stop = (): void => over.abort(new Error("it is waited for no longer"));
  const timer = clock.timer(DRAIN_MS, stop);
  const lookAtSession = (): void => {
    // What is lost must not start again by itself.
    if (connection.session === undefined) stop();
  };
  const off = connection.onChange(lookAtSession);
  lookAtSession();
  try {
    await untilAborted(connection.unused(), over.signal).catch(() => undefined);
  } finally {
    off();
    timer.cancel();
    over.unlink();
  }
  return connection.close();
}

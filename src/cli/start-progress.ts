/** Says at the terminal which servers are waited for, where that takes longer than a moment. */
import { systemClock, type Clock, type Timer } from "../base/clock.ts";
import type { ServerConfig } from "../config/compiled.ts";
import type { Host } from "../host/api.ts";
import type { Output } from "./output.ts";

/** A start that takes no longer is not worth a line. */
const MOMENT_MS = 1_000;

/**
 * Follows the starts of `host` until it is closed. Only where a person reads along: never with `--json`, nor into a pipe.
 *
 * @param clock default: the system's.
 */
export async function sayStarts(
  host: Pick<Host, "onEvent" | "status" | "config">,
  { isJson, isInteractive, say }: Pick<Output, "isJson" | "isInteractive" | "say">,
  clock: Clock = systemClock,
): Promise<void> {
  if (isJson || !isInteractive) return;
  /** Since when, by connection; the timer is there until it was said. */
  const starts = new Map<string, { readonly sinceMs: number; readonly timer: Timer; isSaid: boolean }>();

  const begin = (id: string, name: string): void => {
    end(id);
    const timer = clock.timer(MOMENT_MS, () => {
      const server = host.config.servers.get(name);
      if (server === undefined) return;
      start.isSaid = true;
      say(startSentence(server));
    });
    const start = { sinceMs: clock.monotonic(), timer, isSaid: false };
    starts.set(id, start);
  };

  /** @returns milliseconds since it was said that it starts. */
  const end = (id: string): number | undefined => {
    const start = starts.get(id);
    start?.timer.cancel();
    starts.delete(id);
    return start?.isSaid === true ? clock.monotonic() - start.sinceMs : undefined;
  };

  host.onEvent(
    (event) => {
      if (event.type !== "connection.changed") return;
      const { server, credential } = event.key;
      const id = `${server} ${credential}`;
      if (event.to === "connecting") begin(id, server);
      else {
        const tookMs = end(id);
        if (tookMs !== undefined) say(endSentence(server, event.to, event.reason, tookMs));
      }
    },
    { calls: false },
  );
  const { servers } = await host.status();
  for (const { name, state } of servers) if (state === "connecting") begin(`${name} shared`, name);
}

/** Why it may take a while, and how long at most. */
export function startSentence(server: Pick<ServerConfig, "name" | "launch" | "limits" | "package">): string {
  const { name, launch, limits } = server;
  const most = `up to ${Math.round(limits.connectMs / 1_000)} s`;
  if (launch.kind !== "stdio") return `connecting to ${name} (${most})…`;
  const fetches = server.package === null ? "" : `${server.package.runner} may have to download it, `;
  return `starting ${name} (${fetches}${most})…`;
}

function endSentence(server: string, to: string, reason: string, tookMs: number): string {
  const seconds = `${Math.max(1, Math.round(tookMs / 1_000))} s`;
  return to === "ready"
    ? `${server} is ready after ${seconds}`
    : `${server} is ${to} after ${seconds}: ${reason}`;
}

/** The resources that one client watches, by their exposed URIs: bounded, and all ended with the client. */
import { PortcullisError } from "../errors.ts";
import type { Watch } from "../host/read-outcome.ts";
import type { McpMethods } from "./mcp-methods.ts";

export interface WatchDesk {
  /** Hears of changes from now on; a URI that is watched already stays so. @throws PortcullisError `usage` beyond the bound, as of `Host.watch`. */
  add(uri: string, signal?: AbortSignal): Promise<void>;
  /** Unknown URIs are passed over. */
  remove(uri: string): void;
  close(): void;
}

const MAX_WATCHED = 100;

/** @param onUpdated called with the exposed URI. */
export function createWatchDesk(mcp: Pick<McpMethods, "watch">, onUpdated: (uri: string) => void): WatchDesk {
  const over = new AbortController();
  const watched = new Map<string, Promise<Watch>>();

  const end = (uri: string): void => {
    // Where it failed there is nothing to end.
    watched.get(uri)?.then(
      (watch) => watch.close(),
      () => undefined,
    );
    watched.delete(uri);
  };

  return {
    async add(uri, signal) {
      const known = watched.get(uri);
      if (known === undefined && watched.size >= MAX_WATCHED)
        throw new PortcullisError("usage", `a client may watch ${MAX_WATCHED} resources`);
      const tell = (): void => {
        if (watched.has(uri)) onUpdated(uri);
      };
      const signals = signal === undefined ? [over.signal] : [over.signal, signal];
      const asked = known ?? mcp.watch(uri, tell, AbortSignal.any(signals));
      watched.set(uri, asked);
      try {
        await asked;
      } catch (error) {
        if (watched.get(uri) === asked) watched.delete(uri);
        throw error;
      }
    },
    remove: end,
    close() {
      over.abort(new PortcullisError("cancelled", "the client is gone"));
      for (const uri of Array.from(watched.keys())) end(uri);
    },
  };
}

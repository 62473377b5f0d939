/** The kill switch: which servers nothing is sent to. Shared through the store and kept over restarts; cached, not read per call. */
import type { Store } from "../store/store.ts";
import type { Principal } from "../vocabulary.ts";

export interface Pauses {
  isPaused(server: string): boolean;
  /** @param server `null`: every server. */
  pause(server: string | null, by: Principal, nowMs: number): Promise<void>;
  resume(server: string | null): Promise<void>;
  /** Reads what other processes did. */
  load(): Promise<void>;
}

const ALL = "*";

/** @param onPaused told which servers (or all) were paused by anybody. */
export function createPauses(
  { documents }: Pick<Store, "documents">,
  onPaused: (server: string | null) => void,
): Pauses {
  let paused = new Set<string>();
  const load = async (): Promise<void> => {
    const next = new Set((await documents.list("paused")).map(({ key }) => key));
    const added = [...next].filter((key) => !paused.has(key));
    paused = next;
    for (const key of added) onPaused(key === ALL ? null : key);
  };
  return {
    isPaused: (server) => paused.has(ALL) || paused.has(server),
    async pause(server, by, nowMs) {
      await documents.put("paused", server ?? ALL, { by, at: nowMs });
      await load();
    },
    async resume(server) {
      // Resuming everything also takes back what was paused one by one.
      const keys = server === null ? [...paused] : [server];
      for (const key of keys) await documents.delete("paused", key);
      await load();
    },
    load,
  };
}

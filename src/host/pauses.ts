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

/** @param onChange told which servers (or all: `null`) were paused or resumed, by anybody. */
export function createPauses(
  { documents }: Pick<Store, "documents">,
  onChange: (server: string | null, change: "paused" | "resumed") => void,
): Pauses {
  let paused = new Set<string>();
  let started = 0;
  let applied = 0;
  const load = async (): Promise<void> => {
    started += 1;
    const mine = started;
    const next = new Set((await documents.list("paused")).map(({ key }) => key));
    // One that was started later has seen more.
    if (mine < applied) return;
    applied = mine;
    const before = paused;
    paused = next;
    for (const key of next) if (!before.has(key)) onChange(key === ALL ? null : key, "paused");
    for (const key of before) if (!next.has(key)) onChange(key === ALL ? null : key, "resumed");
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

/**
 * Notices that the configuration file changed. The folder is watched and not the file, because a watch on a file goes deaf when
 * an editor replaces it; a slow look at the file catches what no event tells (network file systems, a folder that was replaced).
 * Only other bytes count as a change. Ends with its signal and leaves nothing behind.
 */
import { watch, type FSWatcher } from "node:fs";
import path from "node:path";
import type { Clock, Timer } from "../base/clock.ts";
import { toPortcullisError, type PortcullisError } from "../errors.ts";
import { digestBytes, loadLocated, readConfigFile, type LoadedConfig, type LoadOptions } from "./load.ts";

export type ConfigChange =
  | { readonly type: "changed"; readonly loaded: LoadedConfig }
  /** The file is gone or has problems: what was valid before stays in force. */
  | { readonly type: "invalid"; readonly error: PortcullisError };

export interface WatchOptions {
  /** What is in force now. */
  readonly current: LoadedConfig;
  /** As given to `loadConfig`. */
  readonly load: LoadOptions;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onChange: (change: ConfigChange) => void;
  /** Quiet time after the last event before the file is read; default 200. */
  readonly debounceMs?: number;
  /** Time between looks without an event; default 10,000. */
  readonly pollMs?: number;
}

/** What was seen at the last look. */
type Seen =
  | { readonly kind: "there"; readonly digest: string }
  /**
   * Gone (`candidate` null) or broken at one look: many editors remove a file for a moment, or empty it before they write. It is
   * told when the next look finds the same. `digest`: of the last bytes that were told.
   */
  | { readonly kind: "unsure"; readonly digest: string; readonly candidate: string | null }
  /** Gone, and told. */
  | { readonly kind: "missing" };

/**
 * Watches the file of `current` until the signal is aborted. A discovered file comes with `trustNeeded`: changed, it is not
 * trusted any more.
 *
 * @returns a promise that resolves when the watch is over and nothing is left open; at once for an object given in code.
 * @throws what `onChange` throws; the watch is over then.
 */
export async function watchConfig(options: WatchOptions): Promise<void> {
  const { file } = options.current.config;
  if (file === null || options.signal.aborted) return;
  const { clock, debounceMs = 200, pollMs = 10_000 } = options;
  const over = Promise.withResolvers<void>();
  const onAbort = (): void => over.resolve();
  options.signal.addEventListener("abort", onAbort, { once: true });

  let isOver = false;
  let seen: Seen = { kind: "there", digest: options.current.config.digest };
  let timer: Timer | null = null;
  let watcher: FSWatcher | null = null;
  let work: Promise<void> = Promise.resolve();

  const look = async (): Promise<void> => {
    const next = await lookAt(file, seen, options);
    if (isOver) return;
    seen = next.seen;
    watcher ??= openWatcher();
    schedule(seen.kind === "unsure" ? debounceMs : pollMs);
    if (next.change !== null) options.onChange(next.change);
  };

  const schedule = (delayMs: number): void => {
    timer?.cancel();
    if (isOver) return;
    timer = clock.timer(delayMs, () => {
      work = work.then(look).catch(over.reject);
    });
  };

  const openWatcher = (): FSWatcher | null => {
    try {
      const opened = watch(path.dirname(file), { persistent: false }, (_kind, name) => {
        if (isOver) return;
        // The folder itself was moved or removed: its name comes instead of the file's, and this watch is deaf from now on.
        if (name === path.basename(path.dirname(file))) closeWatcher();
        if (watcher === null || name === null || name === path.basename(file)) schedule(debounceMs);
      });
      opened.on("error", closeWatcher);
      return opened;
    } catch {
      // The slow look goes on without it.
      return null;
    }
  };

  const closeWatcher = (): void => {
    watcher?.close();
    watcher = null;
  };

  const stop = (): void => {
    isOver = true;
    timer?.cancel();
    closeWatcher();
    options.signal.removeEventListener("abort", onAbort);
  };

  watcher = openWatcher();
  // What changed between loading and now raised no event.
  schedule(debounceMs);
  try {
    await over.promise;
  } finally {
    stop();
    await work;
  }
}

/** One look at the file: what is there now, and what has to be told. */
async function lookAt(
  file: string,
  seen: Seen,
  options: WatchOptions,
): Promise<{ readonly seen: Seen; readonly change: ConfigChange | null }> {
  const told = seen.kind === "missing" ? "" : seen.digest;
  let digest: string;
  try {
    digest = digestBytes((await readConfigFile(file)).bytes);
  } catch (error) {
    if (seen.kind === "missing") return { seen, change: null };
    const isSure = seen.kind === "unsure" && seen.candidate === null;
    if (!isSure) return { seen: { kind: "unsure", digest: told, candidate: null }, change: null };
    return {
      seen: { kind: "missing" },
      change: { type: "invalid", error: toPortcullisError(error, "config_not_found") },
    };
  }
  if (digest === told) return { seen: { kind: "there", digest }, change: null };
  try {
    const loaded = await loadLocated(file, options.current.trustNeeded !== null, options.load);
    return { seen: { kind: "there", digest: loaded.config.digest }, change: { type: "changed", loaded } };
  } catch (error) {
    const isSure = seen.kind === "unsure" && seen.candidate === digest;
    if (!isSure) return { seen: { kind: "unsure", digest: told, candidate: digest }, change: null };
    return {
      seen: { kind: "there", digest },
      change: { type: "invalid", error: toPortcullisError(error, "config_invalid") },
    };
  }
}

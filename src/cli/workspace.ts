/** Where a command works: the configuration that it found, whether a person trusts it, and the host or gateway that does the work. */
import { systemClock } from "../base/clock.ts";
import { systemRandom } from "../base/random.ts";
import type { Config } from "../config/compiled.ts";
import { loadConfig, type LoadedConfig, type LoadOptions } from "../config/load.ts";
import { thisProcess } from "../config/this-process.ts";
import {
  describeServers,
  describeTrust,
  ensureTrusted,
  recordTrust,
  type TrustNeeded,
} from "../config/trust.ts";
import { PortcullisError } from "../errors.ts";
import type { Host, HostOptions } from "../host/api.ts";
import { openSqliteStore } from "../store/sqlite.ts";
import type { Store } from "../store/store.ts";
import type { Output } from "./output.ts";
import { askYesOrNo } from "./prompt.ts";

export interface GlobalOptions {
  readonly config?: string;
  readonly state?: string;
  readonly json: boolean;
}

/**
 * What the machine tells, and what the command line names.
 *
 * @throws PortcullisError `usage` for an empty name, which would mean the working directory.
 */
export function loadOptions(options: GlobalOptions): LoadOptions {
  for (const name of ["config", "state"] as const)
    if (options[name] === "")
      throw new PortcullisError("usage", `\`--${name}\` is given an empty name: is a variable not set?`);
  return {
    ...thisProcess(),
    ...(options.config === undefined ? {} : { file: options.config }),
    ...(options.state === undefined ? {} : { stateDir: options.state }),
  };
}

/**
 * The configuration of a command, trusted: a file that was merely found is asked about once in a terminal.
 *
 * @throws PortcullisError as `loadConfig`, and `config_untrusted`.
 */
export async function loadTrusted(
  options: GlobalOptions,
  output: Output,
  signal: AbortSignal,
): Promise<Config> {
  return (await loadTrustedFile(options, output, signal)).config;
}

/** Like `loadTrusted`, with what a watch over the file needs to go on from. */
export async function loadTrustedFile(
  options: GlobalOptions,
  output: Output,
  signal: AbortSignal,
): Promise<LoadedConfig> {
  const loaded = await loadConfig(loadOptions(options));
  warnOf(loaded.config, output);
  await requireTrust(loaded, output, output.isInteractive ? signal : null);
  return loaded;
}

/** Says what is worth saying about a configuration. */
export function warnOf(config: Config, output: Output): void {
  for (const warning of config.warnings) {
    output.say(
      `warning: ${warning.line === null ? "" : `line ${warning.line}, `}${warning.path}: ${warning.message}`,
    );
  }
}

/** @param askUntil how long a person can be asked; `null`: not now. @throws PortcullisError `config_untrusted`. */
export async function requireTrust(
  { config, trustNeeded }: LoadedConfig,
  output: Output,
  askUntil: AbortSignal | null,
): Promise<void> {
  if (trustNeeded === null) return;
  await withStore(trustNeeded, async (store) => {
    await ensureTrusted(trustNeeded, config, {
      documents: store.documents,
      nowMs: systemClock.now,
      ask:
        askUntil !== null
          ? async (question) => {
              const what = question.verdict === "new" ? "was found here" : "has changed since you trusted it";
              output.say(`\`${question.file}\` ${what}. ${describeTrust(question.servers)}`);
              return askYesOrNo("Trust this file as it is?", askUntil);
            }
          : null,
    });
  });
}

/** `portcullis trust`: says what is trusted, then trusts it. @returns the file, or `null` where it was named with `--config` and needs no trust. */
export async function trustFound(options: GlobalOptions, output: Output): Promise<string | null> {
  const { config, trustNeeded } = await loadConfig(loadOptions(options));
  if (trustNeeded === null) return null;
  if (config.servers.size > 0) output.say(describeTrust(describeServers(config)));
  await withStore(trustNeeded, async (store) =>
    recordTrust(trustNeeded, { documents: store.documents, by: "person", nowMs: systemClock.now() }),
  );
  return trustNeeded.file;
}

async function withStore(trust: TrustNeeded, work: (store: Store) => Promise<void>): Promise<void> {
  const store = await openSqliteStore({
    dir: trust.stateDir,
    role: "trust",
    clock: systemClock,
    random: systemRandom,
  });
  try {
    await work(store);
  } finally {
    await store.close();
  }
}

/** A host of this process on `config`. Loaded late: `--help` must not pay for it. */
export async function openHostFor(
  config: Config,
  role: string,
  more: Pick<HostOptions, "onInput" | "callersAnswer"> = {},
): Promise<Host> {
  const { openHost } = await import("../host/host.ts");
  return openHost({ config, role, ...more });
}

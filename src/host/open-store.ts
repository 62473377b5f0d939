/** Opens the store that a configuration names. The driver of PostgreSQL is only loaded by whoever uses it. */
import type { Vault } from "../auth/vault.ts";
import type { Clock } from "../base/clock.ts";
import type { JsonValue } from "../base/json.ts";
import type { Config } from "../config/compiled.ts";
import type { LateResolver } from "../config/secrets.ts";
import { PortcullisError } from "../errors.ts";
import { openSqliteStore, type SqliteStoreOptions } from "../store/sqlite.ts";
import { prepareStateDirectory } from "../store/state-directory.ts";
import type { Store } from "../store/store.ts";
import { resolveStoreUrl } from "./store-url.ts";

export interface OpenStoreOptions extends Omit<SqliteStoreOptions, "dir"> {
  /** For the references in the URL of a shared store. */
  readonly resolver: () => LateResolver;
  /** Told the values that must be shown to nobody, before anything is done with them. */
  readonly onSecrets: (secrets: readonly string[]) => void;
}

/** @throws PortcullisError `state_unusable`, `state_newer`, `secret_unresolved`, `config_invalid`. */
export async function openStore(config: Config, options: OpenStoreOptions): Promise<Store> {
  const { resolver, onSecrets, ...common } = options;
  if (config.store.kind === "sqlite") return openSqliteStore({ ...common, dir: config.stateDir });
  // What belongs to this machine alone stays here: the key of the vault, the file of the gateway, trust in configurations.
  prepareStateDirectory(config.stateDir);
  const { value: url, secrets } = await resolveStoreUrl(config.store.url, resolver());
  onSecrets(secrets);
  const { openPostgresStore } = await import("../store/postgres.ts");
  return openPostgresStore({ ...common, url });
}

/** Looks at a shared store, and changes nothing; `null` for one on this machine. @throws like `openStore`. */
export async function lookAtSharedStore(
  config: Config,
  resolver: LateResolver,
  clock: Clock,
): Promise<{ readonly label: string; readonly isMade: boolean } | null> {
  if (config.store.kind === "sqlite") return null;
  const { value: url } = await resolveStoreUrl(config.store.url, resolver);
  const { lookAtPostgres } = await import("../store/postgres.ts");
  return lookAtPostgres(url, clock);
}

const MARK = ["vault", "mark"] as const;
const PURPOSE = "the same key everywhere";

/**
 * All who share a store must seal with one key: what one sealed, another opens. The first writes a sealed mark.
 *
 * @throws PortcullisError `state_unusable` where this vault cannot open it.
 */
export async function requireSharedVault(store: Store, vault: Vault, config: Config): Promise<void> {
  if (config.store.kind === "sqlite") return;
  const read = async (): Promise<JsonValue | undefined> => (await store.documents.get(...MARK))?.value;
  let mark = await read();
  if (mark === undefined) {
    await store.documents.put(...MARK, vault.seal(PURPOSE, PURPOSE), { ifVersion: 0 });
    // Another machine may have been first.
    mark = await read();
  }
  try {
    vault.open(typeof mark === "string" ? mark : "", PURPOSE);
  } catch (cause) {
    throw new PortcullisError(
      "state_unusable",
      `the shared store was sealed with another key than \`${config.stateDir}/vault.key\`: ` +
        "copy that file from a machine that uses the store, then start again",
      { cause, data: { path: config.stateDir } },
    );
  }
}

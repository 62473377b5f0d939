/** Looks at this machine for `doctor`. What cannot be looked at is left open; nothing is started, made or changed. */
import { lstatSync, statSync } from "node:fs";
import { join } from "node:path";
import { readVaultKey, vaultKeyPath } from "../auth/vault.ts";
import type { Clock } from "../base/clock.ts";
import { isJsonObject, ownProperty } from "../base/json.ts";
import type { Random } from "../base/random.ts";
import type { Config } from "../config/compiled.ts";
import { loadConfig, type LoadOptions } from "../config/load.ts";
import { createHttpPort } from "../egress/dial.ts";
import { toPortcullisError } from "../errors.ts";
import { lateResolverOf } from "../host/make-transport.ts";
import { lookAtSharedStore } from "../host/open-store.ts";
import { refuseDamaged } from "../store/sqlite-damage.ts";
import { openSqliteStore } from "../store/sqlite.ts";
import { lookForStateDirectory, STATE_FILE } from "../store/state-directory.ts";
import { listGroup } from "../transport/process-group.ts";
import { probeSandbox } from "../transport/sandbox-probe.ts";
import type { DoctorFacts, GatewayFinding } from "./doctor.ts";
import { readGatewayFile, type GatewayFile } from "./gateway-file.ts";

export interface DoctorInput {
  readonly load: LoadOptions;
  readonly clock: Clock;
  readonly random: Random;
  /** The gateway of this state, if it shows that it is the one. */
  readonly findGateway: (stateDir: string) => Promise<GatewayFile | undefined>;
  readonly signal: AbortSignal;
}

/** @throws the signal's reason. */
export async function gatherDoctorFacts(input: DoctorInput): Promise<DoctorFacts> {
  const { load, clock, signal } = input;
  const loaded = await loadConfig(load).catch((error: unknown) => toPortcullisError(error));
  const config = "config" in loaded ? loaded.config : loaded;
  const base = {
    host: load,
    node: process.versions.node,
    sqlite: process.versions["sqlite"] ?? null,
    config,
  };
  const unseen = {
    state: null,
    vault: null,
    leftovers: null,
    stateProblem: null,
    sharedStore: null,
    gateway: null,
  };
  if (!("servers" in config)) return { ...base, ...unseen, isStateUntrusted: false, sandbox: null };
  const trust = "config" in loaded ? loaded.trustNeeded : null;
  const isElsewhere = trust?.stateDir !== config.stateDir || config.store.kind === "postgresql";
  const isStateUntrusted = trust !== null && isElsewhere;
  const asksForSandbox = [...config.servers.values()].some(({ sandbox }) => sandbox !== null);
  return {
    ...base,
    ...unseen,
    ...(isStateUntrusted
      ? {}
      : {
          ...(await lookAtState(config, input)),
          sharedStore: await lookAtDatabase(config, input),
          gateway: await lookAtGateway(config, input),
        }),
    isStateUntrusted,
    sandbox: asksForSandbox
      ? await probeSandbox({ path: load.env["PATH"] ?? "", platform: load.platform, clock, signal })
      : null,
  };
}

type StateFacts = Pick<DoctorFacts, "state" | "vault" | "leftovers" | "stateProblem">;

/** Opens the store only where there is one, and where opening it would change no mode. */
async function lookAtState({ stateDir }: Config, input: DoctorInput): Promise<StateFacts> {
  const seen = { state: null, vault: null, leftovers: null, stateProblem: null };
  try {
    if (!lookForStateDirectory(stateDir)) return seen;
  } catch (error) {
    return { ...seen, stateProblem: toPortcullisError(error) };
  }
  const state = modeOf(stateDir);
  const vault = lookAtVault(stateDir);
  if (!state.isOurs || (state.mode & 0o077) !== 0) return { ...seen, state, vault };
  try {
    // A link, even one that leads nowhere, is in the way of a state file.
    const isFileThere = lstatSync(join(stateDir, STATE_FILE), { throwIfNoEntry: false }) !== undefined;
    return { ...seen, state, vault, leftovers: isFileThere ? await openState(stateDir, input) : null };
  } catch (error) {
    return { ...seen, state, vault, stateProblem: toPortcullisError(error, "state_unusable") };
  }
}

function modeOf(dir: string): NonNullable<DoctorFacts["state"]> {
  const uid = process.getuid?.();
  const stat = statSync(dir);
  return uid === undefined
    ? { mode: 0o700, isOurs: true }
    : { mode: stat.mode & 0o777, isOurs: stat.uid === uid };
}

function lookAtVault(stateDir: string): DoctorFacts["vault"] {
  try {
    return readVaultKey(vaultKeyPath(stateDir)) === undefined ? null : "usable";
  } catch (error) {
    return toPortcullisError(error);
  }
}

/** @returns children of hosts that are gone. @throws PortcullisError `state_unusable`, `state_newer`. */
async function openState(
  stateDir: string,
  { clock, random }: DoctorInput,
): Promise<NonNullable<DoctorFacts["leftovers"]>> {
  const store = await openSqliteStore({ dir: stateDir, role: "doctor", clock, random });
  try {
    refuseDamaged(stateDir);
    const dead = new Set((await store.instances.listDead()).map(({ id }) => id));
    const living = new Set((await store.instances.list()).map(({ id }) => id).filter((id) => !dead.has(id)));
    const leftovers: { pid: number; command: string }[] = [];
    for (const { value } of await store.documents.list("children")) {
      if (!isJsonObject(value)) continue;
      const [instance, pid, command] = ["instance", "pid", "command"].map((key) => ownProperty(value, key));
      if (typeof instance !== "string" || living.has(instance) || typeof pid !== "number") continue;
      const members = (await listGroup(pid)) ?? [];
      if (members.length > 0) leftovers.push({ pid, command: typeof command === "string" ? command : "?" });
    }
    return leftovers;
  } finally {
    await store.close();
  }
}

async function lookAtDatabase(config: Config, { clock }: DoctorInput): Promise<DoctorFacts["sharedStore"]> {
  try {
    return await lookAtSharedStore(config, lateResolverOf(null, { config, clock }), clock);
  } catch (error) {
    return toPortcullisError(error, "state_unusable");
  }
}

async function lookAtGateway(
  { stateDir, gateway }: Config,
  { clock, findGateway, signal }: DoctorInput,
): Promise<GatewayFinding> {
  const living = await findGateway(stateDir);
  if (living !== undefined && living.pid !== null) return { kind: "runs", url: living.url, pid: living.pid };
  const file = readGatewayFile(stateDir);
  if (file !== undefined && file.pid !== null) return { kind: "stale", pid: file.pid };
  if (gateway.port === 0) return { kind: "none" };
  const isTaken = await answers(gateway.port, clock, signal);
  return isTaken ? { kind: "port-taken", address: `${gateway.host}:${gateway.port}` } : { kind: "none" };
}

const ASK_MS = 2_000;

/** Whether anybody answers on that port of this machine, in whatever language. */
async function answers(number: number, clock: Clock, signal: AbortSignal): Promise<boolean> {
  const origin = `http://127.0.0.1:${number}`;
  const port = createHttpPort({
    clock,
    rules: { origins: [origin], allow: [], allowPrivateAddresses: true },
    limits: { connectTimeoutMs: ASK_MS },
  });
  try {
    const response = await port.request({
      method: "GET",
      url: new URL("/", origin),
      headers: {},
      headTimeoutMs: ASK_MS,
      signal,
      maxBodyBytes: 1024,
    });
    await response.body[Symbol.asyncIterator]().return?.();
    return true;
  } catch (error) {
    if (signal.aborted) throw error;
    // Connected and no answer of HTTP: somebody is there all the same.
    return toPortcullisError(error).data["wasSent"] === true;
  } finally {
    await port.close();
  }
}

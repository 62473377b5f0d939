/** Looks at this machine for `doctor`. What cannot be looked at is left open; nothing is started, made or changed. */
import { statSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../base/clock.ts";
import { isJsonObject, ownProperty } from "../base/json.ts";
import type { Random } from "../base/random.ts";
import type { Config } from "../config/compiled.ts";
import { loadConfig, type LoadOptions } from "../config/load.ts";
import { createHttpPort } from "../egress/dial.ts";
import { toPortcullisError } from "../errors.ts";
import { openSqliteStore } from "../store/sqlite.ts";
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
  const unseen = { state: null, vaultMode: null, leftovers: null, stateProblem: null, gateway: null };
  if (!("servers" in config)) return { ...base, ...unseen, isStateUntrusted: false, sandbox: null };
  const trust = "config" in loaded ? loaded.trustNeeded : null;
  const isStateUntrusted = trust !== null && trust.stateDir !== config.stateDir;
  const asksForSandbox = [...config.servers.values()].some(({ sandbox }) => sandbox !== null);
  return {
    ...base,
    ...unseen,
    ...(isStateUntrusted
      ? {}
      : { ...(await lookAtState(config, input)), gateway: await lookAtGateway(config, input) }),
    isStateUntrusted,
    sandbox: asksForSandbox
      ? await probeSandbox({ path: load.env["PATH"] ?? "", platform: load.platform, clock, signal })
      : null,
  };
}

type StateFacts = Pick<DoctorFacts, "state" | "vaultMode" | "leftovers" | "stateProblem">;

/** Opens the store only where there is one, and where opening it would change no mode. */
async function lookAtState({ stateDir }: Config, { clock, random }: DoctorInput): Promise<StateFacts> {
  const uid = process.getuid?.();
  const modeOf = (path: string): { mode: number; isOurs: boolean } | null => {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return null;
    return uid === undefined
      ? { mode: 0o700, isOurs: true }
      : { mode: stat.mode & 0o777, isOurs: stat.uid === uid };
  };
  const state = modeOf(stateDir);
  const seen = { state, vaultMode: modeOf(join(stateDir, "vault.key"))?.mode ?? null };
  const isThere = modeOf(join(stateDir, "state.db")) !== null;
  const isOurs = state !== null && state.isOurs && (state.mode & 0o077) === 0;
  if (!isThere || !isOurs) return { ...seen, leftovers: null, stateProblem: null };
  try {
    const store = await openSqliteStore({ dir: stateDir, role: "doctor", clock, random });
    try {
      const dead = new Set((await store.instances.listDead()).map(({ id }) => id));
      const living = new Set(
        (await store.instances.list()).map(({ id }) => id).filter((id) => !dead.has(id)),
      );
      const leftovers: { pid: number; command: string }[] = [];
      for (const { value } of await store.documents.list("children")) {
        if (!isJsonObject(value)) continue;
        const [instance, pid, command] = ["instance", "pid", "command"].map((key) => ownProperty(value, key));
        if (typeof instance !== "string" || living.has(instance) || typeof pid !== "number") continue;
        const members = (await listGroup(pid)) ?? [];
        if (members.length > 0) leftovers.push({ pid, command: typeof command === "string" ? command : "?" });
      }
      return { ...seen, leftovers, stateProblem: null };
    } finally {
      await store.close();
    }
  } catch (error) {
    return { ...seen, leftovers: null, stateProblem: toPortcullisError(error, "state_unusable") };
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

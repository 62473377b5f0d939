/** The security checklist: looks at configuration, state and records as they are now, and judges each line. */
import { lstatSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { verifyAudit } from "../audit/verify.ts";
import { isJsonObject, ownProperty, type JsonValue } from "../base/json.ts";
import type { Config } from "../config/compiled.ts";
import { parseConfigBytes } from "../config/jsonc.ts";
import { digestBytes, readConfigFile } from "../config/load.ts";
import { formatPath } from "../config/problems.ts";
import { thisProcess } from "../config/this-process.ts";
import { probeSandbox } from "../transport/sandbox-probe.ts";
import { SHARED_CREDENTIAL } from "../vocabulary.ts";
import type { CheckReport } from "./api.ts";
import { callRules } from "./check-calls.ts";
import type { CheckFacts, CheckLine, CheckRule, LiveProof, LiveProofId } from "./check-line.ts";
import { placeRules } from "./check-places.ts";
import { serverRules } from "./check-servers.ts";
import type { Core } from "./core.ts";
import { findLockProblem, readLock } from "./lock-record.ts";
import { viewTools } from "./tool-views.ts";

const PROOFS = "live";

/**
 * Judges every line.
 *
 * @param proofs just made, to be kept as evidence; without them the last ones count.
 */
export async function runCheck(
  core: Core,
  proofs: readonly LiveProof[] | null,
  signal: AbortSignal,
): Promise<CheckReport> {
  if (proofs !== null) await keepProofs(core, proofs);
  const proven = await readProofs(core);
  const facts = await gatherFacts(core, signal);
  const lines = [...serverRules, ...callRules, ...placeRules].map((rule) => judge(rule, facts, proven));
  const count = (state: CheckLine["state"]): number => lines.filter((line) => line.state === state).length;
  return {
    asOf: new Date(core.clock.now()).toISOString(),
    file: core.config().file,
    ok: count("fail") === 0,
    passed: count("pass"),
    failed: count("fail"),
    notApplicable: count("not-applicable"),
    lines,
  };
}

function judge(rule: CheckRule, facts: CheckFacts, proven: ReadonlyMap<LiveProofId, Proven>): CheckLine {
  const { id, area, title, test = null } = rule;
  const proof = rule.proof === undefined ? undefined : proven.get(rule.proof);
  const verdict = rule.evaluate(facts);
  const line = { id, area, title, test, proven: proof ?? null, ...verdict };
  if (proof === undefined || proof.ok) return line;
  return {
    ...line,
    state: "fail",
    fix: `the proof of ${proof.at} failed: run \`portcullis check --live\` again, and report it`,
  };
}

async function gatherFacts(core: Core, signal: AbortSignal): Promise<CheckFacts> {
  const config = core.config();
  const servers = [...config.servers.values()].filter(({ disabled }) => !disabled);
  const locks = new Map<
    string,
    { record: NonNullable<Awaited<ReturnType<typeof readLock>>>; problem: string | null }
  >();
  for (const server of servers) {
    const record = await readLock(core.store.documents, server.name);
    if (record !== undefined)
      locks.set(server.name, { record, problem: await findLockProblem(server, record, config.stateDir) });
  }
  const facts = thisProcess();
  const asksForSandbox = servers.some(({ sandbox }) => sandbox !== null);
  core.audit.release();
  await core.store.flush();
  return {
    config,
    servers,
    at: await placesIn(config),
    locks,
    tools: viewTools(core, "local"),
    listed: new Set(
      servers
        .filter(
          ({ name }) => core.registry.catalog({ server: name, credential: SHARED_CREDENTIAL }) !== undefined,
        )
        .map(({ name }) => name),
    ),
    files: readModes(config),
    audit: await verifyAudit(core.store),
    sandbox: asksForSandbox
      ? await probeSandbox({
          path: facts.env["PATH"] ?? "",
          platform: facts.platform,
          clock: core.clock,
          signal,
        })
      : null,
    isRoot: process.getuid?.() === 0,
  };
}

/** Places in the file as it was read; none where it was given in code, or changed since. */
async function placesIn(config: Config): Promise<CheckFacts["at"]> {
  const { file } = config;
  if (file === null) return (path) => ({ setting: formatPath(path) });
  const read = await readConfigFile(file).catch(() => undefined);
  const positions =
    read !== undefined && digestBytes(read.bytes) === config.digest
      ? parseConfigBytes(read.bytes).positions
      : undefined;
  return (path) => {
    // What is not written down is at its default: then the line is that of what it would stand in.
    const place = positions?.(path, "key");
    return { file, setting: formatPath(path), ...(place == null ? {} : { line: place.line }) };
  };
}

function readModes(config: Config): CheckFacts["files"] {
  const uid = process.getuid?.();
  if (uid === undefined) return { stateDir: null, stateFiles: [], config: null };
  const modeOf = (path: string): { mode: number; isOurs: boolean } | null => {
    const stat = statSync(path, { throwIfNoEntry: false });
    return stat === undefined ? null : { mode: stat.mode & 0o777, isOurs: stat.uid === uid };
  };
  const stateFiles = readdirSync(config.stateDir).flatMap((name) => {
    const stat = lstatSync(join(config.stateDir, name), { throwIfNoEntry: false });
    return stat?.isFile() === true ? [{ name, mode: stat.mode & 0o777 }] : [];
  });
  return {
    stateDir: modeOf(config.stateDir),
    stateFiles,
    config: config.file === null ? null : modeOf(config.file),
  };
}

interface Proven {
  readonly at: string;
  readonly ok: boolean;
  readonly detail: string;
}

async function keepProofs(core: Core, proofs: readonly LiveProof[]): Promise<void> {
  const at = new Date(core.clock.now()).toISOString();
  const kept = proofs.map(({ id, ok, detail }) => ({ id, ok, detail, at }));
  await core.store.documents.put("checks", PROOFS, kept);
  await core.audit.note("check.proven", { proofs: kept.map(({ id, ok }) => ({ id, ok })) });
}

async function readProofs(core: Core): Promise<ReadonlyMap<LiveProofId, Proven>> {
  const stored = await core.store.documents.get("checks", PROOFS);
  const list: readonly JsonValue[] = Array.isArray(stored?.value) ? stored.value : [];
  const proven = new Map<LiveProofId, Proven>();
  for (const value of list) {
    if (!isJsonObject(value)) continue;
    const [id, at, ok, detail] = ["id", "at", "ok", "detail"].map((key) => ownProperty(value, key));
    if (typeof id !== "string" || typeof at !== "string" || typeof detail !== "string") continue;
    proven.set(id as LiveProofId, { at, ok: ok === true, detail });
  }
  return proven;
}

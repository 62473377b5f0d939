/** What each server is doing, in one look: state, era, tools by grade, last proof of life, breaker. */
import type { ServerConfig } from "../config/compiled.ts";
import { idleState, nextStep, type ConnectionState } from "../connection/state.ts";
import { SHARED_CREDENTIAL, type ConnectionKey } from "../vocabulary.ts";
import type { ServerStatus, StatusReport } from "./views.ts";
import type { Core } from "./core.ts";
import type { Health } from "./health.ts";
import { whyIdle, type WhyIdle } from "./idle.ts";
import { viewTools } from "./tool-views.ts";

export interface StatusOptions {
  readonly server?: string;
  readonly check?: boolean;
  readonly signal?: AbortSignal;
}

export async function reportStatus(
  core: Core,
  health: Health,
  options: StatusOptions,
): Promise<StatusReport> {
  const servers = [...core.config().servers.values()].filter(
    ({ name }) => options.server === undefined || options.server === name,
  );
  if (options.check === true) {
    const signal = options.signal ?? core.signal;
    const checked = servers.filter((server) => blockedState(core, server) === null);
    await Promise.allSettled(checked.map(async ({ name }) => core.pool.get(sharedKey(name)).check(signal)));
  }
  await health.load();
  return {
    asOf: new Date(core.clock.now()).toISOString(),
    servers: servers.map((server) => statusOf(core, health, server)),
  };
}

function statusOf(core: Core, health: Health, server: ServerConfig): ServerStatus {
  const key = sharedKey(server.name);
  const connection = core.pool.find(key);
  const state = connection?.state ?? idleState(core.clock.now());
  const proof = connection?.lastProof ?? health.last(key) ?? null;
  const last = health.last(key);
  const breaker = core.guards.breaker(key).state;
  const blocked = blockedState(core, server) ?? refusedState(state);
  return {
    name: server.name,
    transport: server.launch.kind,
    state: blocked?.state ?? state.kind,
    since: new Date(state.sinceMs).toISOString(),
    reason: core.redactor.redact(blocked?.reason ?? state.reason),
    next: blocked?.next ?? nextStep(state, core.clock.now()),
    era: last?.era === "modern" || last?.era === "legacy" ? last.era : null,
    revision: last?.revision ?? null,
    tools: countTools(core, server),
    lastHealthCheck:
      proof === null
        ? null
        : { at: new Date(proof.at).toISOString(), ok: proof.ok, latencyMs: proof.latencyMs },
    lastWords: state.lastWords === undefined ? null : core.redactor.redact(state.lastWords),
    breaker: { state: breaker.kind, failures: breaker.failures },
    calls: core.guards.callsOf(key),
    auth:
      state.kind === "auth-required"
        ? "required"
        : server.auth === null || server.auth.type === "none"
          ? "none"
          : "configured",
    restarts: connection?.restarts ?? 0,
  };
}

function blockedState(
  core: Core,
  server: ServerConfig,
): { state: WhyIdle; reason: string; next: string } | null {
  const state = whyIdle(server, core.pauses);
  switch (state) {
    case null:
      return null;
    case "disabled":
      return {
        state,
        reason: "the configuration says so",
        next: "stays off until the configuration changes",
      };
    case "blocked":
      return { state, reason: server.blocked?.reason ?? "", next: server.blocked?.fix ?? "" };
    case "paused":
      return { state, reason: "an operator paused it", next: "waits for `portcullis resume`" };
  }
}

/** A start that was refused before anything ran (a changed lock, no sandbox): only the fix and `reconnect` help. */
function refusedState({ kind, code, reason }: ConnectionState): ReturnType<typeof blockedState> {
  if (kind !== "dead" || code !== "server_blocked") return null;
  return { state: "blocked", reason, next: "waits for the fix, then `portcullis reconnect`" };
}

function countTools(core: Core, server: ServerConfig): ServerStatus["tools"] {
  const counts = { total: 0, L0: 0, L1: 0, L2: 0, L3: 0, off: 0, quarantined: 0 };
  for (const tool of viewTools(core, "local", server.name)) {
    counts.total += 1;
    if (tool.quarantine === null) counts[tool.grade] += 1;
    else counts.quarantined += 1;
  }
  return counts;
}

function sharedKey(server: string): ConnectionKey {
  return { server, credential: SHARED_CREDENTIAL };
}

/** The tools that a model may be offered: what the principal may use now. */
import { holdProcess } from "../base/keep-alive.ts";
import { gradeOf } from "../policy/grades.ts";
import { isInRollout } from "../policy/rollout.ts";
import type { ListedTool } from "../registry/registry.ts";
import type { Principal } from "../vocabulary.ts";
import type { Core } from "./core.ts";
import { whyIdle } from "./idle.ts";
import { factsOf } from "./prepare.ts";

/**
 * Never waits for a server that was listed before. Servers never seen are asked, all at once; one that cannot be had is left
 * out and delays nobody beyond its own time to connect.
 */
export async function listOffered(
  core: Core,
  principal: Principal,
  signal: AbortSignal,
): Promise<readonly ListedTool[]> {
  await listUnseen(core, principal, signal);
  for (const server of core.config().servers.values()) core.lists.used(core.inputs.keyOf(server, principal));
  return core.registry.list({ principal }).filter((tool) => isOffered(core, tool, principal));
}

/** Lists every server of `principal` that was never listed; `only`: of these. */
export async function listUnseen(
  core: Core,
  principal: Principal,
  signal: AbortSignal,
  only?: string,
): Promise<void> {
  const unseen = [...core.config().servers.values()].filter(
    (server) =>
      (only === undefined || server.name === only) &&
      whyIdle(server, core.pauses) === null &&
      core.registry.catalog(core.inputs.keyOf(server, principal)) === undefined &&
      core.guards.takesCalls(core.inputs.keyOf(server, principal)),
  );
  if (unseen.length === 0) return;
  const release = holdProcess();
  const ready = unseen.map(async (server) =>
    core.pool.get(core.inputs.keyOf(server, principal)).ready(signal, server.limits.connectMs),
  );
  await Promise.allSettled(ready);
  release();
}

function isOffered(core: Core, tool: ListedTool, principal: Principal): boolean {
  const server = core.config().servers.get(tool.entry.server);
  if (server === undefined || server.disabled || !isInRollout(server, principal)) return false;
  const verdict = gradeOf(server, factsOf({ server, tool }));
  return verdict.grade !== "off" && verdict.isEnabled;
}

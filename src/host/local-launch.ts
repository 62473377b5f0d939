/** How a local server is really started: its locked package in place of the runner, and the sandbox around it. */
import type { Clock } from "../base/clock.ts";
import { childEnvironment } from "../config/child-env.ts";
import type { Config, ServerConfig } from "../config/compiled.ts";
import { userConfigDir, userStateDir, type HostFacts } from "../config/locate.ts";
import type { ResolvedLaunch } from "../config/resolve-launch.ts";
import { PortcullisError } from "../errors.ts";
import type { Documents } from "../store/store.ts";
import type { ProcessCommand } from "../transport/process.ts";
import { probeSandbox } from "../transport/sandbox-probe.ts";
import { sandboxed } from "../transport/sandbox.ts";
import { openLocked } from "./lock-record.ts";

export interface LocalLaunchDeps {
  readonly config: Config;
  readonly clock: Clock;
  readonly documents: Pick<Documents, "get">;
}

/**
 * The command of a local server, checked just now: nothing is started that is not what was locked, and nothing runs bare that was
 * to run in a sandbox.
 *
 * @throws PortcullisError `server_blocked` with the fix, `spawn_failed`, or the signal's reason.
 */
export async function prepareLocalLaunch(
  server: ServerConfig,
  launch: Extract<ResolvedLaunch, { kind: "stdio" }>,
  facts: HostFacts,
  { config, clock, documents }: LocalLaunchDeps,
  signal: AbortSignal,
): Promise<ProcessCommand> {
  const locked = await openLocked(server, config.stateDir, documents);
  const command = locked?.command ?? launch.command;
  const args = locked === undefined ? launch.args : launch.args.slice(server.package?.argsFrom);
  const env = childEnvironment({ host: facts.env, entry: launch.env, platform: facts.platform, command });
  const bare: ProcessCommand = { command, args, env, cwd: launch.cwd };
  if (server.sandbox === null) return bare;
  if (server.package !== null && locked === undefined) {
    throw blocked(
      server,
      `a sandbox does not let \`${server.package.runner}\` fetch its package`,
      `run \`portcullis lock ${server.name}\``,
    );
  }
  const probe = await probeSandbox({
    path: facts.env["PATH"] ?? "",
    platform: facts.platform,
    clock,
    signal,
  });
  if (!probe.ok) throw blocked(server, `its sandbox cannot be had: ${probe.reason}`, probe.fix);
  const { read, write, net } = server.sandbox;
  const rules = { read, write, hasNetwork: net.length > 0, hidden: listHidden(config, facts) };
  return sandboxed(bare, rules, probe.bubblewrap, server.name);
}

/** What no sandboxed server may see or change: this state and configuration, and those of all others of this user. */
function listHidden(config: Config, facts: HostFacts): readonly string[] {
  const own = config.file === null ? [config.stateDir] : [config.stateDir, config.file];
  return [...own, userStateDir(facts), userConfigDir(facts)];
}

function blocked(server: ServerConfig, reason: string, fix: string): PortcullisError {
  return new PortcullisError("server_blocked", `\`${server.name}\` is blocked: ${reason}; ${fix}`, {
    data: { reason, fix },
  });
}

/**
 * Step 1 of a call: which tool is meant, and may it be used at all? Lists a server that was never seen before, and waits where one has
 * announced that its tools changed.
 */
import { PortcullisError, type ErrorCode } from "../errors.ts";
import type { QuarantineCode } from "../registry/entry.ts";
import type { RegisteredTool, Resolution } from "../registry/registry.ts";
import type { ServerConfig } from "../config/compiled.ts";
import type { Principal } from "../vocabulary.ts";
import type { ToolTarget } from "./api.ts";
import { requireServer, type Core } from "./core.ts";
import { refuseIdle } from "./idle.ts";

export interface ResolvedTool {
  readonly server: ServerConfig;
  readonly tool: RegisteredTool;
}

/**
 * @throws PortcullisError `unknown_server` (by target), `unknown_tool` (with near names), `tool_changed`, `tool_quarantined`, or why the server cannot be listed.
 */
export function resolveTool(
  core: Core,
  query: string | ToolTarget,
  principal: Principal,
  signal: AbortSignal,
): ResolvedTool | Promise<ResolvedTool> {
  if (typeof query !== "string") requireServer(core.config(), query.server);
  const resolution = core.registry.resolve(query, principal);
  const listing =
    resolution.kind === "unlisted"
      ? list(core, resolution, signal)
      : settle(core, query, resolution, principal, signal);
  if (listing === undefined) return judge(core, query, resolution);
  return listing.then(() => resolveKnownTool(core, query, principal));
}

/** Waits where the server has announced that what is known of its tools is not so any more; for a name that nobody has, of any server. */
function settle(
  core: Core,
  query: string | ToolTarget,
  resolution: Exclude<Resolution, { readonly kind: "unlisted" }>,
  principal: Principal,
  signal: AbortSignal,
): Promise<unknown> | undefined {
  if (resolution.kind === "tool") return core.lists.settle(resolution.tool.key, signal);
  const { servers } = core.config();
  const only = typeof query === "string" ? undefined : servers.get(query.server);
  const meant = only === undefined ? [...servers.values()] : [only];
  const settling = meant.flatMap(
    (server) => core.lists.settle(core.inputs.keyOf(server, principal), signal) ?? [],
  );
  return settling.length === 0 ? undefined : Promise.all(settling);
}

async function list(
  core: Core,
  { server, key }: Extract<Resolution, { readonly kind: "unlisted" }>,
  signal: AbortSignal,
): Promise<void> {
  refuseIdle(requireServer(core.config(), server), core.pauses);
  core.guards.breaker(key).check();
  await core.pool.get(key).ready(signal, requireServer(core.config(), server).limits.connectMs);
}

/**
 * Holds a call back whose tool is not what was decided about any more: its server was started anew, or listed again, meanwhile.
 *
 * @throws PortcullisError `tool_changed`, `tool_quarantined`, `unknown_tool`.
 */
export function requireUnchanged(core: Core, { tool }: ResolvedTool, principal: Principal): void {
  const { server, name, pin } = tool.entry;
  const now = resolveKnownTool(core, { server, tool: name }, principal);
  if (now.tool.entry.pin === pin) return;
  throw new PortcullisError(
    "tool_changed",
    `the definition of \`${tool.exposedName}\` changed after the call was decided`,
    { data: { server, tool: name, wasSent: false } },
  );
}

/** Like `resolveTool`, with what is known now and without waiting for a server. */
function resolveKnownTool(core: Core, query: string | ToolTarget, principal: Principal): ResolvedTool {
  return judge(core, query, core.registry.resolve(query, principal));
}

function judge(core: Core, query: string | ToolTarget, resolution: Resolution): ResolvedTool {
  switch (resolution.kind) {
    case "tool": {
      const server = requireServer(core.config(), resolution.tool.entry.server);
      return { server, tool: resolution.tool };
    }
    case "quarantined": {
      const { quarantine, server, tool } = resolution;
      throw new PortcullisError(
        codeOf(quarantine.code),
        `\`${tool}\` of \`${server}\` is held: ${quarantine.reason}`,
        {
          data: { server, tool, quarantine: quarantine.code },
        },
      );
    }
    case "unlisted":
      throw new PortcullisError("server_unavailable", `the tools of \`${resolution.server}\` are not known`, {
        data: { server: resolution.server, tool: resolution.tool, wasSent: false },
      });
    case "unknown": {
      const near =
        resolution.near.length === 0
          ? ""
          : `; near: ${resolution.near.map((name) => `\`${name}\``).join(", ")}`;
      const target = typeof query === "string" ? { tool: query } : query;
      throw new PortcullisError("unknown_tool", `${resolution.message}: \`${nameOf(query)}\`${near}`, {
        data: { ...target, near: resolution.near },
      });
    }
  }
}

function nameOf(query: string | ToolTarget): string {
  return (typeof query === "string" ? query : `${query.server} ${query.tool}`).slice(0, 200);
}

function codeOf(code: QuarantineCode): ErrorCode {
  return code === "changed" ? "tool_changed" : "tool_quarantined";
}

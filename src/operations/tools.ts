import { z } from "zod";
import { assertNever } from "../base/assert-never.ts";
import type { ServerStatus, ToolView } from "../host/views.ts";
import { defineOperation, nameInput } from "./operation.ts";

/** Tools with exposed name, grade and where it comes from, pin state, token cost. */
export const tools = defineOperation({
  name: "tools",
  summary: "the tools of all servers, with their grades",
  input: z.strictObject({
    server: nameInput.optional(),
    search: z.string().max(512).optional(),
    refresh: z.boolean().default(false),
  }),
  isLive: true,
  async run({ host, signal }, { server, search, refresh }) {
    const only = server === undefined ? {} : { server };
    const all = await host.tools({ refresh, signal, ...only });
    // What could not be asked for in time is missing, and looks as if there were none.
    signal.throwIfAborted();
    const { servers } = await host.status(only);
    return {
      tools: search === undefined ? all : all.filter((tool) => matches(tool, search)),
      troubled: servers.filter(isTroubled).map(({ name, state, reason, next, lastWords }): TroubledServer => {
        return { name, state, reason, next, lastWords };
      }),
    };
  },
});

/** A server whose tools could not be asked for, or not anew. */
export type TroubledServer = Pick<ServerStatus, "name" | "state" | "reason" | "next" | "lastWords">;

function isTroubled({ state, tools: { total }, lastHealthCheck }: ServerStatus): boolean {
  switch (state) {
    case "backing-off":
    case "auth-required":
    case "incompatible":
    case "dead":
    case "blocked":
      return true;
    // Over HTTP it gives up until the next call.
    case "idle":
      return total === 0 && lastHealthCheck?.ok === false;
    case "connecting":
    case "ready":
    case "degraded":
    case "closing":
    case "closed":
    case "disabled":
    case "paused":
      return false;
    default:
      return assertNever(state);
  }
}

/** Every word of the search occurs in name, title or description. */
function matches(tool: ToolView, search: string): boolean {
  const text = `${tool.name} ${tool.title ?? ""} ${tool.description ?? ""}`.toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/u)
    .every((word) => text.includes(word));
}

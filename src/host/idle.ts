/** Why an operator does not let a server run. What it says or does itself is another matter: `connection/state.ts`. */
import type { ServerConfig } from "../config/compiled.ts";
import { PortcullisError } from "../errors.ts";
import type { Core } from "./core.ts";

/** `blocked`: its entry may not run as it stands. */
export type WhyIdle = "disabled" | "blocked" | "paused";

/** `null` where it may run. */
export function whyIdle(server: ServerConfig, pauses: Core["pauses"]): WhyIdle | null {
  if (server.disabled) return "disabled";
  if (server.blocked !== null) return "blocked";
  return pauses.isPaused(server.name) ? "paused" : null;
}

/** @throws PortcullisError `server_blocked`, `server_paused`: nothing was sent. */
export function refuseIdle(server: ServerConfig, pauses: Core["pauses"]): void {
  const { name, blocked } = server;
  const data = { wasSent: false };
  switch (whyIdle(server, pauses)) {
    case null:
      return;
    case "disabled":
      throw new PortcullisError("server_blocked", `\`${name}\` is disabled in the configuration`, { data });
    case "blocked": {
      const why = blocked === null ? "" : `: ${blocked.reason}; ${blocked.fix}`;
      throw new PortcullisError("server_blocked", `\`${name}\` is blocked${why}`, { data });
    }
    case "paused":
      throw new PortcullisError("server_paused", `\`${name}\` is paused`, { data });
  }
}

/** Who sees a server that is being rolled out: always the same ones for the same percentage, and nobody falls out as it grows. */
import { createHash } from "node:crypto";
import type { ServerConfig } from "../config/compiled.ts";
import type { Principal } from "../vocabulary.ts";

/** Whether `principal` is inside the rollout of `server`; everybody is where none is configured. */
export function isInRollout(server: Pick<ServerConfig, "name" | "rollout">, principal: Principal): boolean {
  const { rollout } = server;
  if (rollout === null || rollout.percent >= 100) return true;
  if (rollout.principals.includes(principal)) return true;
  return rolloutShare(server.name, principal) < rollout.percent;
}

/** Where `principal` stands between 0 (in first) and 100 (in last) for this server; another server has another order. */
export function rolloutShare(server: string, principal: Principal): number {
  const hash = createHash("sha256").update(`${server}\0${principal}`).digest();
  return (hash.readUInt32BE(0) / 2 ** 32) * 100;
}

/** Transports in front of the outside HTTP field servers; both end after each test. */
import { afterEach } from "vitest";
import { fieldServer } from "./field.ts";
import { callModern, openHttpPeer, type Ended, type HttpPeer, type HttpPeerOptions } from "./http-peer.ts";
import { startScriptServer, type ScriptServer } from "./local-http.ts";

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

export interface FieldPeer extends HttpPeer {
  readonly server: ScriptServer;
}

export async function startField(
  name: string,
  env: Record<string, string>,
  options: HttpPeerOptions = {},
): Promise<FieldPeer> {
  const server = await startScriptServer(fieldServer(name), env);
  ends.push(server.close);
  const peer = await openHttpPeer(server.url, options);
  ends.push(peer.close);
  return { ...peer, server };
}

/** A request in the manner of `era`, after the handshake that it needs. */
export async function callerFor(
  era: "legacy" | "modern",
  peer: HttpPeer,
): Promise<(name: string, args?: Record<string, string>) => Promise<Ended>> {
  if (era === "legacy") {
    await peer.handshake();
    return (name, args = {}) => peer.call("tools/call", { name, arguments: args });
  }
  peer.transport.settle({ era: "modern", revision: "2026-07-28" });
  return (name, args = {}) => callModern(peer, "tools/call", { name, arguments: args });
}

/** How a call ended, in one line. */
export function inShort(ended: Ended): string {
  if (ended.kind === "failed") return ended.error.code;
  return "error" in ended.message ? `rpc ${ended.message.error.code} in ${ended.origin.httpStatus}` : "ok";
}

export const ERAS = ["legacy", "modern"] as const;

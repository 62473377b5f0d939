/**
 * Runs before every test file: no address but loopback may be connected to, and after the file nothing may be left open
 * (lifetimes, timers of the system clock, sockets, servers, child processes).
 */
import net from "node:net";
import fc from "fast-check";
import { afterAll } from "vitest";
import { countRunningTimers } from "../../src/base/clock.ts";
import { listOpenLifetimes } from "../../src/base/lifetime.ts";

// The gate judges a change, not the luck of a draw: the same values every time. `PROPERTY_SEED=$RANDOM` looks further.
fc.configureGlobal({ seed: Number(process.env["PROPERTY_SEED"] ?? 20_261_130) });

const LOOPBACK = new Set(["127.0.0.1", "::1", "localhost", "::ffff:127.0.0.1"]);

const connect = net.Socket.prototype.connect;
net.Socket.prototype.connect = function guarded(this: net.Socket, ...args: unknown[]): net.Socket {
  const first = Array.isArray(args[0]) ? (args[0] as unknown[])[0] : args[0];
  if (typeof first === "object" && first !== null) {
    const { host, path } = first as { host?: string; path?: string };
    if (path === undefined && host !== undefined && !LOOPBACK.has(host) && !host.startsWith("127.")) {
      throw new Error(`test tried to connect to ${host}: only loopback is allowed`);
    }
  }
  return Reflect.apply(connect, this, args) as net.Socket;
};

/** What keeps a process alive and belongs to a test, by the name that Node gives it. */
const WATCHED = new Set(["TCPSocketWrap", "TCPServerWrap", "PipeServerWrap", "ProcessWrap", "FSReqCallback"]);

function listLeaks(before: Map<string, number>): string[] {
  const leaks: string[] = [];
  const after = countResources();
  for (const [kind, count] of after) {
    const extra = count - (before.get(kind) ?? 0);
    if (extra > 0) leaks.push(`${extra} × ${kind}`);
  }
  for (const name of listOpenLifetimes()) leaks.push(`lifetime ${name}`);
  if (countRunningTimers() > 0) leaks.push(`${countRunningTimers()} × timer of the system clock`);
  return leaks;
}

function countResources(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo()) {
    if (WATCHED.has(kind)) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return counts;
}

const atStart = countResources();

afterAll(async () => {
  // Sockets and children need a few turns of the event loop to be gone after their `close` was awaited.
  let leaks = listLeaks(atStart);
  for (let turn = 0; turn < 100 && leaks.length > 0; turn += 1) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    leaks = listLeaks(atStart);
  }
  if (leaks.length > 0) throw new Error(`left open after the file: ${leaks.join(", ")}`);
});

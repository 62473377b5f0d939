/** A stdio server and plain JSON-RPC lines to it, without any client: for tests of what it lists. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

export interface RawStdio {
  /** One request, its result as it came. Rejects with the error object's message. */
  request(method: string, params?: Record<string, unknown>): Promise<Record<string, unknown>>;
  /** Resolves at the next message without an id. */
  nextNotification(method: string): Promise<void>;
  close(): Promise<void>;
}

const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
  "io.modelcontextprotocol/clientInfo": { name: "raw", version: "0" },
};

/** Starts `node file` with `env` beside PATH. Requests are of the modern era, so there is no handshake. */
export function openRawStdio(file: string, env: Readonly<Record<string, string>> = {}): RawStdio {
  const child = spawn(process.execPath, [file], {
    env: { PATH: process.env["PATH"] ?? "", ...env },
    stdio: ["pipe", "pipe", "ignore"],
  });
  const waiting = new Map<
    number,
    { resolve: (result: Record<string, unknown>) => void; reject: (error: Error) => void }
  >();
  const listeners = new Map<string, (() => void)[]>();
  let nextId = 0;
  createInterface({ input: child.stdout }).on("line", (line) => {
    const message = JSON.parse(line) as {
      id?: number;
      method?: string;
      result?: Record<string, unknown>;
      error?: { message: string };
    };
    if (message.id === undefined) {
      for (const resolve of listeners.get(message.method ?? "")?.splice(0) ?? []) resolve();
      return;
    }
    const waiter = waiting.get(message.id);
    waiting.delete(message.id);
    if (message.result !== undefined) waiter?.resolve(message.result);
    else waiter?.reject(new Error(message.error?.message ?? "no result"));
  });
  return {
    request(method, params = {}) {
      nextId += 1;
      const id = nextId;
      const answered = new Promise<Record<string, unknown>>((resolve, reject) =>
        waiting.set(id, { resolve, reject }),
      );
      child.stdin.write(
        `${JSON.stringify({ jsonrpc: "2.0", id, method, params: { ...params, _meta: META } })}\n`,
      );
      return answered;
    },
    nextNotification: (method) =>
      new Promise((resolve) => listeners.set(method, [...(listeners.get(method) ?? []), resolve])),
    async close() {
      const closed = once(child, "close");
      child.stdin.end();
      child.kill("SIGKILL");
      await closed;
    },
  };
}

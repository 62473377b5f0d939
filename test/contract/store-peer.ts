/** A store in a process of its own, seen through the port: what `store-peer.mjs` opens. */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { PortcullisError, type ErrorCode } from "../../src/errors.ts";
import type { Instance, Lease, Store } from "../../src/store/store.ts";

const peerFile = fileURLToPath(new URL("store-peer.mjs", import.meta.url));

type Message =
  | { readonly event: "ready"; readonly self: Instance }
  | { readonly event: "changed" | "aborted"; readonly key: number }
  | {
      readonly id: number;
      readonly value?: unknown;
      readonly failure?: { readonly code?: ErrorCode; readonly message: string };
    };

interface Call {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** Starts the process and opens the store in it. @param place a state directory, or the URL of a database. */
export async function openPeerStore(place: string): Promise<Store> {
  const child = fork(peerFile, [place], {
    serialization: "advanced",
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const calls = new Map<number, Call>();
  const listeners = new Map<number, () => void>();
  const held = new Map<number, AbortController>();
  let serial = 0;
  let closing: Promise<void> | undefined;

  const self = await new Promise<Instance>((resolve, reject) => {
    child.once("exit", () => reject(new Error("the peer ended before it was ready")));
    child.on("message", (message: Message) => {
      if ("id" in message) settle(calls, message);
      else if (message.event === "ready") resolve(message.self);
      else if (message.event === "changed") listeners.get(message.key)?.();
      else held.get(message.key)?.abort(new PortcullisError("interrupted", "the lease is lost"));
    });
  });

  const ask = <T>(verb: string, ...args: readonly unknown[]): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      if (closing !== undefined && verb !== "close") {
        reject(new PortcullisError("interrupted", "the store is closed"));
        return;
      }
      serial += 1;
      calls.set(serial, { resolve: (value) => resolve(value as T), reject });
      child.send({ id: serial, verb, args });
    });

  return {
    documents: {
      get: (...args) => ask("get", ...args),
      put: (...args) => ask("put", ...args),
      delete: (...args) => ask("delete", ...args),
      list: (...args) => ask("list", ...args),
    },
    records: {
      append: (...args) => ask("append", ...args),
      query: (filter) => ask("query", filter),
      async *scan(filter) {
        yield* await ask<[]>("scan", filter);
      },
      listOpen: () => ask("listOpen"),
      heads: () => ask("heads"),
      verify: (...args) => ask("verify", ...args),
      prune: (beforeMs) => ask("prune", beforeMs),
    },
    instances: {
      self,
      list: () => ask("instances"),
      listDead: () => ask("listDead"),
      remove: (id) => ask("remove", id),
    },
    leases: {
      async acquire(name, signal): Promise<Lease> {
        serial += 1;
        const key = serial;
        const onAbort = (): void => void ask("abort", key, (signal.reason as Error).message);
        const acquiring = ask("acquire", name, key);
        if (signal.aborted) onAbort();
        else signal.addEventListener("abort", onAbort, { once: true });
        await acquiring.finally(() => signal.removeEventListener("abort", onAbort));
        const controller = new AbortController();
        held.set(key, controller);
        return { name, signal: controller.signal, release: () => ask("release", key) };
      },
    },
    watch(topic, listener) {
      serial += 1;
      const key = serial;
      listeners.set(key, listener);
      const watching = ask("watch", topic, key);
      watching.catch(() => undefined);
      return () => {
        listeners.delete(key);
        ask("unwatch", key).catch(() => undefined);
      };
    },
    flush: () => ask("flush"),
    close() {
      closing ??= end(child, ask("close"));
      return closing;
    },
  };
}

function settle(calls: Map<number, Call>, message: Extract<Message, { id: number }>): void {
  const call = calls.get(message.id);
  calls.delete(message.id);
  const { failure } = message;
  if (failure === undefined) call?.resolve(message.value);
  else if (failure.code === undefined) call?.reject(new Error(failure.message));
  else call?.reject(new PortcullisError(failure.code, failure.message));
}

async function end(child: ChildProcess, closed: Promise<unknown>): Promise<void> {
  const exit = once(child, "exit");
  await closed;
  child.disconnect();
  await exit;
}

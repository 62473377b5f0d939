/** Requests of one peer that are being answered, by id: what `notifications/cancelled` ends. */
import { linkAbort, type LinkedAbort } from "../base/abort.ts";
import { PortcullisError } from "../errors.ts";
import type { RequestId } from "../protocol/jsonrpc.ts";

export interface InFlight {
  readonly size: number;
  /**
   * Runs `work` under `id`.
   *
   * @returns its answer; `cancelled` where the peer took the request back, so that nothing may be answered; `duplicate`
   * where the id is already in use.
   */
  run<T>(
    id: RequestId,
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<
    { readonly kind: "answered"; readonly answer: T } | { readonly kind: "cancelled" | "duplicate" }
  >;
  /** The peer took `id` back. Unknown ids are ignored: their answer may be on its way. */
  cancel(id: RequestId): void;
}

export function createInFlight(): InFlight {
  const running = new Map<RequestId, { readonly link: LinkedAbort; isCancelled: boolean }>();
  return {
    get size() {
      return running.size;
    },
    async run(id, signal, work) {
      if (running.has(id)) return { kind: "duplicate" };
      const entry = { link: linkAbort(signal), isCancelled: false };
      running.set(id, entry);
      try {
        const answer = await work(entry.link.signal);
        return entry.isCancelled ? { kind: "cancelled" } : { kind: "answered", answer };
      } finally {
        entry.link.unlink();
        running.delete(id);
      }
    },
    cancel(id) {
      const entry = running.get(id);
      if (entry === undefined) return;
      entry.isCancelled = true;
      entry.link.abort(new PortcullisError("cancelled", "the client took the request back"));
    },
  };
}

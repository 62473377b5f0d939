/**
 * What is asked of a legacy client: requests of ours on the stream of the request that they belong to, matched to their answers by
 * id. Source: 2025-11-25 basic/index, client/elicitation.
 *
 * Invariants: every question ends, by an answer, by its signal or with the client; one that is not wanted any more is taken back.
 */
import { abortReason, untilAborted } from "../base/abort.ts";
import type { JsonObject } from "../base/json.ts";
import { PortcullisError } from "../errors.ts";
import type { InputRequest } from "../protocol/input-requests.ts";
import type { JsonRpcErrorObject, RequestId } from "../protocol/jsonrpc.ts";
import { notifications } from "../protocol/methods.ts";

export interface PeerQuestions {
  /**
   * Asks and waits for the result.
   *
   * @param send writes one message on the stream of the request; false where there is none.
   * @throws PortcullisError `input_refused` where the client cannot be asked or answers with an error; the reason of `signal`.
   */
  ask(request: InputRequest, signal: AbortSignal, send: (message: object) => boolean): Promise<JsonObject>;
  /** An answer of the client. Unknown ids are passed over: it may have been taken back. */
  answered(id: RequestId | undefined, answer: PeerAnswer): void;
  /** The client is gone. */
  close(): void;
}

export type PeerAnswer =
  | { readonly ok: true; readonly result: JsonObject }
  | { readonly ok: false; readonly error: JsonRpcErrorObject };

const MAX_OPEN = 64;

export function createPeerQuestions(): PeerQuestions {
  const open = new Map<RequestId, PromiseWithResolvers<JsonObject>>();
  let last = 0;
  return {
    async ask(request, signal, send) {
      if (open.size >= MAX_OPEN) throw refused("the client has too many questions to answer already");
      last += 1;
      const id = `portcullis-${last}`;
      const answer = Promise.withResolvers<JsonObject>();
      open.set(id, answer);
      try {
        if (!send({ jsonrpc: "2.0", id, ...request }))
          throw refused("the client takes no event stream, so it cannot be asked");
        return await untilAborted(answer.promise, signal);
      } catch (error) {
        if (signal.aborted) {
          const params = { requestId: id, reason: abortReason(signal).message.slice(0, 200) };
          send({ jsonrpc: "2.0", method: notifications.cancelled, params });
        }
        throw error;
      } finally {
        open.delete(id);
      }
    },
    answered(id, answer) {
      const waiting = id === undefined ? undefined : open.get(id);
      if (answer.ok) waiting?.resolve(answer.result);
      else waiting?.reject(refused(`the client answered by error ${answer.error.code}`));
    },
    close() {
      for (const waiting of open.values()) waiting.reject(refused("the client is gone"));
    },
  };
}

function refused(message: string): PortcullisError {
  return new PortcullisError("input_refused", message);
}

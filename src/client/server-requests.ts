/**
 * What a legacy server asks directly: ping, elicitation, sampling, roots. A modern server may ask nothing; there a request
 * is counted and dropped, and never answered (transports/stdio#sending-messages).
 *
 * Invariants: every question gets exactly one answer unless the server took it back; at most `maxInputs` are open and
 * `inputsPerMinute` taken; while one is open, the request of ours that it belongs to stands still.
 */
import { linkAbort } from "../base/abort.ts";
import { isJsonObject, ownProperty, type JsonObject } from "../base/json.ts";
import { PortcullisError } from "../errors.ts";
import { metaKeys, rpcCodes } from "../protocol/codes.ts";
import type { JsonRpcRequest, JsonRpcResponse, RequestId } from "../protocol/jsonrpc.ts";
import { methods, MULTI_ROUND_METHODS } from "../protocol/methods.ts";
import type { MessageOrigin } from "../transport/transport.ts";
import { readMeta } from "../wire/meta.ts";
import { answerInput } from "./answer-input.ts";
import type { Core } from "./core.ts";
import type { PendingRequest } from "./correlation.ts";
import { declareCapabilities, type InputContext } from "./input-handler.ts";

export interface ServerRequests {
  /** @param isLegacy whether the connection is (or is becoming) a legacy one. */
  receive(message: JsonRpcRequest, origin: MessageOrigin, isLegacy: boolean): void;
  /** The server takes a question back: nothing is answered. */
  cancelled(id: RequestId): void;
}

const MINUTE_MS = 60_000;

export function createServerRequests(core: Core): ServerRequests {
  const open = new Map<RequestId, { abort(): void }>();
  let windowStartMs = -Infinity;
  let inWindow = 0;

  const reply = (response: JsonRpcResponse): void => {
    core.transport.send(response, { headers: core.authorization() }).catch((error: unknown) => {
      core.oddities.note("input.answer-not-sent", error instanceof Error ? error.message : "");
    });
  };

  const refuse = (id: RequestId, code: number, message: string): void =>
    reply({ jsonrpc: "2.0", id, error: { code, message } });

  const mayAsk = (): boolean => {
    if (open.size >= core.limits.maxInputs) return false;
    const nowMs = core.clock.monotonic();
    if (nowMs - windowStartMs >= MINUTE_MS) {
      windowStartMs = nowMs;
      inWindow = 0;
    }
    inWindow += 1;
    return inWindow <= core.limits.inputsPerMinute;
  };

  /** The request of ours that a question belongs to: HTTP says it by the stream; a stream only where one alone is in flight. */
  const requestBehind = (origin: MessageOrigin): PendingRequest | undefined => {
    if (origin.requestId !== undefined) return core.correlation.get(origin.requestId);
    let only: PendingRequest | undefined;
    for (const request of core.correlation.all()) {
      if (!MULTI_ROUND_METHODS.has(request.method)) continue;
      if (only !== undefined) return undefined;
      only = request;
    }
    return only;
  };

  const answer = async (
    message: JsonRpcRequest,
    behind: PendingRequest | undefined,
    paused: readonly (() => void)[],
  ): Promise<void> => {
    const { id, method } = message;
    const link = linkAbort(core.signal);
    const entry = { abort: () => link.abort(new Error("the server took its question back")) };
    open.set(id, entry);
    const task = readRelatedTask(message.params);
    const context: InputContext = {
      era: "legacy",
      round: 1,
      signal: link.signal,
      ...(task === undefined ? {} : { taskId: task.taskId }),
      ...(behind === undefined ? {} : { requestId: behind.id, method: behind.method }),
    };
    const inputs = behind?.inputs ?? core.inputs;
    const declared =
      behind?.inputs === undefined
        ? core.capabilities
        : declareCapabilities(core.baseCapabilities, behind.inputs);
    try {
      const request = message.params === undefined ? { method } : { method, params: message.params };
      const result: JsonObject = await answerInput(request, declared, inputs, context);
      const related: JsonObject =
        task === undefined ? {} : { _meta: { [metaKeys.relatedTask]: { taskId: task.taskId } } };
      if (open.get(id) === entry) reply({ jsonrpc: "2.0", id, result: { ...result, ...related } });
    } catch (error) {
      if (open.get(id) === entry)
        refuse(
          id,
          answerCodeOf(error),
          error instanceof Error ? error.message.slice(0, 200) : "not answered",
        );
    } finally {
      if (open.get(id) === entry) open.delete(id);
      link.unlink();
      for (const resume of paused) resume();
    }
  };

  return {
    receive(message, origin, isLegacy) {
      const { id, method } = message;
      if (!isLegacy) {
        core.oddities.note("request.in-modern-era", method.slice(0, 80));
        return;
      }
      if (method === methods.ping) {
        reply({ jsonrpc: "2.0", id, result: {} });
        return;
      }
      if (open.has(id)) {
        core.oddities.note("request.duplicate-id", method.slice(0, 80));
        return;
      }
      if (!mayAsk()) {
        core.oddities.note("request.too-many", method.slice(0, 80));
        refuse(id, rpcCodes.internalError, "too many requests at once");
        return;
      }
      const behind = requestBehind(origin);
      const waiting =
        behind === undefined && origin.requestId === undefined
          ? [...core.correlation.all()]
          : behind === undefined
            ? []
            : [behind];
      const paused = waiting
        .filter((request) => MULTI_ROUND_METHODS.has(request.method))
        .map((request) => core.correlation.pause(request));
      void answer(message, behind, paused);
    },
    cancelled(id) {
      const entry = open.get(id);
      if (entry === undefined) {
        core.oddities.note("cancelled.unknown-request", String(id).slice(0, 80));
        return;
      }
      open.delete(id);
      entry.abort();
    },
  };
}

/** The task that a legacy question belongs to; what answers it names the task too. */
function readRelatedTask(params: JsonObject | undefined): { readonly taskId: string } | undefined {
  const meta = readMeta(params);
  const related = meta === undefined ? undefined : ownProperty(meta, metaKeys.relatedTask);
  const taskId = isJsonObject(related) ? ownProperty(related, "taskId") : undefined;
  return typeof taskId === "string" ? { taskId } : undefined;
}

function answerCodeOf(error: unknown): number {
  const code = error instanceof PortcullisError ? error.data["rpcCode"] : undefined;
  return typeof code === "number" ? code : rpcCodes.internalError;
}

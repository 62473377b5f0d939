/**
 * What comes in: each message is judged once and goes to exactly one place. Nothing in here throws or waits.
 *
 * Invariants: an answer ends the request whose id it carries, with its type, and no other; over HTTP only on the exchange of
 * that request; the first answer wins; what belongs nowhere is counted and dropped, and never harms another request.
 */
import type { JsonObject } from "../base/json.ts";
import type { PortcullisError } from "../errors.ts";
import type {
  JsonRpcErrorObject,
  JsonRpcNotification,
  JsonRpcRequest,
  RequestId,
} from "../protocol/jsonrpc.ts";
import type { MessageOrigin } from "../transport/transport.ts";
import { classifyMessage, type ClassifiedMessage, type MessageFlaw } from "../wire/jsonrpc.ts";
import type { Correlation, PendingRequest } from "./correlation.ts";
import type { Oddities } from "./oddities.ts";
import { fromRpcError, requestError } from "./remote-error.ts";

export interface InboundTargets {
  request(message: JsonRpcRequest, origin: MessageOrigin): void;
  notification(message: JsonRpcNotification, origin: MessageOrigin): void;
}

export interface Inbound {
  message(value: unknown, origin: MessageOrigin): void;
  failed(id: RequestId, error: PortcullisError): void;
}

/** Flaws that may be noise which only looks like an answer: on a stream the real one may still come. */
const MAY_BE_NOISE: ReadonlySet<MessageFlaw> = new Set(["neither-member", "no-version"]);

export function createInbound(options: {
  readonly correlation: Correlation;
  readonly oddities: Oddities;
  /** HTTP has one exchange per request; a stream has none. */
  readonly isHttp: boolean;
  readonly targets: InboundTargets;
}): Inbound {
  const { correlation, oddities, isHttp, targets } = options;

  const route = (classified: ClassifiedMessage, origin: MessageOrigin): void => {
    switch (classified.kind) {
      case "success":
        answer(classified.id, origin, { result: classified.result });
        return;
      case "failure":
        if (classified.id === undefined) unattributed(classified.error, origin);
        else answer(classified.id, origin, { error: classified.error });
        return;
      case "notification":
        targets.notification(classified.message, origin);
        return;
      case "request":
        targets.request(classified.message, origin);
        return;
      case "batch":
        oddities.note("jsonrpc.batch");
        for (const item of classified.items) route(item, origin);
        return;
      case "odd":
        odd(classified.flaw, classified.id, origin);
        return;
    }
  };

  const answer = (
    id: RequestId,
    origin: MessageOrigin,
    content: { readonly result: JsonObject } | { readonly error: JsonRpcErrorObject },
  ): void => {
    if (origin.requestId !== undefined && origin.requestId !== id) {
      oddities.note("answer.foreign-stream", String(id).slice(0, 80));
      return;
    }
    const request = correlation.take(id);
    if (request === undefined) {
      unawaited(id, content);
      return;
    }
    if ("result" in content) request.end({ kind: "result", id: request.id, result: content.result, origin });
    else request.end({ kind: "rpc-error", id: request.id, error: content.error, origin });
  };

  const unawaited = (
    id: RequestId,
    content: { readonly result: JsonObject } | { readonly error: JsonRpcErrorObject },
  ): void => {
    const late = correlation.takeLate(id);
    if (late !== undefined) {
      oddities.note("answer.late", String(id));
      late.onLate?.(
        "result" in content
          ? { kind: "result", result: content.result }
          : { kind: "rpc-error", error: content.error },
      );
      return;
    }
    if (correlation.wasUsed(id)) {
      oddities.note("answer.duplicate", String(id));
      return;
    }
    oddities.note("answer.unknown-id", String(id).slice(0, 80));
    const meant =
      typeof id === "string" && /^[0-9]{1,15}$/.test(id) ? correlation.get(Number(id)) : undefined;
    if (meant !== undefined) {
      suspect(
        meant,
        protocolError(meant, `the answer to \`${meant.method}\` has the id \`"${id}"\` instead of \`${id}\``),
      );
    }
  };

  /** An error without an id: over HTTP its exchange says whose it is; on a stream it can only be meant for a single request. */
  const unattributed = (error: JsonRpcErrorObject, origin: MessageOrigin): void => {
    oddities.note("answer.no-id", error.message.slice(0, 80));
    if (origin.requestId !== undefined) {
      const request = correlation.take(origin.requestId);
      request?.end({ kind: "rpc-error", id: request.id, error, origin });
      return;
    }
    const [only] = correlation.all();
    if (only !== undefined && correlation.size === 1)
      suspect(only, fromRpcError(only.method, error, origin.httpStatus));
  };

  const odd = (flaw: MessageFlaw, id: RequestId | undefined, origin: MessageOrigin): void => {
    oddities.note(`jsonrpc.${flaw}`, id === undefined ? "" : String(id).slice(0, 80));
    const target = id ?? origin.requestId;
    const request = target === undefined ? undefined : correlation.get(target);
    if (request === undefined) return;
    if (origin.requestId !== undefined && origin.requestId !== request.id) return;
    const error = protocolError(
      request,
      `\`${request.method}\` was answered by a message that is not JSON-RPC (${flaw})`,
    );
    if (!isHttp && MAY_BE_NOISE.has(flaw)) {
      suspect(request, error);
      return;
    }
    if (id === undefined) return;
    correlation.take(request.id);
    request.end({ kind: "broken", id: request.id, error });
  };

  const suspect = (request: PendingRequest, error: PortcullisError): void => {
    // A stream that waits without limit (listen, or a person) is not ended on a suspicion.
    if (Number.isFinite(request.idleDueMs)) correlation.suspect(request, error);
  };

  return {
    message: (value, origin) => route(classifyMessage(value), origin),
    failed(id, error) {
      const request = correlation.take(id);
      if (request === undefined) {
        correlation.takeLate(id);
        return;
      }
      request.end({ kind: "broken", id: request.id, error });
    },
  };
}

function protocolError(request: PendingRequest, message: string): PortcullisError {
  return requestError("protocol_error", request.method, message, { wasSent: true });
}

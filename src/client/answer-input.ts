/**
 * One question of a server, judged and answered: the same for embedded ones (MRTR, tasks) and direct ones (legacy).
 * What the handler gives is held to its shape; whether it fits `requestedSchema` is the handler's own business.
 */
import { isJsonObject, type JsonObject } from "../base/json.ts";
import { PortcullisError } from "../errors.ts";
import { rpcCodes } from "../protocol/codes.ts";
import type {
  ElicitFormParams,
  ElicitResult,
  ElicitUrlParams,
  InputRequest,
  SamplingParams,
} from "../protocol/input-requests.ts";
import type { ClientCapabilities } from "../protocol/types.ts";
import { classifyInput } from "../wire/mrtr.ts";
import type { InputContext, InputHandler } from "./input-handler.ts";

/**
 * @throws PortcullisError `input_refused` with `data.rpcCode`: what a direct question is answered with. Where the handler
 * threw, its error is the cause.
 */
export async function answerInput(
  request: InputRequest,
  declared: ClientCapabilities,
  inputs: InputHandler | undefined,
  context: InputContext,
): Promise<JsonObject> {
  const verdict = classifyInput(request, declared);
  try {
    switch (verdict.kind) {
      case "refused":
        throw refused(`the server asked for something that it may not ask: ${verdict.reason}`, verdict.code);
      case "elicit-form": {
        const result = await inputs?.elicitForm?.(verdict.params as unknown as ElicitFormParams, context);
        return elicitResult(result, request.method, true);
      }
      case "elicit-url": {
        const result = await inputs?.elicitUrl?.(verdict.params as unknown as ElicitUrlParams, context);
        return elicitResult(result, request.method, false);
      }
      case "sample": {
        const result = await inputs?.sample?.(verdict.params as unknown as SamplingParams, context);
        return objectResult(result, request.method);
      }
      case "list-roots": {
        const result = await inputs?.listRoots?.(context);
        return objectResult(result, request.method);
      }
    }
  } catch (cause) {
    if (cause instanceof PortcullisError && cause.code === "input_refused") throw cause;
    throw refused(`\`${request.method}\` of the server was not answered`, rpcCodes.internalError, cause);
  }
}

function elicitResult(result: ElicitResult | undefined, method: string, isForm: boolean): JsonObject {
  if (result === undefined) throw unhandled(method);
  const { action, content } = result;
  return action === "accept" && isForm && content !== undefined ? { action, content } : { action };
}

function objectResult(result: unknown, method: string): JsonObject {
  if (!isJsonObject(result)) throw unhandled(method);
  return result;
}

function unhandled(method: string): PortcullisError {
  return refused(`nobody answers \`${method}\``, rpcCodes.methodNotFound);
}

function refused(message: string, rpcCode: number, cause?: unknown): PortcullisError {
  return new PortcullisError("input_refused", message, {
    ...(cause === undefined ? {} : { cause }),
    data: { rpcCode },
  });
}

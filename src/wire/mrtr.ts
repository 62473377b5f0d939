/**
 * Multi-round-trip requests (MRTR): from `input_required` to the params of the next leg, and which requests a server may
 * embed. Pure. Source: patterns/mrtr.
 *
 * Invariants: `requestState` goes back exactly as it came and is absent where it was absent; a leg carries only its own
 * round's responses; nothing of one request is ever used for another.
 */
import { isJsonObject, ownProperty, type JsonObject } from "../base/json.ts";
import { rpcCodes } from "../protocol/codes.ts";
import type { InputRequest, InputResponses } from "../protocol/input-requests.ts";
import { methods } from "../protocol/methods.ts";
import type { ClientCapabilities } from "../protocol/types.ts";

/** What a server asks for, judged against what was declared to it. */
export type InputVerdict =
  | { readonly kind: "elicit-form"; readonly params: JsonObject }
  | { readonly kind: "elicit-url"; readonly params: JsonObject }
  | { readonly kind: "sample"; readonly params: JsonObject }
  | { readonly kind: "list-roots" }
  /** `code` is what a legacy request of this kind is answered with. */
  | { readonly kind: "refused"; readonly code: number; readonly reason: string };

/**
 * Judges one request for input, embedded (modern) or direct (legacy), against the capabilities declared on the request that
 * it answers. An undeclared method is -32601, an undeclared mode or a malformed request -32602.
 */
export function classifyInput(request: InputRequest, declared: ClientCapabilities): InputVerdict {
  const params = request.params ?? {};
  switch (request.method) {
    case methods.elicit: {
      if (declared.elicitation === undefined) return undeclared(request.method);
      return classifyElicitation(params, declared.elicitation);
    }
    case methods.sample: {
      if (declared.sampling === undefined) return undeclared(request.method);
      if (!Array.isArray(ownProperty(params, "messages"))) return malformed("messages is missing");
      const wantsTools =
        ownProperty(params, "tools") !== undefined || ownProperty(params, "toolChoice") !== undefined;
      if (wantsTools && declared.sampling.tools === undefined)
        return malformed("sampling with tools was not declared");
      return { kind: "sample", params };
    }
    case methods.listRoots:
      return declared.roots === undefined ? undeclared(request.method) : { kind: "list-roots" };
    default:
      return undeclared(request.method);
  }
}

function classifyElicitation(
  params: JsonObject,
  declared: NonNullable<ClientCapabilities["elicitation"]>,
): InputVerdict {
  const mode = ownProperty(params, "mode") ?? "form";
  // An empty capability object means form only.
  const hasForm = declared.form !== undefined || declared.url === undefined;
  if (mode === "form") {
    if (!hasForm) return malformed("elicitation by form was not declared");
    if (typeof ownProperty(params, "message") !== "string") return malformed("message is missing");
    if (!isJsonObject(ownProperty(params, "requestedSchema"))) return malformed("requestedSchema is missing");
    return { kind: "elicit-form", params };
  }
  if (mode === "url") {
    if (declared.url === undefined) return malformed("elicitation by URL was not declared");
    if (typeof ownProperty(params, "url") !== "string") return malformed("url is missing");
    if (typeof ownProperty(params, "message") !== "string") return malformed("message is missing");
    return { kind: "elicit-url", params };
  }
  return malformed("elicitation mode is unknown");
}

function undeclared(method: string): InputVerdict {
  return {
    kind: "refused",
    code: rpcCodes.methodNotFound,
    reason: `${method.slice(0, 64)} was not declared`,
  };
}

function malformed(reason: string): InputVerdict {
  return { kind: "refused", code: rpcCodes.invalidParams, reason };
}

/** Params of the next leg: those of the first one, with this round's responses and state alone. */
export function nextLegParams(
  first: JsonObject,
  round: { readonly inputResponses?: InputResponses; readonly requestState?: string },
): JsonObject {
  const { inputResponses: _responses, requestState: _state, ...params } = first;
  const next: JsonObject = { ...params };
  if (round.inputResponses !== undefined && Object.keys(round.inputResponses).length > 0) {
    next["inputResponses"] = { ...round.inputResponses };
  }
  if (round.requestState !== undefined) next["requestState"] = round.requestState;
  return next;
}

/** Server role: what a retry brought back; `undefined` where it is malformed (answer -32602). */
export function readLeg(
  params: JsonObject,
): { readonly inputResponses: InputResponses; readonly requestState: string | undefined } | undefined {
  const responses = ownProperty(params, "inputResponses");
  const state = ownProperty(params, "requestState");
  if (state !== undefined && typeof state !== "string") return undefined;
  const inputResponses = Object.create(null) as Record<string, JsonObject>;
  if (responses !== undefined) {
    if (!isJsonObject(responses)) return undefined;
    for (const key of Object.keys(responses)) {
      const response = responses[key];
      if (!isJsonObject(response)) return undefined;
      inputResponses[key] = response;
    }
  }
  return { inputResponses, requestState: state };
}

/** Server role: an `input_required` result. */
export function inputRequiredResult(round: {
  readonly inputRequests?: Readonly<Record<string, InputRequest>>;
  readonly requestState?: string;
}): JsonObject {
  return {
    resultType: "input_required",
    ...(round.inputRequests === undefined
      ? {}
      : { inputRequests: round.inputRequests as unknown as JsonObject }),
    ...(round.requestState === undefined ? {} : { requestState: round.requestState }),
  };
}

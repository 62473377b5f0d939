/**
 * What a server may ask of us, as an interface that the layers above implement (`inputs/`, or an embedding program). What
 * is implemented here decides which capabilities are declared: a member that is missing is never asked for.
 */
import type { JsonObject } from "../base/json.ts";
import type {
  ElicitFormParams,
  ElicitResult,
  ElicitUrlParams,
  RootsResult,
  SamplingParams,
  SamplingResult,
} from "../protocol/input-requests.ts";
import type { RequestId } from "../protocol/jsonrpc.ts";
import type { Era } from "../protocol/revisions.ts";
import type { ClientCapabilities } from "../protocol/types.ts";

/** Where a question comes from. */
export interface InputContext {
  readonly era: Era;
  /** The request of ours that it belongs to; absent where a legacy server cannot say (stdio with several in flight). */
  readonly requestId?: RequestId;
  /** Method of that request, for example `tools/call`. */
  readonly method?: string;
  /** The task it belongs to. */
  readonly taskId?: string;
  /** Round of a multi-round request, from 1; 1 for direct questions. */
  readonly round: number;
  /** Aborted when the answer is no longer wanted. */
  readonly signal: AbortSignal;
}

/**
 * Answers a server's questions. Every text in `params` is the server's and untrusted. An implementation checks the content
 * it gives against `requestedSchema`, asks a person where one has to be asked, and bounds what it spends.
 *
 * A handler that throws ends the question: the call that needed it fails as `input_refused`; a direct question is answered
 * by a JSON-RPC error.
 */
export interface InputHandler {
  elicitForm?(params: ElicitFormParams, context: InputContext): Promise<ElicitResult>;
  elicitUrl?(params: ElicitUrlParams, context: InputContext): Promise<ElicitResult>;
  sample?(params: SamplingParams, context: InputContext): Promise<SamplingResult>;
  listRoots?(context: InputContext): Promise<RootsResult>;
}

/** The capabilities that `inputs` stands for. */
function inputCapabilities(inputs: InputHandler | undefined): ClientCapabilities {
  if (inputs === undefined) return {};
  const elicitation: { form?: JsonObject; url?: JsonObject } = {};
  if (inputs.elicitForm !== undefined) elicitation.form = {};
  if (inputs.elicitUrl !== undefined) elicitation.url = {};
  return {
    ...(Object.keys(elicitation).length === 0 ? {} : { elicitation }),
    ...(inputs.sample === undefined ? {} : { sampling: {} }),
    ...(inputs.listRoots === undefined ? {} : { roots: {} }),
  };
}

/** `declared` without the inputs that nobody handles: a capability is never promised in vain. */
export function declareCapabilities(
  declared: ClientCapabilities,
  inputs: InputHandler | undefined,
): ClientCapabilities {
  const { elicitation: _elicitation, sampling: _sampling, roots, ...others } = declared;
  const handled = inputCapabilities(inputs);
  const keepsRoots = handled.roots !== undefined && roots !== undefined;
  const samplingSettings =
    handled.sampling !== undefined && declared.sampling !== undefined ? { sampling: declared.sampling } : {};
  return { ...others, ...handled, ...(keepsRoots ? { roots } : {}), ...samplingSettings };
}

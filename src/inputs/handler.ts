/** Answers what a server asks for one call: what is not handled here is not declared to the server, and never asked. */
import type { InputHandler } from "../client/input-handler.ts";
import type { InputKind } from "../config/compiled.ts";
import { createDesk, type DeskOptions } from "./desk.ts";
import { askForm, askUrl } from "./elicitation.ts";
import { refusal } from "./refusal.ts";
import { askRoots, type RootsSource } from "./roots.ts";
import { askSample, type Sampling } from "./sampling.ts";
import type { UrlRules } from "./url.ts";
import { rpcCodes } from "../protocol/codes.ts";

/** What may be asked, and of whom. */
export interface InputSources {
  /** Default both. */
  readonly elicitation?: { readonly form: boolean; readonly url: boolean };
  readonly sampling?: Sampling;
  readonly roots?: RootsSource;
}

const BOTH = { form: true, url: true };

export interface InputHandlerOptions extends DeskOptions, InputSources {
  readonly urls: UrlRules;
}

/** The handler of one call. */
export function createInputHandler(options: InputHandlerOptions): InputHandler {
  const desk = createDesk(options);
  const { elicitation = BOTH, sampling, roots, urls, limits } = options;
  return {
    ...(elicitation.form
      ? {
          elicitForm: (params, { signal }) =>
            desk.take("form", signal, (turn) => askForm(turn, params, limits.attempts)),
        }
      : {}),
    ...(elicitation.url
      ? {
          elicitUrl: (params, { signal }) => desk.take("url", signal, (turn) => askUrl(turn, params, urls)),
        }
      : {}),
    ...(sampling === undefined
      ? {}
      : {
          sample: (params, { signal }) =>
            desk.take("sample", signal, (turn) => askSample(turn, params, sampling)),
        }),
    ...(roots === undefined
      ? {}
      : { listRoots: ({ signal }) => desk.take("roots", signal, (turn) => askRoots(turn, roots)) }),
  };
}

/**
 * Declares the same to a legacy server, which is told only once, and refuses whatever cannot be told to belong to a call: nobody
 * could say what it is for.
 */
export function createOutsideHandler(kinds: readonly InputKind[]): InputHandler {
  const refuse = async (): Promise<never> => {
    throw refusal("a question that belongs to no call is not answered", rpcCodes.internalError);
  };
  return {
    ...(kinds.includes("elicitation") ? { elicitForm: refuse, elicitUrl: refuse } : {}),
    ...(kinds.includes("sampling") ? { sample: refuse } : {}),
    ...(kinds.includes("roots") ? { listRoots: refuse } : {}),
  };
}

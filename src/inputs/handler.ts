/** Answers what a server asks for one call: what is not handled here is not declared to the server, and never asked. */
import type { InputHandler } from "../client/input-handler.ts";
import { createDesk, type DeskOptions } from "./desk.ts";
import { askForm, askUrl } from "./elicitation.ts";
import { refusal } from "./refusal.ts";
import { askRoots, type RootsSource } from "./roots.ts";
import { askSample, type Sampling } from "./sampling.ts";
import type { UrlRules } from "./url.ts";
import { rpcCodes } from "../protocol/codes.ts";

/** What may be asked besides forms and addresses. */
export interface InputSources {
  readonly sampling?: Sampling;
  readonly roots?: RootsSource;
}

export interface InputHandlerOptions extends DeskOptions, InputSources {
  readonly urls: UrlRules;
}

/** The handler of one call. */
export function createInputHandler(options: InputHandlerOptions): InputHandler {
  const desk = createDesk(options);
  const { sampling, roots, urls, limits } = options;
  return {
    elicitForm: (params, { signal }) =>
      desk.take("form", signal, (turn) => askForm(turn, params, limits.attempts)),
    elicitUrl: (params, { signal }) => desk.take("url", signal, (turn) => askUrl(turn, params, urls)),
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
export function createOutsideHandler({ sampling, roots }: InputSources): InputHandler {
  const refuse = async (): Promise<never> => {
    throw refusal("a question that belongs to no call is not answered", rpcCodes.internalError);
  };
  return {
    elicitForm: refuse,
    elicitUrl: refuse,
    ...(sampling === undefined ? {} : { sample: refuse }),
    ...(roots === undefined ? {} : { listRoots: refuse }),
  };
}

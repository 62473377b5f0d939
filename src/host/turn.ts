/** One request of a user to the agent: its budget of retries, its conversation, its signal, its calls. */
import { linkAbort, type LinkedAbort } from "../base/abort.ts";
import type { JsonObject } from "../base/json.ts";
import { randomId } from "../base/random.ts";
import { createRoster } from "../base/roster.ts";
import { PortcullisError } from "../errors.ts";
import { isReservedName } from "../registry/naming.ts";
import type { RegisteredTool } from "../registry/registry.ts";
import { createRetryBudget, type RetryBudget } from "../resilience/retry.ts";
import type { Principal } from "../vocabulary.ts";
import type { CallOptions, Turn, TurnOptions } from "./api.ts";
import { call } from "./call.ts";
import type { Conversation, Conversations } from "./conversation.ts";
import type { Core } from "./core.ts";
import { offerFor, offerTools } from "./model-offer.ts";
import {
  offerPrompts,
  offerResources,
  offerTemplates,
  resolvePrompt,
  resolveReference,
  resolveUri,
} from "./offer-reading.ts";
import { checkCallOptions, checkText, checkTurnOptions } from "./check-given.ts";
import { callOwnTool, type CallThrough } from "./own-tools.ts";
import { completeArgument, getPrompt, readResource } from "./read.ts";

/** What the steps of a call read of their turn. */
export interface TurnState {
  readonly id: string;
  readonly principal: Principal;
  readonly conversation: Conversation;
  /** Approvals of one turn are shown together. */
  readonly group: string;
  readonly budget: RetryBudget;
  readonly signal: AbortSignal;
  /** What is recorded of every call of one tool: that of the tool called last. Kept by `call-story.ts`. */
  context: { readonly tool: RegisteredTool; readonly recorded: JsonObject } | undefined;
}

export interface RunningTurn extends Turn {
  readonly state: TurnState;
}

/** Made once: a stack costs more than a small call. */
const TURN_IS_OVER = new PortcullisError("cancelled", "the turn is over");

/** @throws PortcullisError `usage` for options of a wrong type. */
export function openTurn(core: Core, conversations: Conversations, options: TurnOptions): RunningTurn {
  checkTurnOptions(options);
  const id = randomId(core.random);
  const link: LinkedAbort = linkAbort(options.signal);
  const conversation = conversations.get(options.conversation ?? id);
  if (options.userText !== undefined) conversation.heard(options.userText);
  const running = createRoster<Promise<unknown>>();
  let isOver = false;
  const state: TurnState = {
    id,
    principal: options.principal ?? "local",
    conversation,
    group: id,
    budget: createRetryBudget(),
    signal: link.signal,
    context: undefined,
  };
  const callThrough: CallThrough = (name, args, callOptions) =>
    call(core, { query: name, arguments: args, turn: state, options: callOptions });
  const track = <Result>(work: Promise<Result>): Promise<Result> => {
    const seat = running.add(work);
    const leave = (): void => void running.remove(seat);
    work.then(leave, leave);
    return work;
  };
  const begin = (callOptions: CallOptions): void => {
    checkCallOptions(callOptions);
    if (isOver) link.abort(TURN_IS_OVER);
  };
  /** Reads what an exposed name or URI stands for. */
  const reading = <Result>(callOptions: CallOptions, work: () => Promise<Result>): Promise<Result> => {
    try {
      begin(callOptions);
    } catch (error) {
      return Promise.reject(error as Error);
    }
    return track(work());
  };
  const callByName: Turn["call"] = (given, args, callOptions = {}) => {
    try {
      begin(callOptions);
    } catch (error) {
      return Promise.reject(error as Error);
    }
    // A model's call may lack its name: that is an unknown tool, which is told to the model.
    const name: string = typeof given === "string" ? given : typeof given;
    return track(
      isReservedName(name)
        ? callOwnTool(core, state, name, args, callOptions, callThrough)
        : callThrough(name, args, callOptions),
    );
  };
  return {
    state,
    id,
    principal: state.principal,
    conversation: conversation.id,
    tools: () => offerTools(core, state),
    offer: (provider, offerOptions = {}) => offerFor(core, state, provider, offerOptions, callByName),
    call: callByName,
    resources: () => offerResources(core, state),
    resourceTemplates: () => offerTemplates(core, state),
    prompts: () => offerPrompts(core, state),
    read: (exposed, readOptions = {}) =>
      reading(readOptions, async () => {
        checkText("uri", exposed);
        const { server, uri } = resolveUri(core, exposed);
        return readResource(core, state, server, uri, readOptions);
      }),
    prompt: (exposed, args, readOptions = {}) =>
      reading(readOptions, async () => {
        checkText("name", exposed);
        const { server, name } = resolvePrompt(core, state, exposed);
        return getPrompt(core, state, server, name, args, readOptions);
      }),
    complete: (params, readOptions = {}) =>
      reading(readOptions, async () => {
        const { server, ref } = resolveReference(core, state, params.ref);
        return completeArgument(core, state, server, { ...params, ref }, readOptions);
      }),
    async close() {
      isOver = true;
      if (running.size() === 0) {
        link.unlink();
        return;
      }
      link.abort(TURN_IS_OVER);
      await Promise.allSettled(running.list());
    },
  };
}

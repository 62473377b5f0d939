/**
 * Multi-round requests, server role: a call that waits for its client's answer is parked here between two requests of the client.
 * Source: patterns/mrtr.
 *
 * Invariants: `requestState` is a random name of one round, known here alone, used once: whatever else a client brings is
 * refused, so there is nothing in it to forge. It counts only for the same request in the same conversation, and only for
 * `PARKED_MS`. A client is asked nothing that this very request did not declare. A call that nobody comes back for is ended.
 */
import { linkAbort, untilAborted, type LinkedAbort } from "../base/abort.ts";
import type { Clock, Timer } from "../base/clock.ts";
import { digestJson, ownProperty, type JsonObject } from "../base/json.ts";
import { randomId, type Random } from "../base/random.ts";
import { PortcullisError } from "../errors.ts";
import { metaKeys, rpcCodes } from "../protocol/codes.ts";
import type { InputRequest } from "../protocol/input-requests.ts";
import { notifications } from "../protocol/methods.ts";
import type { ClientCapabilities } from "../protocol/types.ts";
import { readMeta } from "../wire/meta.ts";
import { classifyInput, inputRequiredResult, readLeg } from "../wire/mrtr.ts";
import { canBeAsked } from "./client-inputs.ts";
import { failure, type CallContext, type McpAnswer } from "./mcp-answer.ts";

export interface Rounds {
  /**
   * Answers one request of a multi-round method: begins a call, or goes on with the one that its `requestState` names.
   *
   * @param begin the whole call, over all its rounds. `context` is that of the call, not of one request.
   */
  answer(request: RoundRequest, begin: (context: CallContext) => Promise<McpAnswer>): Promise<McpAnswer>;
  /** Ends what is parked. */
  close(): void;
}

export interface RoundRequest {
  readonly method: string;
  readonly params: JsonObject;
  readonly capabilities: ClientCapabilities;
  readonly context: CallContext;
}

export interface RoundsDeps {
  readonly clock: Clock;
  readonly random: Random;
}

/** As long as servers are waited for: see `DEFAULT_INPUT_LIMITS`. */
const PARKED_MS = 600_000;
const MAX_PARKED = 256;
const STATE_BYTES = 24;

interface Parked {
  readonly call: AskingCall;
  readonly digest: string;
  readonly timer: Timer;
}

export function createRounds({ clock, random }: RoundsDeps): Rounds {
  const parked = new Map<string, Parked>();

  const park = (call: AskingCall, digest: string): string => {
    const state = randomId(random, STATE_BYTES);
    const timer = clock.timer(PARKED_MS, () => {
      parked.delete(state);
      call.end(new PortcullisError("cancelled", "the client did not come back with an answer"));
    });
    parked.set(state, { call, digest, timer });
    return state;
  };

  /** The call that `state` names, taken out: a state counts once. */
  const take = (state: string, digest: string): AskingCall | undefined => {
    const found = parked.get(state);
    if (found === undefined || found.digest !== digest) return undefined;
    parked.delete(state);
    found.timer.cancel();
    return found.call;
  };

  const leg = async (call: AskingCall, request: RoundRequest, digest: string): Promise<McpAnswer> => {
    const step = await call.leg(request);
    if (step.kind === "answered") return step.answer;
    const { key, question } = step;
    const requestState = park(call, digest);
    return { ok: true, result: inputRequiredResult({ inputRequests: { [key]: question }, requestState }) };
  };

  return {
    async answer(request, begin) {
      const brought = readLeg(request.params);
      if (brought === undefined)
        return failure(rpcCodes.invalidParams, "inputResponses or requestState is malformed");
      const { requestState, inputResponses } = brought;
      if (requestState === undefined && !canBeAsked(request.capabilities)) return begin(request.context);
      const digest = digestOf(request);
      if (requestState === undefined) {
        if (parked.size >= MAX_PARKED)
          return failure(rpcCodes.internalError, "too many calls wait for answers: try again later");
        return leg(new AskingCall(request, begin), request, digest);
      }
      const call = take(requestState, digest);
      if (call === undefined)
        return failure(
          rpcCodes.invalidParams,
          "requestState is not one of this request, was used, or has run out: make the request again without it",
        );
      call.answered(inputResponses);
      return leg(call, request, digest);
    },
    close() {
      for (const { call, timer } of parked.values()) {
        timer.cancel();
        call.end(new PortcullisError("interrupted", "the gateway was closed"));
      }
      parked.clear();
    },
  };
}

/** What a state is bound to: who asks, in which conversation, for what. What differs from round to round is left out. */
function digestOf({ method, params, context }: RoundRequest): string {
  const { _meta: _envelope, inputResponses: _responses, requestState: _state, ...request } = params;
  return digestJson([method, context.conversation, request]);
}

type Step =
  | { readonly kind: "answered"; readonly answer: McpAnswer }
  | { readonly kind: "asked"; readonly key: string; readonly question: InputRequest };

interface OpenQuestion {
  readonly key: string;
  readonly question: InputRequest;
  readonly answer: PromiseWithResolvers<JsonObject>;
}

/** One call over its rounds. At most one question is open, and at most one request of the client waits. */
class AskingCall {
  readonly #link: LinkedAbort = linkAbort();
  readonly #work: Promise<McpAnswer>;
  #request: RoundRequest;
  #open: OpenQuestion | undefined;
  #asked = Promise.withResolvers<void>();
  #count = 0;

  constructor(request: RoundRequest, begin: (context: CallContext) => Promise<McpAnswer>) {
    this.#request = request;
    const context: CallContext = {
      ...request.context,
      signal: this.#link.signal,
      notify: (notification) => this.#notify(notification),
      client: {
        capabilities: request.capabilities,
        ask: (question, signal) => this.#ask(question, signal),
      },
    };
    this.#work = begin(context);
    // It may end while nobody waits.
    this.#work.catch(() => undefined);
  }

  /** Waits for the end, or for the next question. The client that leaves meanwhile takes the call back. */
  async leg(request: RoundRequest): Promise<Step> {
    this.#request = request;
    const { signal } = request.context;
    const onGone = (): void => this.end(new PortcullisError("cancelled", "the client is gone"));
    if (signal.aborted) onGone();
    signal.addEventListener("abort", onGone, { once: true });
    try {
      for (;;) {
        const isOver = await Promise.race([
          this.#work.then(() => true),
          this.#asked.promise.then(() => false),
        ]);
        if (isOver) return { kind: "answered", answer: await this.#work };
        const open = this.#open;
        // It was taken back meanwhile.
        if (open === undefined) continue;
        const { key, question } = open;
        const verdict = classifyInput(question, request.capabilities);
        if (verdict.kind !== "refused") return { kind: "asked", key, question };
        this.#close();
        open.answer.reject(
          new PortcullisError("input_refused", `the client cannot be asked: ${verdict.reason}`),
        );
      }
    } finally {
      signal.removeEventListener("abort", onGone);
    }
  }

  /** What a client brought for the open question; what it brought besides is passed over. */
  answered(responses: Readonly<Record<string, JsonObject>>): void {
    const open = this.#open;
    const response = open === undefined ? undefined : ownProperty(responses, open.key);
    // Without an answer the same question is asked again.
    if (open === undefined || response === undefined) return;
    this.#close();
    open.answer.resolve(response as JsonObject);
  }

  end(reason: Error): void {
    this.#link.abort(reason);
  }

  async #ask(question: InputRequest, signal: AbortSignal): Promise<JsonObject> {
    this.#count += 1;
    const open = { key: `q${this.#count}`, question, answer: Promise.withResolvers<JsonObject>() };
    this.#open = open;
    this.#asked.resolve();
    try {
      return await untilAborted(open.answer.promise, signal);
    } finally {
      if (this.#open === open) this.#close();
    }
  }

  #close(): void {
    this.#open = undefined;
    this.#asked = Promise.withResolvers<void>();
  }

  /** Progress goes to the request that waits now, under its own token. */
  #notify(notification: JsonObject): void {
    const { params, context } = this.#request;
    if (notification["method"] !== notifications.progress) return context.notify(notification);
    const token = ownProperty(readMeta(params) ?? {}, metaKeys.progressToken);
    if (typeof token !== "string" && typeof token !== "number") return undefined;
    const told = notification["params"] as JsonObject;
    return context.notify({ ...notification, params: { ...told, progressToken: token } });
  }
}

/**
 * A whole request: its legs, and the inputs that a server asks for in between (multi-round requests, modern only).
 *
 * Invariants: each leg has a new id; `requestState` goes back byte for byte, to this request alone; a round is answered once;
 * at most `maxRounds` rounds and `inputMs` of waiting for inputs, which no other clock counts. Source: patterns/mrtr.
 */
import { abortReason, linkAbort, untilAborted } from "../base/abort.ts";
import type { JsonObject } from "../base/json.ts";
import { PortcullisError } from "../errors.ts";
import type { InputRequests } from "../protocol/input-requests.ts";
import { nextLegParams } from "../wire/mrtr.ts";
import { answerInput } from "./answer-input.ts";
import type { Core } from "./core.ts";
import { declaredOn, type Leg, type LegOptions, type SendLeg } from "./leg.ts";
import { givenUpError, requestError } from "./remote-error.ts";

/** How a request ended well. */
type Finished = Extract<Leg, { readonly kind: "complete" | "task" }>;

export type Request = (
  method: string,
  params: JsonObject | undefined,
  options: LegOptions,
) => Promise<Finished>;

/** A round that asks for nothing but another leg is answered after a pause that doubles. */
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 5_000;

export function createRequest(core: Core, sendLeg: SendLeg): Request {
  return (method, params, options) => {
    const startedMs = core.clock.monotonic();
    return sendLeg(method, params, options).then((first) =>
      first.kind === "input_required"
        ? runRounds(core, sendLeg, { method, params: params ?? {}, options, startedMs }, first)
        : first,
    );
  };
}

interface Started {
  readonly method: string;
  readonly params: JsonObject;
  readonly options: LegOptions;
  readonly startedMs: number;
}

async function runRounds(core: Core, sendLeg: SendLeg, started: Started, first: Leg): Promise<Finished> {
  const { method, params, options, startedMs } = started;
  const totalMs = options.totalLeftMs ?? options.totalTimeoutMs ?? core.limits.totalTimeoutMs;
  let inputMs = 0;
  let leg = first;
  for (let round = 1; leg.kind === "input_required"; round += 1) {
    if (round > core.limits.maxRounds) {
      throw requestError(
        "protocol_error",
        method,
        `\`${method}\` asked for input more than ${core.limits.maxRounds} times`,
        { wasSent: true },
      );
    }
    const askedMs = core.clock.monotonic();
    const answers = await answerRound(core, started, leg.inputRequests, round, core.limits.inputMs - inputMs);
    if (answers !== undefined) inputMs += core.clock.monotonic() - askedMs;
    else await pause(core, round, options.signal, method);
    const totalLeftMs = totalMs - (core.clock.monotonic() - startedMs - inputMs);
    const next = nextLegParams(params, {
      ...(answers === undefined ? {} : { inputResponses: answers }),
      ...(leg.requestState === undefined ? {} : { requestState: leg.requestState }),
    });
    leg = await sendLeg(method, next, { ...options, totalLeftMs });
  }
  return leg;
}

/** The answers of one round; `undefined` where nothing was asked. */
async function answerRound(
  core: Core,
  started: Started,
  requests: InputRequests,
  round: number,
  leftMs: number,
): Promise<Readonly<Record<string, JsonObject>> | undefined> {
  const keys = Object.keys(requests);
  if (keys.length === 0) return undefined;
  return answerRequests(core, requests, keys, {
    method: started.method,
    options: started.options,
    round,
    leftMs,
  });
}

export interface Asked {
  readonly method: string;
  readonly options: Pick<LegOptions, "signal" | "inputs" | "clientCapabilities" | "acceptsTask">;
  readonly round: number;
  readonly leftMs: number;
  readonly taskId?: string;
}

/**
 * Answers `keys` of `requests` one after another.
 *
 * @throws PortcullisError `input_refused` where too much or something undeclared is asked; `timed_out` with
 * `data.limit = "input"`; `cancelled`.
 */
export async function answerRequests(
  core: Core,
  requests: InputRequests,
  keys: readonly string[],
  asked: Asked,
): Promise<Readonly<Record<string, JsonObject>>> {
  const { method, options } = asked;
  if (keys.length > core.limits.maxInputs) {
    throw requestError(
      "input_refused",
      method,
      `the server asked ${keys.length} questions at once; at most ${core.limits.maxInputs} are answered`,
      { wasSent: true },
    );
  }
  const declared = declaredOn(core, options);
  const inputs = options.inputs ?? core.inputs;
  const link = linkAbort(options.signal, core.signal);
  const late = (): PortcullisError =>
    requestError(
      "timed_out",
      method,
      `\`${method}\` waited for input for longer than ${core.limits.inputMs / 1_000} s`,
      { wasSent: true, data: { limit: "input" } },
    );
  const timer = core.clock.timer(asked.leftMs, () => link.abort(late()));
  const answers = Object.create(null) as Record<string, JsonObject>;
  try {
    for (const key of keys) {
      const request = requests[key];
      if (request === undefined) continue;
      const context = {
        era: "modern" as const,
        method,
        round: asked.round,
        signal: link.signal,
        ...(asked.taskId === undefined ? {} : { taskId: asked.taskId }),
      };
      answers[key] = await untilAborted(answerInput(request, declared, inputs, context), link.signal);
    }
    return answers;
  } catch (error) {
    if (link.signal.aborted) throw givenUpError(method, abortReason(link.signal), true);
    if (!(error instanceof PortcullisError) || error.data["wasSent"] !== undefined) throw error;
    throw requestError(error.code, method, error.message, { wasSent: true, cause: error, data: error.data });
  } finally {
    timer.cancel();
    link.unlink();
  }
}

async function pause(
  core: Core,
  round: number,
  signal: AbortSignal | undefined,
  method: string,
): Promise<void> {
  const delayMs =
    Math.min(FIRST_PAUSE_MS * 2 ** (round - 1), MAX_PAUSE_MS) * (1 + core.random.fraction() / 4);
  const link = linkAbort(signal, core.signal);
  try {
    await core.clock.sleep(delayMs, link.signal);
  } catch (error) {
    throw givenUpError(method, error instanceof Error ? error : new Error(String(error)), true);
  } finally {
    link.unlink();
  }
}

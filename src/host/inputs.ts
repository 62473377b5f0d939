/**
 * Who answers what servers ask, through `inputs/`: whoever makes the call, where it says so; otherwise the callback of the
 * library's user, or the person at the terminal. Where nobody does nothing is declared, so nothing may be asked.
 *
 * A legacy server is told once, at the start of a session, what may be asked. One on stdio cannot say which call a question
 * belongs to: where questions are answered, its connection runs one call at a time and belongs to one principal. `local` has the
 * shared one, everybody else one of their own.
 */
import { linkAbort } from "../base/abort.ts";
import type { Clock } from "../base/clock.ts";
import { isJsonObject, ownProperty, type JsonObject } from "../base/json.ts";
import type { InputContext, InputHandler } from "../client/input-handler.ts";
import type { InputKind, ServerConfig } from "../config/compiled.ts";
import { PortcullisError } from "../errors.ts";
import type { QuestionEnd, QuestionFacts } from "../inputs/desk.ts";
import { createInputHandler, createOutsideHandler } from "../inputs/handler.ts";
import { createQuestionRate, DEFAULT_INPUT_LIMITS, type QuestionRate } from "../inputs/limits.ts";
import { rpcCodes } from "../protocol/codes.ts";
import type { ElicitUrlParams } from "../protocol/input-requests.ts";
import type { Era } from "../protocol/revisions.ts";
import type { HostEvent } from "../telemetry/events.ts";
import { connectionId, SHARED_CREDENTIAL, type ConnectionKey, type Principal } from "../vocabulary.ts";
import type { CallerInputs } from "./api.ts";
import { connectionKeyOf } from "./core.ts";

/** The call that questions may belong to. */
export interface InputCall {
  readonly callId: string;
  readonly principal: Principal;
  readonly server: ServerConfig;
  readonly key: ConnectionKey;
  /** The exposed name of the tool, or the resource or prompt. */
  readonly name: string;
  /** Of the session that the call goes over. */
  readonly era: Era;
  /** Aborted when the call is not wanted any more. */
  readonly signal: AbortSignal;
  /** Who answers for this call, instead of the host's own. */
  readonly inputs?: CallerInputs;
  /** Gives back meanwhile what is held for the call. */
  readonly standstill: <T>(wait: () => Promise<T>) => Promise<T>;
}

export interface Inputs {
  /** Declared to a legacy server; answers nothing itself. `undefined` where nobody ever answers. */
  outside(server: ServerConfig): InputHandler | undefined;
  /** Whether anybody may answer for a call at all. */
  readonly mayAnswer: boolean;
  /**
   * Who answers for one call; `undefined` where nobody does, or where nobody could say whom it concerns. `close` withdraws what
   * is still asked.
   */
  forCall(call: InputCall): { readonly handler: InputHandler; close(): void } | undefined;
  /** Which connection serves `principal`. */
  keyOf(server: ServerConfig, principal: Principal): ConnectionKey;
  /** Whether a connection runs one call at a time. @param era of its session. */
  isExclusive(server: ServerConfig, era: Era | undefined): boolean;
  /** A legacy server says that what a person went to do elsewhere is done. Unknown ids are passed over. */
  completed(key: ConnectionKey, elicitationId: string): void;
}

export interface InputsOptions {
  /** The host's own. */
  readonly own: CallerInputs | undefined;
  /** Calls may bring their own. */
  readonly callersAnswer: boolean;
  readonly clock: Clock;
  /** The era of a connection as far as it is known. */
  readonly eraOf: (key: ConnectionKey) => string | null;
  readonly emit: (event: HostEvent) => void;
  /** Makes a durable record. @throws PortcullisError `audit_unavailable`. */
  readonly record: (kind: string, body: JsonObject) => Promise<void>;
}

/** What the calls' own answer where the entry of a server says nothing. */
const CALLERS_DEFAULT: readonly InputKind[] = ["elicitation"];
const BOTH = { form: true, url: true };
const NEITHER = { form: false, url: false };
/** Declares nothing, where the connection itself has declared something. */
const NOBODY = { handler: {} satisfies InputHandler, close: (): void => undefined };

/** Who stands at the machine: the shared connection is theirs. */
const OPERATOR: Principal = "local";
/** Addresses that a person went to and whose end nobody has told yet. */
const MAX_AWAITED = 1_000;

export function createInputs(options: InputsOptions): Inputs {
  const { own, callersAnswer, clock, emit } = options;
  const rates = new Map<string, QuestionRate>();
  /** By connection and id: the call that it was for. */
  const awaited = new Map<string, InputCall>();

  /** What a legacy server is told. */
  const declaredTo = (server: ServerConfig): readonly InputKind[] => {
    if (own !== undefined) return kindsOf(own).filter((kind) => server.inputs?.includes(kind) !== false);
    if (!callersAnswer) return [];
    // One call at a time is too much to pay for what may never be asked.
    return server.inputs ?? (server.launch.kind === "stdio" ? [] : CALLERS_DEFAULT);
  };

  const cannotTell = (server: ServerConfig): boolean =>
    server.launch.kind === "stdio" && declaredTo(server).length > 0;

  const rateOf = (server: string): QuestionRate => {
    const rate = rates.get(server) ?? createQuestionRate(clock, DEFAULT_INPUT_LIMITS.perMinute);
    rates.set(server, rate);
    return rate;
  };

  const factsOf = ({ callId, server, name }: InputCall, { kind, number, about }: QuestionFacts) => ({
    callId,
    server: server.name,
    tool: name,
    kind,
    number,
    about: [...about],
  });

  const ended = async (call: InputCall, end: QuestionEnd): Promise<void> => {
    const { action, by, reason, elicitationId } = end;
    const facts = { ...factsOf(call, end), action, by: by ?? (action === "refused" ? null : "callback") };
    await options.record("input.answered", { ...facts, principal: call.principal, reason });
    emit({ type: "input.answered", at: clock.now(), ...facts });
    if (elicitationId === null) return;
    awaited.set(`${connectionId(call.key)} ${elicitationId}`, call);
    const [oldest] = awaited.keys();
    if (awaited.size > MAX_AWAITED && oldest !== undefined) awaited.delete(oldest);
  };

  return {
    mayAnswer: own !== undefined || callersAnswer,
    outside(server) {
      const kinds = declaredTo(server);
      return kinds.length === 0 ? undefined : createOutsideHandler(kinds);
    },
    forCall(call) {
      const { server, principal, key, callId, name } = call;
      const answers = call.inputs ?? own;
      const isLegacy = call.era === "legacy";
      const isAnybodys = key.credential === SHARED_CREDENTIAL && principal !== OPERATOR;
      if (answers === undefined || (cannotTell(server) && isLegacy && isAnybodys))
        return callersAnswer ? NOBODY : undefined;
      const allowed = isLegacy
        ? declaredTo(server)
        : (server.inputs ?? (own === undefined ? CALLERS_DEFAULT : null));
      const may = (kind: InputKind): boolean => allowed === null || allowed.includes(kind);
      const link = linkAbort(call.signal);
      const handler = createInputHandler({
        clock,
        source: { server: server.name, tool: name, callId, principal },
        ask: answers.ask,
        signal: link.signal,
        elicitation: may("elicitation") ? (answers.elicitation ?? BOTH) : NEITHER,
        ...(answers.sampling === undefined || !may("sampling") ? {} : { sampling: answers.sampling }),
        ...(answers.roots === undefined || !may("roots") ? {} : { roots: answers.roots }),
        urls: { allowPrivate: server.allowPrivateAddresses, serverHost: hostOf(server) },
        limits: DEFAULT_INPUT_LIMITS,
        rate: rateOf(server.name),
        standstill: call.standstill,
        onAsked(facts, findings) {
          emit({ type: "input.asked", at: clock.now(), ...factsOf(call, facts) });
          for (const finding of findings)
            emit({
              type: "finding.raised",
              at: clock.now(),
              server: server.name,
              tool: name,
              callId,
              finding,
            });
        },
        onEnded: (end) => ended(call, end),
      });
      return { handler, close: () => link.abort(new PortcullisError("cancelled", "the call is over")) };
    },
    keyOf(server, principal) {
      const key = connectionKeyOf(server, principal);
      if (!cannotTell(server) || key.credential !== SHARED_CREDENTIAL || principal === OPERATOR) return key;
      const own: ConnectionKey = { server: server.name, credential: principal };
      // A modern server says it with the question itself, and may serve everybody.
      return [key, own].some((one) => options.eraOf(one) === "modern") ? key : own;
    },
    isExclusive: (server, era) => cannotTell(server) && era !== "modern",
    completed(key, elicitationId) {
      const id = `${connectionId(key)} ${elicitationId}`;
      const call = awaited.get(id);
      if (call === undefined) return;
      awaited.delete(id);
      const { callId, server, name } = call;
      emit({ type: "input.completed", at: clock.now(), callId, server: server.name, tool: name });
    },
  };
}

function kindsOf({ sampling, roots }: CallerInputs): readonly InputKind[] {
  return [
    "elicitation",
    ...(sampling === undefined ? [] : (["sampling"] as const)),
    ...(roots === undefined ? [] : (["roots"] as const)),
  ];
}

/** Where a server is reached, as far as its entry says it. */
function hostOf({ launch }: ServerConfig): string | null {
  if (launch.kind === "stdio" || !URL.canParse(launch.url.template)) return null;
  return new URL(launch.url.template).hostname;
}

const MAX_REQUIRED = 5;

/**
 * 2025-11-25, error -32042: the call can only be made after a person has been somewhere. Shows the addresses; the call itself
 * ends here, and can be made again when it is done there.
 *
 * @returns the error of the call; the same one where it is another.
 */
export async function afterRequiredUrls(
  error: unknown,
  handler: InputHandler | undefined,
  context: InputContext,
): Promise<unknown> {
  if (!(error instanceof PortcullisError)) return error;
  const { rpc } = error.data;
  if (!isJsonObject(rpc) || rpc["code"] !== rpcCodes.urlElicitationRequired) return error;
  const data = rpc["data"];
  const listed = isJsonObject(data) ? ownProperty(data, "elicitations") : undefined;
  const required = (Array.isArray(listed) ? listed : []).filter(isUrlRequest).slice(0, MAX_REQUIRED);
  const isShown = required.length > 0 && (await areShown(required, handler, context));
  const hint = isShown
    ? "the person has been shown where to go; make the same call again once they say that it is done"
    : "the person has to do something at an address of the server first, and was not sent there";
  return new PortcullisError(error.code, `${error.message}; ${hint}`, {
    cause: error,
    data: { ...error.data, hint },
  });
}

/** Whether a person agreed to go to all of them. */
async function areShown(
  required: readonly ElicitUrlParams[],
  handler: InputHandler | undefined,
  context: InputContext,
): Promise<boolean> {
  try {
    for (const params of required) {
      const answer = await handler?.elicitUrl?.(params, context);
      if (answer?.action !== "accept") return false;
    }
    return true;
  } catch {
    // Its end is recorded; the call fails with what the server said, whatever became of the question.
    return false;
  }
}

function isUrlRequest(value: unknown): value is ElicitUrlParams & JsonObject {
  if (!isJsonObject(value)) return false;
  return value["mode"] === "url" && typeof value["url"] === "string" && typeof value["message"] === "string";
}

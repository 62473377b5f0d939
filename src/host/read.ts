/**
 * Resources, prompts and completions, with the same care as a call: recorded, under the same guards, taken in by the same
 * rules. They only read.
 */
import { linkAbort, throwIfAborted } from "../base/abort.ts";
import { isJsonObject, type JsonObject } from "../base/json.ts";
import { holdProcess } from "../base/keep-alive.ts";
import { inSlices, type Sliced } from "../base/slices.ts";
import type { Seat } from "../base/roster.ts";
import { timedId } from "../base/random.ts";
import type { RequestOptions } from "../client/options.ts";
import { rpcCodeOf } from "../client/remote-error.ts";
import type { ServerConfig } from "../config/compiled.ts";
import { lastWordsOf } from "../connection/failure.ts";
import { PortcullisError } from "../errors.ts";
import type { CompletionParams } from "../protocol/completion.ts";
import { methods } from "../protocol/methods.ts";
import { isInRollout } from "../policy/rollout.ts";
import { labelsOf } from "../policy/labels.ts";
import { completionIntake } from "../results/completion.ts";
import type { Intake, IntakeOptions } from "../results/intake.ts";
import { modelMessage } from "../results/outcome-text.ts";
import { promptIntake, resourceIntake } from "../results/read.ts";
import type { Principal } from "../vocabulary.ts";
import type { CallOptions } from "./api.ts";
import type { CompletionOutcome, ReadOutcome } from "./read-outcome.ts";
import { requireServer, type Core, type Running } from "./core.ts";
import { asCancelled, exchange, type ExchangeProgress } from "./exchange.ts";
import { refuseIdle } from "./idle.ts";
import type { HostSession } from "./open-session.ts";
import type { CallMethod } from "../telemetry/events.ts";
import { outcomeOf } from "./outcome.ts";
import { orTold } from "./remember.ts";
import type { TurnState } from "./turn.ts";

interface Reading<Taken extends Intake> {
  readonly server: string;
  /** As it is recorded. */
  readonly method: CallMethod;
  readonly name: string;
  readonly arguments: JsonObject;
  readonly send: (session: HostSession, options: RequestOptions) => Promise<unknown>;
  readonly take: (raw: unknown, options: IntakeOptions) => Sliced<Taken>;
}

interface Read<Taken extends Intake> {
  readonly outcome: ReadOutcome;
  /** `null` where there was no answer. */
  readonly taken: Taken | null;
}

export async function readResource(
  core: Core,
  turn: TurnState,
  server: string,
  uri: string,
  options: CallOptions,
): Promise<ReadOutcome> {
  const { outcome } = await read(core, turn, options, {
    server,
    method: methods.readResource,
    name: uri,
    arguments: { uri },
    send: ({ client }, requestOptions) => client.request(methods.readResource, { uri }, requestOptions),
    take: resourceIntake,
  });
  return outcome;
}

/** @throws PortcullisError `usage` where an argument is no string: prompts take no others. */
export async function getPrompt(
  core: Core,
  turn: TurnState,
  server: string,
  name: string,
  args: JsonObject,
  options: CallOptions,
): Promise<ReadOutcome> {
  const texts: Record<string, string> = {};
  for (const [argument, value] of Object.entries(args)) {
    if (typeof value !== "string")
      throw new PortcullisError("usage", `the argument \`${argument}\` of a prompt must be a string`);
    texts[argument] = value;
  }
  const { outcome } = await read(core, turn, options, {
    server,
    method: methods.getPrompt,
    name,
    arguments: args,
    send: ({ client }, requestOptions) =>
      client.request(methods.getPrompt, { name, arguments: texts }, requestOptions),
    take: promptIntake,
  });
  return outcome;
}

/** What a server proposes for an argument; nothing where it proposes nothing at all. @param params as the server names things. */
export async function completeArgument(
  core: Core,
  turn: TurnState,
  server: string,
  params: CompletionParams,
  options: CallOptions,
): Promise<CompletionOutcome> {
  const { ref, argument } = params;
  const { outcome, taken } = await read(core, turn, options, {
    server,
    method: methods.complete,
    name: ref.type === "ref/prompt" ? ref.name : ref.uri,
    arguments: { ref: { ...ref }, argument: { ...argument } },
    send: ({ client }, requestOptions) => client.complete(params, requestOptions),
    take: completionIntake,
  });
  return {
    ...outcome,
    values: taken?.values ?? [],
    total: taken?.total ?? null,
    hasMore: taken?.hasMore ?? null,
  };
}

/** @throws PortcullisError `server_blocked`, `server_paused`, `outside_rollout`. */
export function requireUsable(core: Core, server: ServerConfig, principal: Principal): void {
  refuseIdle(server, core.pauses);
  if (!isInRollout(server, principal))
    throw new PortcullisError("outside_rollout", `\`${server.name}\` is not rolled out to \`${principal}\``);
}

async function read<Taken extends Intake>(
  core: Core,
  turn: TurnState,
  options: CallOptions,
  reading: Reading<Taken>,
): Promise<Read<Taken>> {
  const server = requireServer(core.config(), reading.server);
  const callId = timedId(core.random, core.clock.now());
  const startedMs = core.clock.monotonic();
  const progress: ExchangeProgress = { attempts: 0, wasDispatched: false };
  const trail = await core.audit.open({
    callId,
    principal: turn.principal,
    server: server.name,
    tool: reading.method,
    grade: "L0",
    arguments: reading.arguments,
    context: { turn: turn.id, conversation: turn.conversation.id, name: reading.name.slice(0, 500) },
  });
  const link = linkAbort(core.signal, turn.signal, options.signal);
  const about = () => ({
    at: core.clock.now(),
    callId,
    principal: turn.principal,
    server: server.name,
    tool: reading.method,
    grade: "L0" as const,
    method: reading.method,
    startedAt: core.clock.now() - (core.clock.monotonic() - startedMs),
    trace: options.trace ?? null,
  });
  if (core.hearsCalls()) core.emit({ type: "call.opened", ...about() });
  const facts = () => ({
    effect: "none" as const,
    attempts: progress.attempts,
    durationMs: core.clock.monotonic() - startedMs,
  });
  const release = holdProcess();
  const running: Running = { callId, server: server.name, tool: reading.method };
  let seat: Seat<() => Running> | undefined;
  try {
    throwIfAborted(core.draining);
    seat = core.running.add(() => running);
    requireUsable(core, server, turn.principal);
    const raw = await exchange(
      core,
      {
        callId,
        server,
        principal: turn.principal,
        name: `${reading.method} ${reading.name}`.slice(0, 500),
        key: core.inputs.keyOf(server, turn.principal),
        trail,
        signal: link.signal,
        budget: turn.budget,
        mayRepeat: true,
        mayHaveEffect: false,
        idleTimeoutMs: server.limits.timeoutMs,
        ...(options.onProgress === undefined ? {} : { onProgress: options.onProgress }),
        ...(options.inputs === undefined ? {} : { inputs: options.inputs }),
        ...(options.trace === undefined ? {} : { trace: options.trace }),
        onLate: () => trail.late(),
      },
      progress,
      reading.send,
    );
    const intake = reading.take(raw, {
      source: { server: server.name, name: reading.name },
      channels: core.channels,
      scan: server.scan,
      maxBytes: server.limits.resultBytes,
      modelTokens: server.limits.modelTokens,
      restId: callId,
      redactor: core.redactor,
    });
    const taken = await inSlices(intake);
    await turn.conversation.saw(
      `${server.name} ${reading.method}`,
      raw,
      labelsOf(server, { labels: [] }, "L0"),
    );
    if (taken.rest !== undefined) await orTold(core, core.rests.put(callId, turn.principal, taken.rest));
    const end = {
      outcome: "completed" as const,
      code: null,
      message: `\`${reading.name}\` of \`${server.name}\``.slice(0, 300),
      ...facts(),
    };
    await trail.closed({ ...end, findings: taken.findings });
    if (core.hearsCalls()) core.emit({ type: "call.closed", ...about(), isKnown: true, ...end });
    const { content, model, findings } = taken;
    const answer = { rpcCode: null, content, model, findings };
    return { outcome: { callId, server: server.name, ...end, ...answer }, taken };
  } catch (cause) {
    const error = asCancelled(cause, link.signal);
    const kind = outcomeOf(error.code);
    const outcome = kind === "completed" ? "protocol_error" : kind;
    const end = { outcome, code: error.code, message: core.redactor.redact(error.message), ...facts() };
    await trail.closed(end);
    if (core.hearsCalls()) core.emit({ type: "call.closed", ...about(), isKnown: true, ...end });
    const { rpc } = error.data;
    const said = isJsonObject(rpc) && typeof rpc["message"] === "string" ? rpc["message"] : null;
    const framed =
      said === null
        ? null
        : core.channels.modelText("error", { server: server.name, name: reading.name }, said).text;
    const model = modelMessage({
      server: server.name,
      tool: reading.name,
      outcome,
      code: error.code,
      effect: "none",
      framed,
    });
    const rpcCode = rpcCodeOf(error) ?? null;
    const lastWords = lastWordsOf(error);
    const words = lastWords === undefined ? {} : { lastWords: core.redactor.redact(lastWords) };
    const answer = { rpcCode, content: [], model, ...words, findings: [] };
    return { outcome: { callId, server: server.name, ...end, ...answer }, taken: null };
  } finally {
    if (seat !== undefined) core.running.remove(seat);
    link.unlink();
    release();
  }
}

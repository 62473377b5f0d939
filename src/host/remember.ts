/** Step 8 of a call: what is kept of it (provenance, last good result, the rest of an over-long one), and what is used again. */
import type { JsonValue } from "../base/json.ts";
import type { PortcullisError } from "../errors.ts";
import { labelsOf } from "../policy/labels.ts";
import type { ContentBlock } from "../protocol/types.ts";
import type { Intake } from "../results/intake.ts";
import type { LastGoodKey } from "../results/last-good.ts";
import type { Finding, Principal } from "../vocabulary.ts";
import type { Core } from "./core.ts";
import { outcomeOf } from "./outcome.ts";
import type { Prepared } from "./prepare.ts";
import { takeIn } from "./take-in.ts";
import type { TurnState } from "./turn.ts";

/** @returns until when the call can be taken back, epoch milliseconds; `null`: it cannot. */
export function remember(
  core: Core,
  plan: Prepared,
  turn: TurnState,
  answer: {
    readonly raw: unknown;
    readonly taken: Intake;
    readonly callId: string;
    /** It rests on what a person said this time. */
    readonly isOnce: boolean;
  },
): number | null | Promise<number | null> {
  const { raw, taken, callId, isOnce } = answer;
  const { server, tool, policy, decision } = plan;
  // Seen before the model sees it: the next call's arguments are judged against it.
  const name = `${server.name} ${tool.entry.name}`;
  const reading = turn.conversation.saw(name, raw, labelsOf(server, policy, decision.grade));
  if (decision.grade === "L0" && !taken.isError && !taken.isBlocked && !isOnce) {
    core.lastGood.remember(lastGoodKey(plan, turn.principal), raw as JsonValue);
  }
  const offer = () =>
    taken.isError ? null : orTold(core, core.undos.offer(callId, turn.principal, plan, raw));
  const { rest } = taken;
  const keep = () => {
    if (rest === undefined) return offer();
    const kept = orTold(core, core.rests.put(callId, turn.principal, rest));
    return kept instanceof Promise ? kept.then(offer) : offer();
  };
  return reading === undefined ? keep() : reading.then(keep);
}

/** What cannot be kept beside an answer, or found again, is told as a fault and fails nothing. */
export function orTold<Kept>(core: Core, work: Kept | Promise<Kept>): Kept | null | Promise<Kept | null> {
  if (!(work instanceof Promise)) return work;
  return work.catch((error: unknown) => {
    const message = core.redactor.redact(String(error)).slice(0, 500);
    core.emit({ type: "host.fault", at: core.clock.now(), message });
    return null;
  });
}

/** The last good result, where the server cannot be reached and the call only reads. */
export interface StaleAnswer {
  /** Epoch milliseconds. */
  readonly asOf: number;
  /** A sentence that a product can show. */
  readonly message: string;
  readonly content: readonly ContentBlock[];
  readonly structured?: JsonValue;
  readonly model: string;
  readonly findings: readonly Finding[];
}

/**
 * Taken in anew, by the rules of now. Like every output it is seen by the conversation, and it is remembered until the server is
 * back.
 */
export async function recall(
  core: Core,
  plan: Prepared,
  turn: TurnState,
  { callId, error }: { readonly callId: string; readonly error: PortcullisError },
): Promise<StaleAnswer | undefined> {
  const { server, decision, tool, policy } = plan;
  if (decision.grade !== "L0" || decision.decision !== "allow" || outcomeOf(error.code) !== "unavailable")
    return undefined;
  if (core.pauses.isPaused(server.name)) return undefined;
  const key = lastGoodKey(plan, turn.principal);
  const kept = await orTold(core, core.lastGood.recall(key, server.degraded?.maxAgeMs ?? DEFAULT_MAX_AGE_MS));
  if (kept === null || kept === undefined) return undefined;
  const taken = await takeIn(core, plan, kept.raw, null);
  if (taken.isBlocked) return undefined;
  await turn.conversation.saw(
    `${server.name} ${tool.entry.name}`,
    kept.raw,
    labelsOf(server, policy, decision.grade),
  );
  const identity = `${turn.principal} ${tool.entry.name} ${plan.digest()}`;
  core.recoveries.gaveStale(tool.key, identity, {
    principal: turn.principal,
    tool: tool.exposedName,
    callId,
    asOf: kept.asOf,
  });
  return {
    asOf: kept.asOf,
    message: sayStale(server.degraded?.say ?? null, server.name, tool.exposedName, kept.asOf),
    content: taken.content,
    ...(taken.structured === undefined ? {} : { structured: taken.structured }),
    model: taken.model,
    findings: taken.findings,
  };
}

const DEFAULT_MAX_AGE_MS = 24 * 60 * 60 * 1_000;

/** `{server}`, `{tool}`, `{time}` in the operator's own words; UTC. */
function sayStale(template: string | null, server: string, tool: string, asOf: number): string {
  const time = new Date(asOf).toISOString().slice(11, 16);
  const words: Readonly<Record<string, string>> = { server, tool, time };
  const say =
    template ??
    "{server} is not available right now; this is the answer from {time} UTC. Ask again when it is back.";
  return say.replaceAll(/\{(server|tool|time)\}/gu, (_whole, name: string) => words[name] ?? "");
}

/** Longer texts of arguments are kept as their digest. */
const MAX_TEXT = 256;

function lastGoodKey({ tool, text, digest }: Prepared, principal: Principal): LastGoodKey {
  return {
    connection: tool.key,
    principal,
    tool: tool.entry.name,
    arguments: text().length <= MAX_TEXT ? text() : digest(),
    pin: tool.entry.pin,
  };
}

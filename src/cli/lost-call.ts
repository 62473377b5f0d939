/**
 * What became of a call whose gateway went away before it answered: read from the record that they share, because the marks say
 * what a crash means. Where there is no record and the gateway lives, nobody knows.
 */
import { systemClock } from "../base/clock.ts";
import type { Config } from "../config/compiled.ts";
import type { PortcullisError } from "../errors.ts";
import type { Host } from "../host/api.ts";
import { outcomeOf, type Outcome } from "../host/outcome.ts";
import type { ActivityView } from "../host/views.ts";
import { findGateway } from "../operations/gateway-file.ts";
import { modelMessage } from "../results/outcome-text.ts";
import type { Effect } from "../vocabulary.ts";
import { openHostFor } from "./workspace.ts";

export type LostCall = Pick<Outcome, "callId" | "server" | "tool">;

/** Never throws: a record that cannot be read says nothing. */
export async function tellLostCall(config: Config, call: LostCall, error: PortcullisError): Promise<Outcome> {
  try {
    const host = await openHostFor(config, "cli");
    try {
      const isGatewayAlive = (): boolean => findGateway(config.stateDir) !== undefined;
      const recorded = await readSettled(host, call.callId, isGatewayAlive);
      return lostOutcome(call, error, recorded, isGatewayAlive());
    } finally {
      await host.close();
    }
  } catch {
    return lostOutcome(call, error, undefined, true);
  }
}

/**
 * The outcome for the caller: it ended as `error` says, with the effect that is on record. Pure.
 *
 * @param recorded `undefined`: nothing is on record.
 * @param isGatewayAlive whether the call may still begin.
 */
export function lostOutcome(
  call: LostCall,
  error: PortcullisError,
  recorded: ActivityView | undefined,
  isGatewayAlive: boolean,
): Outcome {
  const { server, tool } = call;
  const { code } = error;
  const outcome = outcomeOf(code) as Exclude<Outcome["outcome"], "completed">;
  const effect = effectOf(error, recorded, isGatewayAlive);
  const known = recorded === undefined ? "nothing of it is on record" : `on record it is ${recorded.outcome}`;
  return {
    ...call,
    grade: recorded?.grade ?? null,
    outcome,
    code,
    effect,
    message: `the gateway went away before it answered (${error.message}); ${known}: \`portcullis activity ${call.callId}\``,
    content: [],
    model: modelMessage({ server: server ?? "", tool, outcome, code, effect }),
    findings: [],
    attempts: 0,
    durationMs: recorded?.durationMs ?? 0,
  };
}

function effectOf(
  { data }: PortcullisError,
  recorded: ActivityView | undefined,
  isGatewayAlive: boolean,
): Effect {
  if (data["wasSent"] === false) return "none";
  // What writes is on record before it is sent: without a record nothing was, and nobody is left to do it.
  if (recorded === undefined) return isGatewayAlive ? "unknown" : "none";
  const isRunning = recorded.outcome === "running" && recorded.grade !== "L0";
  return isRunning ? "unknown" : recorded.effect;
}

/** A gateway that lives notices that its caller is gone, and ends the call: it gets a moment for that. */
const SETTLE_MS = 2_000;
const LOOK_MS = 50;

async function readSettled(
  host: Pick<Host, "activity">,
  callId: string,
  isGatewayAlive: () => boolean,
): Promise<ActivityView | undefined> {
  const untilMs = systemClock.monotonic() + SETTLE_MS;
  for (;;) {
    const [recorded] = await host.activity({ callId, limit: 1 });
    const isSettled = recorded !== undefined && recorded.outcome !== "running";
    if (isSettled || !isGatewayAlive() || systemClock.monotonic() >= untilMs) return recorded;
    await systemClock.sleep(LOOK_MS);
  }
}

/** What would happen and why, without doing it: the first two steps of a call, and the sentence a person would read. */
import { sentenceFor } from "../approvals/sentence.ts";
import type { JsonObject } from "../base/json.ts";
import { PortcullisError } from "../errors.ts";
import { evaluate } from "../policy/evaluate.ts";
import { cleanForPerson } from "../text/clean.ts";
import type { Explanation, ToolTarget } from "./api.ts";
import { requireServer, type Core } from "./core.ts";
import { factsOf, prepare } from "./prepare.ts";
import { resolveTool } from "./resolve-tool.ts";
import type { TurnState } from "./turn.ts";

/** @throws PortcullisError `unknown_server`, and what `resolveTool` throws. */
export async function explain(
  core: Core,
  turn: TurnState,
  target: ToolTarget,
  args: JsonObject,
): Promise<Explanation> {
  requireServer(core.config(), target.server);
  const resolved = await resolveTool(core, target, turn.principal, turn.signal);
  const about = { target, exposedName: resolved.tool.exposedName };
  try {
    const plan = await prepare(core, resolved, args, turn);
    const { policy, decision } = plan;
    const sentence = sentenceFor({
      server: target.server,
      tool: target.tool,
      arguments: plan.arguments,
      say: policy.say,
      makeVisible: cleanForPerson,
    });
    return {
      ...about,
      decision,
      sentence: decision.decision === "ask" ? sentence : null,
      argumentProblem: null,
      arguments: plan.arguments,
    };
  } catch (error) {
    if (!(error instanceof PortcullisError) || error.code !== "invalid_arguments") throw error;
    // What the grade alone says, without the arguments.
    const decision = evaluate({
      server: resolved.server,
      tool: factsOf(resolved),
      principal: turn.principal,
      pin: resolved.tool.entry.pin,
      arguments: {},
      now: core.clock.now(),
      isPaused: core.pauses.isPaused(target.server) || resolved.server.disabled,
      flow: turn.conversation.flow,
      provenance: [],
      guards: [],
      suspicions: resolved.tool.entry.findings,
    });
    const hint = typeof error.data["hint"] === "string" ? error.data["hint"] : error.message;
    return { ...about, decision, sentence: null, argumentProblem: hint, arguments: args };
  }
}

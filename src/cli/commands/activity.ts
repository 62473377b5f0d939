import { systemClock } from "../../base/clock.ts";
import { activity } from "../../operations/activity.ts";
import type { CommandRun } from "../main.ts";
import { renderActivity } from "../render/activity.ts";
import { given, limitOf, runVerb, sinceToMs } from "../verb.ts";

interface Options {
  readonly server?: string;
  readonly tool?: string;
  readonly principal?: string;
  readonly since?: string;
  readonly limit?: string;
}

export const run: CommandRun<Options> = async (context, [call], options) => {
  const { server, tool, principal, since, limit } = options;
  const filter = given({ call, server, tool, principal, fromMs: sinceToMs(since), limit: limitOf(limit) });
  return runVerb(context, activity, filter, ({ calls }) => renderActivity(calls, systemClock.now()));
};

import { systemClock } from "../../base/clock.ts";
import { activity } from "../../operations/activity.ts";
import type { CommandRun } from "../main.ts";
import { renderActivity } from "../render/activity.ts";
import { given, runVerb } from "../verb.ts";

export const run: CommandRun<{ server?: string; limit?: string }> = async (context, [call], options) => {
  const limit = options.limit === undefined ? undefined : Number(options.limit);
  return runVerb(context, activity, given({ call, server: options.server, limit }), ({ calls }) =>
    renderActivity(calls, systemClock.now()),
  );
};

import { systemClock } from "../../base/clock.ts";
import { status } from "../../operations/status.ts";
import type { CommandRun } from "../main.ts";
import { renderStatus } from "../render/status.ts";
import { openRunner } from "../runner.ts";
import { given, runVerb } from "../verb.ts";
import { loadTrusted } from "../workspace.ts";

const WATCH_MS = 2_000;

export const run: CommandRun<{ check?: boolean; watch?: boolean }> = async (context, [server], options) => {
  const input = given({ server, check: options.check });
  if (options.watch !== true)
    return runVerb(context, status, input, (report) => renderStatus(report, systemClock.now()));
  const config = await loadTrusted(context.globals, context.output, context.signal);
  const runner = await openRunner(config, true, context.output);
  try {
    while (!context.signal.aborted) {
      context.output.result(await runner.run(status as never, input, context.signal), (report) =>
        renderStatus(report as never, systemClock.now()),
      );
      await systemClock.sleep(WATCH_MS, context.signal).catch(() => undefined);
    }
    return 0;
  } catch (error) {
    if (context.signal.aborted) return 0;
    throw error;
  } finally {
    await runner.close();
  }
};

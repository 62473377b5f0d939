import { dirname, resolve } from "node:path";
import { isJsonObject } from "../../base/json.ts";
import { parseConfigBytes } from "../../config/jsonc.ts";
import { loadLocated, readConfigFile } from "../../config/load.ts";
import { systemClock } from "../../base/clock.ts";
import { PortcullisError } from "../../errors.ts";
import { replay } from "../../operations/replay.ts";
import type { CommandRun } from "../main.ts";
import { renderReplay } from "../render/replay.ts";
import { given, limitOf, runVerb, sinceToMs } from "../verb.ts";
import { loadOptions } from "../workspace.ts";

interface Options {
  readonly policy?: string;
  readonly server?: string;
  readonly since?: string;
  readonly limit?: string;
  readonly all?: boolean;
}

export const run: CommandRun<Options> = async (context, _words, options) => {
  const { policy, server, since, limit, all } = options;
  if (policy === undefined)
    throw new PortcullisError("usage", "name the other configuration with --policy FILE");
  const file = resolve(policy);
  // Read in full first: what is wrong in it is told with its place.
  await loadLocated(file, false, { ...loadOptions(context.globals), stateDir: dirname(file) });
  const { value } = parseConfigBytes((await readConfigFile(file)).bytes);
  if (!isJsonObject(value)) throw new PortcullisError("config_invalid", `\`${policy}\` is no configuration`);
  const fromMs = sinceToMs(since);
  return runVerb(
    context,
    replay,
    given({
      policy: value,
      baseDir: dirname(file),
      server,
      fromMs,
      limit: limitOf(limit),
    }),
    (report) => renderReplay(report, all === true, systemClock.now()),
  );
};

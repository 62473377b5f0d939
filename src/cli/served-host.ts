/** The host of a gateway, with those that listen to it: the log, what is said of starts, and telemetry where it is asked for. */
import type { Config } from "../config/compiled.ts";
import type { Host } from "../host/api.ts";
import { keepLog } from "../telemetry/log.ts";
import type { Output } from "./output.ts";
import { sayStarts } from "./start-progress.ts";
import { openTelemetry } from "./telemetry.ts";
import { openHostFor } from "./workspace.ts";

export interface ServedHost {
  readonly host: Host;
  /** Ends the listening; close the host first, so that they hear how its calls ended. */
  endListening(): Promise<void>;
}

/** @throws PortcullisError as `openHost` and `openTelemetry`. */
export async function openServedHost(config: Config, output: Output): Promise<ServedHost> {
  const telemetry = await openTelemetry(config, output);
  let host: Host;
  try {
    host = await openHostFor(config, "gateway", { callersAnswer: true });
  } catch (error) {
    await telemetry.close();
    throw error;
  }
  telemetry.observe(host);
  const endLog = keepLog(host, output.say);
  await sayStarts(host, output);
  return {
    host,
    async endListening() {
      endLog();
      await telemetry.close();
    },
  };
}

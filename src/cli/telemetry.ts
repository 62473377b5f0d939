/**
 * Traces and metrics of a gateway, where configuration or environment asks for them. What they need is loaded only then. The
 * collector is the operator's own: it may stand on any address, by https, or by plain http on this machine.
 */
import { systemClock } from "../base/clock.ts";
import { readCertificates } from "../config/certificates.ts";
import type { Config, LateText } from "../config/compiled.ts";
import { resolveLate } from "../config/secrets.ts";
import { telemetrySettings, type TelemetryWish } from "../config/telemetry.ts";
import { thisProcess } from "../config/this-process.ts";
import { createHttpPort } from "../egress/dial.ts";
import { PortcullisError, toPortcullisError } from "../errors.ts";
import type { Host } from "../host/api.ts";
import { lateResolverOf } from "../host/make-transport.ts";
import type { PostToCollector } from "../telemetry/otel-sdk.ts";
import type { HttpPort } from "../transport/http-port.ts";
import type { Output } from "./output.ts";

export interface Telemetry {
  /** Call it before the host is used, and once. */
  observe(host: Host): void;
  /** Sends what is left; takes 1.5 seconds at most. Close the host first. */
  close(): Promise<void>;
}

const CLOSE_MS = 1_500;
const HEAD_MS = 10_000;
const MAX_ANSWER_BYTES = 64 * 1024;

const NO_TELEMETRY: Telemetry = { observe: () => undefined, close: async () => undefined };

/**
 * Nothing is sent and nothing is loaded where nobody asks for it.
 *
 * @throws PortcullisError `config_invalid` (a key, a variable, a package that is missing), `secret_unresolved`.
 */
export async function openTelemetry(config: Config, output: Output): Promise<Telemetry> {
  const settings = telemetrySettings(await wishOf(config), thisProcess().env);
  if (settings === null) return NO_TELEMETRY;
  const [{ observeHost }, { openOtelSdk }] = await Promise.all([
    import("../telemetry/otel.ts"),
    import("../telemetry/otel-sdk.ts"),
  ]);
  const origins = [settings.traces, settings.metrics].flatMap((target) => target?.url.origin ?? []);
  const port = createHttpPort({
    clock: systemClock,
    ...readCertificates(config.egress.certificates),
    rules: { origins, allow: [], allowPrivateAddresses: true },
  });
  const sdk = await openOtelSdk({
    ...settings,
    clock: systemClock,
    post: postOver(port),
    onTrouble: (reason) =>
      output.say(
        reason === null
          ? "telemetry reaches its collector again"
          : `telemetry does not reach its collector: ${toPortcullisError(reason).message}`,
      ),
  });
  let end: (() => void) | undefined;
  return {
    observe(host) {
      end = observeHost(host, sdk);
    },
    async close() {
      end?.();
      await sdk.close(CLOSE_MS);
      await port.close();
    },
  };
}

function postOver(port: HttpPort): PostToCollector {
  return async ({ url, headers }, { contentType, body, signal }) => {
    const response = await port.request({
      method: "POST",
      url,
      headers: { ...headers, "content-type": contentType },
      body,
      signal,
      headTimeoutMs: HEAD_MS,
      idleTimeoutMs: HEAD_MS,
      maxBodyBytes: MAX_ANSWER_BYTES,
    });
    for await (const _chunk of response.body) continue;
    if (response.status >= 300)
      throw new PortcullisError("http_error", `\`${url.origin}\` answered with status ${response.status}`);
  };
}

async function wishOf(config: Config): Promise<TelemetryWish | null> {
  const { telemetry } = config;
  if (telemetry === null) return null;
  const resolver = lateResolverOf(null, { config, clock: systemClock });
  const resolve = async (text: LateText, where: string): Promise<string> =>
    (await resolveLate(text, resolver, where)).value;
  const { endpoint, headers, sample, intervalMs } = telemetry;
  const values: Record<string, string> = {};
  for (const [name, text] of Object.entries(headers))
    values[name] = await resolve(text, `telemetry.headers.${name}`);
  return {
    endpoint: endpoint === null ? null : await resolve(endpoint, "telemetry.endpoint"),
    headers: values,
    sample,
    intervalMs,
  };
}

/**
 * What a gateway is asked to tell OpenTelemetry, from `telemetry` of the configuration and the standard `OTEL_*` variables. What the
 * configuration says wins; headers of the environment go only where the environment says. Pure. Source:
 * https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
 */
import { PortcullisError } from "../errors.ts";

export interface TelemetrySettings {
  readonly serviceName: string;
  /** Further attributes of the resource. */
  readonly resource: Readonly<Record<string, string>>;
  readonly encoding: "protobuf" | "json";
  /** `null`: none are sent. `sampleRatio`: of traces that begin here, 0 to 1. */
  readonly traces: (OtlpTarget & { readonly sampleRatio: number }) | null;
  readonly metrics: (OtlpTarget & { readonly intervalMs: number }) | null;
}

export interface OtlpTarget {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
}

/** `telemetry` of the configuration, its references resolved. */
export interface TelemetryWish {
  readonly endpoint: string | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly sample: number | null;
  readonly intervalMs: number | null;
}

type Env = Readonly<Record<string, string | undefined>>;

const DEFAULT_ENDPOINT = "http://localhost:4318";
const DEFAULT_INTERVAL_MS = 60_000;

/**
 * @param wish `null`: the configuration asks for nothing.
 * @returns `null` where nobody asks for anything.
 * @throws PortcullisError `config_invalid` that names the key or variable.
 */
export function telemetrySettings(wish: TelemetryWish | null, env: Env): TelemetrySettings | null {
  if (textOf(env, "OTEL_SDK_DISABLED")?.toLowerCase() === "true") return null;
  const resource = pairsOf(env, "OTEL_RESOURCE_ATTRIBUTES");
  const traces = targetOf("traces", wish, env);
  const metrics = targetOf("metrics", wish, env);
  if (traces === null && metrics === null) return null;
  return {
    serviceName: textOf(env, "OTEL_SERVICE_NAME") ?? resource["service.name"] ?? "portcullis",
    resource,
    encoding: encodingOf(env),
    traces: traces === null ? null : { ...traces, sampleRatio: wish?.sample ?? sampleRatioOf(env) },
    metrics: metrics === null ? null : { ...metrics, intervalMs: wish?.intervalMs ?? intervalOf(env) },
  };
}

function targetOf(signal: "traces" | "metrics", wish: TelemetryWish | null, env: Env): OtlpTarget | null {
  const name = signal.toUpperCase();
  const exporters = textOf(env, `OTEL_${name}_EXPORTER`)?.split(",");
  if (exporters !== undefined && !exporters.some((one) => one.trim() === "otlp")) return null;
  const own = `OTEL_EXPORTER_OTLP_${name}_ENDPOINT`;
  const shared = "OTEL_EXPORTER_OTLP_ENDPOINT";
  const given = textOf(env, own);
  const base = textOf(env, shared);
  if (wish === null && exporters === undefined && given === undefined && base === undefined) return null;
  if (wish?.endpoint !== null && wish?.endpoint !== undefined)
    return {
      url: urlOf(`${withoutSlash(wish.endpoint)}/v1/${signal}`, "telemetry.endpoint"),
      headers: wish.headers,
    };
  return {
    url:
      given === undefined
        ? urlOf(`${withoutSlash(base ?? DEFAULT_ENDPOINT)}/v1/${signal}`, shared)
        : urlOf(given, own),
    headers: {
      ...pairsOf(env, "OTEL_EXPORTER_OTLP_HEADERS"),
      ...pairsOf(env, `OTEL_EXPORTER_OTLP_${name}_HEADERS`),
      ...wish?.headers,
    },
  };
}

function encodingOf(env: Env): "protobuf" | "json" {
  const name = "OTEL_EXPORTER_OTLP_PROTOCOL";
  const protocol = textOf(env, name) ?? "http/protobuf";
  if (protocol === "http/protobuf") return "protobuf";
  if (protocol === "http/json") return "json";
  throw invalid(
    `\`${name}\` is \`${protocol.slice(0, 40)}\`: write \`http/protobuf\` or \`http/json\`, and the collector's port for it (4318)`,
  );
}

function sampleRatioOf(env: Env): number {
  const name = "OTEL_TRACES_SAMPLER";
  const sampler = (textOf(env, name) ?? "always_on").replace(/^parentbased_/, "");
  if (sampler === "always_on") return 1;
  if (sampler === "always_off") return 0;
  if (sampler !== "traceidratio")
    throw invalid(
      `\`${name}\` is \`${sampler.slice(0, 40)}\`: write \`always_on\`, \`always_off\` or \`traceidratio\``,
    );
  const argument = "OTEL_TRACES_SAMPLER_ARG";
  const ratio = Number(textOf(env, argument) ?? "1");
  if (!(ratio >= 0 && ratio <= 1)) throw invalid(`\`${argument}\` must be a number from 0 to 1`);
  return ratio;
}

function intervalOf(env: Env): number {
  const name = "OTEL_METRIC_EXPORT_INTERVAL";
  const text = textOf(env, name);
  if (text === undefined) return DEFAULT_INTERVAL_MS;
  const intervalMs = Number(text);
  if (Number.isInteger(intervalMs) && intervalMs > 0) return intervalMs;
  throw invalid(`\`${name}\` must be a number of milliseconds`);
}

/** `key=value,key=value`, values percent-encoded (W3C Baggage). What it holds may be secret: it is never quoted. */
function pairsOf(env: Env, name: string): Record<string, string> {
  const pairs = (textOf(env, name) ?? "").split(",").filter((pair) => pair.trim() !== "");
  return Object.fromEntries(
    pairs.map((pair, index) => {
      const equals = pair.indexOf("=");
      try {
        if (equals > 0)
          return [pair.slice(0, equals).trim(), decodeURIComponent(pair.slice(equals + 1).trim())];
      } catch {
        // Told below, like all that has not the form.
      }
      throw invalid(
        `\`${name}\` must be \`name=value,name=value\`, percent-encoded; its pair ${index + 1} is not`,
      );
    }),
  );
}

/** An empty variable is one that is not set. */
function textOf(env: Env, name: string): string | undefined {
  const text = env[name]?.trim();
  return text === "" ? undefined : text;
}

function withoutSlash(text: string): string {
  return text.replace(/\/+$/, "");
}

function urlOf(text: string, where: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol === "https:" || url?.protocol === "http:") return url;
  throw invalid(`\`${where}\` must be an address such as \`http://localhost:4318\``);
}

function invalid(message: string): PortcullisError {
  return new PortcullisError("config_invalid", message);
}

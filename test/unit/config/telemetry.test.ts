import { describe, expect, it } from "vitest";
import { telemetrySettings, type TelemetryWish } from "../../../src/config/telemetry.ts";
import { PortcullisError } from "../../../src/errors.ts";

const wish = (more: Partial<TelemetryWish> = {}): TelemetryWish => ({
  endpoint: null,
  headers: {},
  sample: null,
  intervalMs: null,
  ...more,
});
const targets = (given: TelemetryWish | null, env: Record<string, string>) => {
  const settings = telemetrySettings(given, env);
  return settings && [settings.traces?.url.href ?? null, settings.metrics?.url.href ?? null];
};
const LOCAL = ["http://localhost:4318/v1/traces", "http://localhost:4318/v1/metrics"];

describe("where traces and metrics go", () => {
  it.each([
    ["nobody asks", null, {}, null],
    ["only a name is set", null, { OTEL_SERVICE_NAME: "me" }, null],
    ["an empty variable", null, { OTEL_EXPORTER_OTLP_ENDPOINT: " " }, null],
    ["an empty key of the configuration", wish(), {}, LOCAL],
    [
      "an address in the configuration",
      wish({ endpoint: "https://o.example/otlp/" }),
      { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1" },
      ["https://o.example/otlp/v1/traces", "https://o.example/otlp/v1/metrics"],
    ],
    [
      "an address in the environment",
      null,
      { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1/" },
      ["http://127.0.0.1:1/v1/traces", "http://127.0.0.1:1/v1/metrics"],
    ],
    [
      "one for traces alone, taken as it stands",
      null,
      { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://127.0.0.1:1/t" },
      ["http://127.0.0.1:1/t", null],
    ],
    ["an exporter alone", null, { OTEL_METRICS_EXPORTER: "console,otlp" }, [null, LOCAL[1]]],
    ["one turned off", wish(), { OTEL_METRICS_EXPORTER: "none" }, [LOCAL[0], null]],
    ["all turned off", wish(), { OTEL_SDK_DISABLED: "TRUE" }, null],
  ] satisfies [string, TelemetryWish | null, Record<string, string>, unknown][])(
    "%s",
    (_what, given, env, expected) => {
      expect(targets(given, env)).toEqual(expected);
    },
  );

  it("headers of the environment go where the environment says, and nowhere else", () => {
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1",
      OTEL_EXPORTER_OTLP_HEADERS: "api-key=a%20b, x=1",
      OTEL_EXPORTER_OTLP_METRICS_HEADERS: "x=2",
    };
    const ofEnv = telemetrySettings(wish({ headers: { y: "3" } }), env);
    expect(ofEnv?.traces?.headers).toEqual({ "api-key": "a b", x: "1", y: "3" });
    expect(ofEnv?.metrics?.headers).toEqual({ "api-key": "a b", x: "2", y: "3" });
    const ofConfig = telemetrySettings(wish({ endpoint: "https://o.example", headers: { y: "3" } }), env);
    expect(ofConfig?.traces?.headers).toEqual({ y: "3" });
  });
});

describe("how it is told", () => {
  it("by default: all traces, metrics every minute, protobuf, under our own name", () => {
    expect(telemetrySettings(wish(), {})).toMatchObject({
      serviceName: "portcullis",
      resource: {},
      encoding: "protobuf",
      traces: { sampleRatio: 1 },
      metrics: { intervalMs: 60_000 },
    });
  });

  it("as the standard variables say", () => {
    const env = {
      OTEL_RESOURCE_ATTRIBUTES: "service.name=other,deployment.environment.name=test",
      OTEL_SERVICE_NAME: "gate",
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_TRACES_SAMPLER: "parentbased_traceidratio",
      OTEL_TRACES_SAMPLER_ARG: "0.25",
      OTEL_METRIC_EXPORT_INTERVAL: "5000",
    };
    expect(telemetrySettings(wish(), env)).toMatchObject({
      serviceName: "gate",
      resource: { "deployment.environment.name": "test" },
      encoding: "json",
      traces: { sampleRatio: 0.25 },
      metrics: { intervalMs: 5_000 },
    });
    expect(telemetrySettings(wish({ sample: 0.5, intervalMs: 1_000 }), env)).toMatchObject({
      traces: { sampleRatio: 0.5 },
      metrics: { intervalMs: 1_000 },
    });
    const off = { OTEL_TRACES_SAMPLER: "always_off" };
    expect(telemetrySettings(wish(), off)?.traces?.sampleRatio).toBe(0);
  });

  it.each([
    ["OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"],
    ["OTEL_TRACES_SAMPLER", "jaeger_remote"],
    ["OTEL_METRIC_EXPORT_INTERVAL", "soon"],
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4317"],
    ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "nowhere"],
    ["OTEL_EXPORTER_OTLP_HEADERS", "s3cret"],
    ["OTEL_EXPORTER_OTLP_HEADERS", "key=%zz"],
  ])("%s=%s is refused by name, and headers are not quoted", (name, value) => {
    try {
      telemetrySettings(wish(), { [name]: value });
      expect.unreachable();
    } catch (error) {
      if (!(error instanceof PortcullisError)) throw error;
      expect(error.code).toBe("config_invalid");
      expect(error.message).toContain(name);
      if (name.endsWith("HEADERS")) expect(error.message).not.toContain(value);
    }
  });

  it("a share that is none", () => {
    const env = { OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: "2" };
    expect(() => telemetrySettings(wish(), env)).toThrow(/OTEL_TRACES_SAMPLER_ARG/);
  });
});

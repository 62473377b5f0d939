/**
 * An SDK for processes that have none: providers that send to a collector by OTLP over HTTP. Its packages are optional peers,
 * loaded when this is opened. Nothing is registered globally, no variable is read, and every byte leaves by `post`.
 *
 * Invariants: a collector that fails, hangs or is gone costs no call anything; what cannot be sent is dropped (spans) or sent the next
 * time (metrics, which are sums); `close` takes no longer than it is given.
 */
import type { MeterProvider, TracerProvider } from "@opentelemetry/api";
import type { Clock } from "../base/clock.ts";
import { PortcullisError } from "../errors.ts";
import { VERSION } from "../version.ts";

export interface OtelSdkOptions {
  readonly clock: Clock;
  readonly serviceName: string;
  readonly resource: Readonly<Record<string, string>>;
  readonly encoding: "protobuf" | "json";
  readonly traces: (CollectorTarget & { readonly sampleRatio: number }) | null;
  readonly metrics: (CollectorTarget & { readonly intervalMs: number }) | null;
  readonly post: PostToCollector;
  /** The collector cannot be reached: told once, with the reason; `null`: it can again. */
  readonly onTrouble: (reason: unknown) => void;
}

export interface CollectorTarget {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
}

/** Sends one request and reads the answer to its end. @throws where it was not taken. */
export type PostToCollector = (
  target: CollectorTarget,
  message: { readonly contentType: string; readonly body: Uint8Array; readonly signal: AbortSignal },
) => Promise<void>;

export interface OtelSdk {
  readonly tracerProvider?: TracerProvider;
  readonly meterProvider?: MeterProvider;
  /** Sends what is left, and gives up after `withinMs`. */
  close(withinMs: number): Promise<void>;
}

const PACKAGES = ["sdk-trace", "sdk-metrics", "resources", "otlp-transformer"] as const;

/** One batch on its way. */
const SEND_MS = 10_000;
/** Spans are gathered for so long, and so many of them are kept at most. */
const GATHER_MS = 5_000;
const MAX_SPANS = 2_048;

/** @throws PortcullisError `config_invalid` where the packages are not installed. */
export async function openOtelSdk(options: OtelSdkOptions): Promise<OtelSdk> {
  const { sdkTrace, sdkMetrics, resources, otlp } = await loadPackages();
  const resource = resources.resourceFromAttributes({
    ...options.resource,
    "service.name": options.serviceName,
    "service.version": options.resource["service.version"] ?? VERSION,
  });
  const sender = createSender(options);
  const isJson = options.encoding === "json";
  const ends: (() => Promise<void>)[] = [];
  const sdk: { tracerProvider?: TracerProvider; meterProvider?: MeterProvider } = {};
  const { traces, metrics } = options;
  if (traces !== null) {
    const serializer = isJson ? otlp.JsonTraceSerializer : otlp.ProtobufTraceSerializer;
    const provider = new sdkTrace.TracerProvider({
      resource,
      sampler: new sdkTrace.ParentBasedSampler({
        root: new sdkTrace.TraceIdRatioBasedSampler(traces.sampleRatio),
      }),
      spanProcessors: [
        new sdkTrace.BatchSpanProcessor({
          exporter: sender.exporterTo(traces, (spans) => serializer.serializeRequest(spans)),
          scheduledDelayMillis: GATHER_MS,
          exportTimeoutMillis: SEND_MS,
          maxQueueSize: MAX_SPANS,
        }),
      ],
    });
    ends.push(() => provider.shutdown());
    sdk.tracerProvider = provider;
  }
  if (metrics !== null) {
    const serializer = isJson ? otlp.JsonMetricsSerializer : otlp.ProtobufMetricsSerializer;
    const provider = new sdkMetrics.MeterProvider({
      resource,
      readers: [
        new sdkMetrics.PeriodicExportingMetricReader({
          exporter: sender.exporterTo(metrics, (sums) => serializer.serializeRequest(sums)),
          exportIntervalMillis: metrics.intervalMs,
        }),
      ],
    });
    ends.push(() => provider.shutdown());
    sdk.meterProvider = provider;
  }
  return {
    ...sdk,
    async close(withinMs) {
      const over = Promise.withResolvers<void>();
      const limit = options.clock.timer(withinMs, () => {
        sender.stop();
        over.resolve();
      });
      await Promise.race([Promise.allSettled(ends.map((end) => end())), over.promise]);
      limit.cancel();
    },
  };
}

async function loadPackages() {
  try {
    const [sdkTrace, sdkMetrics, resources, otlp] = await Promise.all([
      import("@opentelemetry/sdk-trace"),
      import("@opentelemetry/sdk-metrics"),
      import("@opentelemetry/resources"),
      import("@opentelemetry/otlp-transformer"),
    ]);
    return { sdkTrace, sdkMetrics, resources, otlp };
  } catch (cause) {
    const names = PACKAGES.map((name) => `@opentelemetry/${name}`).join(" ");
    throw new PortcullisError(
      "config_invalid",
      `telemetry is asked for, and a package for it is missing: run \`npm install ${names}\`, or take \`telemetry\` and \`OTEL_*\` away`,
      { cause },
    );
  }
}

/** What both kinds of exporters of the SDK have in common. */
interface Exporter<Batch> {
  export(batch: Batch, done: (result: { readonly code: 0 | 1; readonly error?: Error }) => void): void;
  forceFlush(): Promise<void>;
  shutdown(): Promise<void>;
}

function createSender({ clock, encoding, post, onTrouble }: OtelSdkOptions) {
  const stopped = new AbortController();
  const contentType = encoding === "json" ? "application/json" : "application/x-protobuf";
  let isTroubled = false;

  const send = async (target: CollectorTarget, body: Uint8Array | undefined): Promise<void> => {
    if (body === undefined) return;
    const limit = new AbortController();
    const timer = clock.timer(SEND_MS, () => limit.abort(tooLong()));
    try {
      const signal = AbortSignal.any([stopped.signal, limit.signal]);
      await post(target, { contentType, body, signal });
      if (isTroubled) onTrouble(null);
      isTroubled = false;
    } catch (error) {
      if (!isTroubled) onTrouble(error);
      isTroubled = true;
      throw error;
    } finally {
      timer.cancel();
    }
  };

  return {
    stop: () => stopped.abort(tooLong()),
    exporterTo: <Batch>(
      target: CollectorTarget,
      serialize: (batch: Batch) => Uint8Array | undefined,
    ): Exporter<Batch> => ({
      export(batch, done) {
        // Serialised within the promise: what fails there is a failed batch as well.
        Promise.resolve()
          .then(() => send(target, serialize(batch)))
          .then(
            () => done({ code: 0 }),
            (error: unknown) =>
              done({ code: 1, error: error instanceof Error ? error : new Error("not sent") }),
          );
      },
      forceFlush: async () => undefined,
      shutdown: async () => undefined,
    }),
  };
}

function tooLong(): PortcullisError {
  return new PortcullisError("timed_out", "the collector took too long");
}

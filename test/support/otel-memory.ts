/** OpenTelemetry's own SDK with everything kept in memory. */
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import {
  InMemorySpanExporter,
  SimpleSpanProcessor,
  TracerProvider,
  type ReadableSpan,
} from "@opentelemetry/sdk-trace";

export interface Point {
  readonly attributes: Readonly<Record<string, unknown>>;
  /** Of a histogram: how many were recorded. */
  readonly value: number;
}

export interface OtelMemory {
  readonly tracerProvider: TracerProvider;
  readonly meterProvider: MeterProvider;
  /** Spans that ended, in this order. */
  spans(): readonly ReadableSpan[];
  /** What a metric says now. */
  points(metric: string): Promise<readonly Point[]>;
  close(): Promise<void>;
}

export function createOtelMemory(): OtelMemory {
  const resource = resourceFromAttributes({ "service.name": "test" });
  const spans = new InMemorySpanExporter();
  const tracerProvider = new TracerProvider({
    resource,
    spanProcessors: [new SimpleSpanProcessor({ exporter: spans })],
  });
  const metrics = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter: metrics, exportIntervalMillis: 3_600_000 });
  const meterProvider = new MeterProvider({ resource, readers: [reader] });
  return {
    tracerProvider,
    meterProvider,
    spans: () => spans.getFinishedSpans(),
    async points(name) {
      metrics.reset();
      await meterProvider.forceFlush();
      const found = metrics
        .getMetrics()
        .flatMap(({ scopeMetrics }) => scopeMetrics)
        .flatMap((scope) => scope.metrics)
        .filter(({ descriptor }) => descriptor.name === name);
      return found.flatMap(({ dataPoints }) =>
        dataPoints.map(({ attributes, value }) => ({
          attributes,
          value: typeof value === "number" ? value : value.count,
        })),
      );
    },
    async close() {
      await tracerProvider.shutdown();
      await meterProvider.shutdown();
    },
  };
}

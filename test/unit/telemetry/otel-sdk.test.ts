import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../src/base/manual-clock.ts";
import { openOtelSdk, type PostToCollector } from "../../../src/telemetry/otel-sdk.ts";

const target = { url: new URL("http://127.0.0.1:1/v1/traces"), headers: { "x-key": "k" } };
async function open(post: PostToCollector) {
  const clock = createManualClock();
  const troubles: unknown[] = [];
  const sdk = await openOtelSdk({
    clock,
    serviceName: "gate",
    resource: { "deployment.environment.name": "test" },
    encoding: "json",
    traces: { ...target, sampleRatio: 1 },
    metrics: null,
    post,
    onTrouble: (reason) => troubles.push(reason),
  });
  const tracer = sdk.tracerProvider?.getTracer("test");
  const flush = async (): Promise<void> => {
    tracer?.startSpan("one").end();
    const provider = sdk.tracerProvider as unknown as { forceFlush(): Promise<void> };
    await provider.forceFlush().catch(() => undefined);
  };
  return { sdk, clock, troubles, flush, tracer };
}

describe("what is sent to the collector", () => {
  it("is OTLP, under the name of the service, with the headers of the target", async () => {
    const sent: unknown[] = [];
    const { flush, sdk } = await open(async (to, { contentType, body }) => {
      sent.push([to.headers, contentType, JSON.parse(new TextDecoder().decode(body))]);
    });
    await flush();
    await sdk.close(1_000);
    expect(sent).toMatchObject([
      [
        { "x-key": "k" },
        "application/json",
        {
          resourceSpans: [
            {
              resource: {
                attributes: expect.arrayContaining([
                  { key: "service.name", value: { stringValue: "gate" } },
                  { key: "deployment.environment.name", value: { stringValue: "test" } },
                ]),
              },
              scopeSpans: [{ spans: [{ name: "one" }] }],
            },
          ],
        },
      ],
    ]);
  });

  it("trouble is told when it begins and when it ends, not for every batch", async () => {
    let isDown = true;
    const down = new Error("down");
    const { flush, troubles, sdk } = await open(async () => {
      if (isDown) throw down;
    });
    await flush();
    await flush();
    isDown = false;
    await flush();
    await flush();
    expect(troubles).toEqual([down, null]);
    await sdk.close(1_000);
  });
});

describe("a collector that never answers", () => {
  const hang: PostToCollector = (_to, { signal }) =>
    new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));

  it("is given up after ten seconds", async () => {
    const { flush, clock, troubles, sdk } = await open(hang);
    const flushed = flush();
    await clock.advance(10_000);
    await flushed;
    expect(troubles).toMatchObject([{ code: "timed_out" }]);
    await sdk.close(1_000);
  });

  it("holds the end up no longer than it is given, even one that hears no signal", async () => {
    for (const post of [hang, () => new Promise<void>(() => undefined)]) {
      const { sdk, clock, tracer } = await open(post);
      tracer?.startSpan("one").end();
      let isOver = false;
      const closing = sdk.close(1_500).then(() => (isOver = true));
      await clock.advance(1_499);
      expect(isOver).toBe(false);
      await clock.advance(1);
      await closing;
      expect(isOver).toBe(true);
    }
  });
});

/** Traces and metrics by OpenTelemetry's own SDK: of calls through a real gateway, and out of `portcullis serve` into a collector. */
import type { ChildProcess } from "node:child_process";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { observeHost } from "../../src/telemetry/otel.ts";
import { openCollector, type Collector } from "../support/collector.ts";
import { modern, openBench, send, type GatewayBench } from "../support/gateway-kit.ts";
import { createOtelMemory, type OtelMemory } from "../support/otel-memory.ts";
import { createWorkbench, type Workbench } from "../support/workbench.ts";

const TRACE_ID = "0af7651916cd43dd8448eb211c80319c";
const TRACEPARENT = `00-${TRACE_ID}-b7ad6b7169203331-01`;
const SECRET = "hush-hush-4711";

describe("calls through the gateway", { timeout: 30_000 }, () => {
  let bench: GatewayBench;
  let memory: OtelMemory;
  let end: () => void;
  beforeEach(async () => {
    bench = await openBench();
    memory = createOtelMemory();
    end = observeHost(bench.host, memory);
  });
  afterEach(async () => {
    await bench.close();
    end();
    await memory.close();
  });

  it("the agent's trace goes through ours to the server: one span lies between", async () => {
    const call = { name: "peer__echo", arguments: { text: SECRET } };
    await send(bench, modern("tools/call", call, { meta: { traceparent: TRACEPARENT } }));
    const [span] = memory.spans();
    expect(span?.name).toBe("tools/call echo");
    expect(span?.spanContext().traceId).toBe(TRACE_ID);
    expect(span?.parentSpanContext?.spanId).toBe("b7ad6b7169203331");
    const got = bench.ledger().find(({ tool }) => tool === "echo");
    expect(got?.["meta"]).toEqual({ traceparent: `00-${TRACE_ID}-${span?.spanContext().spanId}-01` });
  });

  it("nothing that was asked or answered is told, and every failure has its class", async () => {
    const calls: JsonObject[] = [
      { name: "peer__echo", arguments: { text: SECRET } },
      { name: "peer__attack", arguments: {} },
      { name: "peer__fail", arguments: {} },
      { name: "peer__echo", arguments: { wrong: SECRET } },
      { name: `peer__${SECRET}`, arguments: {} },
    ];
    for (const call of calls) await send(bench, modern("tools/call", call));
    const spans = memory.spans();
    expect(spans.map(({ name, attributes }) => [name, attributes["error.type"]])).toEqual([
      ["tools/call echo", undefined],
      ["tools/call attack", undefined],
      ["tools/call fail", "tool_error"],
      ["tools/call echo", "invalid_arguments"],
      ["tools/call", "unknown_tool"],
    ]);
    const points = [
      ...(await memory.points("mcp.client.operation.duration")),
      ...(await memory.points("portcullis.call.duration")),
      ...(await memory.points("portcullis.findings")),
      ...(await memory.points("portcullis.connections")),
    ];
    expect(points.length).toBeGreaterThan(8);
    const told = JSON.stringify([
      points,
      spans.map(({ attributes, events, status }) => [attributes, events, status]),
    ]);
    expect(told).not.toContain(SECRET);
    expect(told).not.toContain("id_rsa");
    expect(told).not.toContain("no space");
  });

  it("a call that waits for a person shows the wait, and is counted while it waits", async () => {
    const turn = bench.host.turn();
    const asked = new Promise<string>((resolve) =>
      bench.host.onEvent((event) => {
        if (event.type === "approval.requested") resolve(event.approvalId);
      }),
    );
    const pending = turn.call("peer__write", { text: SECRET });
    const id = await asked;
    expect(await memory.points("portcullis.approvals.waiting")).toEqual([{ attributes: {}, value: 1 }]);
    await bench.host.approvals.answer(id, { verdict: "deny", by: "alice", channel: "console" });
    await pending;
    await turn.close();
    expect(memory.spans().map(({ name, attributes }) => [name, attributes["error.type"]])).toEqual([
      ["portcullis.approval", undefined],
      ["tools/call write", "approval_denied"],
    ]);
  });

  it("an SDK that throws costs no call anything", async () => {
    const broken = (): never => {
      throw new Error("broken");
    };
    const endBroken = observeHost(bench.host, {
      tracerProvider: { getTracer: () => ({ startSpan: broken, startActiveSpan: broken }) },
    });
    const answer = await send(bench, modern("tools/call", { name: "peer__echo", arguments: { text: "hi" } }));
    expect(answer.text).toContain("hi");
    endBroken();
  });
});

describe("portcullis serve", { timeout: 60_000 }, () => {
  let bench: Workbench;
  let collector: Collector;
  const children: ChildProcess[] = [];
  beforeEach(async () => {
    bench = createWorkbench();
    collector = await openCollector();
  });
  afterEach(async () => {
    for (const child of children.splice(0)) child.kill("SIGKILL");
    await collector.close();
    bench.remove();
  });

  interface Served {
    readonly child: ChildProcess;
    readonly stderr: () => string;
    readonly exited: Promise<number | null>;
    read(text: string): Promise<string>;
  }

  async function serve(top: JsonObject, env: Record<string, string>): Promise<Served> {
    bench.writeConfig({
      mcpServers: { ledger: bench.ledgerEntry({ source: "own", tools: { read: "L0" } }) },
      gateway: { listen: "127.0.0.1:0" },
      ...top,
    });
    const child = bench.start(["serve", "--json"], { OTEL_EXPORTER_OTLP_PROTOCOL: "http/json", ...env });
    children.push(child);
    let stderr = "";
    child.stderr?.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    const exited = new Promise<number | null>((resolve) => child.once("close", resolve));
    const { mcp } = await new Promise<{ mcp: { url: string; headers: Record<string, string> } }>(
      (resolve, reject) => {
        let stdout = "";
        child.stdout?.setEncoding("utf8").on("data", (text: string) => {
          stdout += text;
          if (stdout.endsWith("}\n")) resolve(JSON.parse(stdout) as never);
        });
        void exited.then((code) => reject(new Error(`serve ended with ${code}: ${stderr}`)));
      },
    );
    return {
      child,
      stderr: () => stderr,
      exited,
      async read(text) {
        const { headers = {}, body } = modern("tools/call", { name: "ledger__read", arguments: { text } });
        const answer = await fetch(mcp.url, {
          method: "POST",
          headers: {
            ...mcp.headers,
            ...(headers as Record<string, string>),
            "content-type": "application/json",
            accept: "application/json, text/event-stream",
            connection: "close",
          },
          body: JSON.stringify(body),
        });
        return answer.text();
      },
    };
  }

  const stop = async ({ child, exited }: Served): Promise<number> => {
    const startedMs = performance.now();
    child.kill("SIGTERM");
    expect(await exited).toBe(0);
    return performance.now() - startedMs;
  };
  const about = (path: string, text: string) => (received: { path: string; body: JsonObject }) =>
    received.path === path && JSON.stringify(received.body).includes(text);

  it("sends what it has when it ends, to where the environment says", async () => {
    const served = await serve(
      {},
      {
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_EXPORTER_OTLP_HEADERS: "x-api-key=abc",
        OTEL_SERVICE_NAME: "gate",
      },
    );
    expect(await served.read(SECRET)).toContain("read");
    await stop(served);
    const traces = await collector.until(about("/v1/traces", "tools/call read"));
    expect(traces.headers).toMatchObject({ "x-api-key": "abc", "content-type": "application/json" });
    expect(JSON.stringify(traces.body)).toContain('"gate"');
    await collector.until(about("/v1/metrics", "mcp.client.operation.duration"));
    await collector.until(about("/v1/metrics", "portcullis.call.duration"));
    expect(JSON.stringify(collector.received.map(({ body }) => body))).not.toContain(SECRET);
  });

  it("sends as the configuration says, again and again", async () => {
    const telemetry = {
      endpoint: collector.url,
      headers: { Authorization: "Bearer ${env:OTEL_TOKEN}" },
      interval: "1s",
    };
    const served = await serve({ telemetry }, { OTEL_TOKEN: "t0ken", OTEL_TRACES_EXPORTER: "none" });
    await served.read("x");
    const { headers } = await collector.until(about("/v1/metrics", "portcullis.connections"));
    expect(headers["authorization"]).toBe("Bearer t0ken");
    await stop(served);
    expect(collector.received.filter(({ path }) => path === "/v1/traces")).toEqual([]);
  });

  it("a collector that refuses, hangs or is gone touches no call, and no end", async () => {
    const telemetry = { endpoint: collector.url, interval: "1s" };
    collector.behave("refuse");
    const served = await serve({ telemetry }, {});
    expect(await served.read("one")).toContain("read one");
    await collector.until(about("/v1/metrics", "portcullis.connections"));
    collector.behave("hang");
    const before = collector.received.length;
    await collector.until((received) => collector.received.indexOf(received) >= before);
    expect(await served.read("two")).toContain("read two");
    const tookMs = await stop(served);
    expect(tookMs).toBeLessThan(5_000);
    expect(served.stderr()).toContain("telemetry does not reach its collector");
    expect(served.stderr().split("does not reach")).toHaveLength(2);
  });

  it("sends nothing where nobody asks", async () => {
    const served = await serve({}, { OTEL_SERVICE_NAME: "gate" });
    await served.read("x");
    await stop(served);
    expect(collector.received).toEqual([]);
  });

  it.each([
    ["a variable", {}, { OTEL_EXPORTER_OTLP_ENDPOINT: "collector:4317" }, "OTEL_EXPORTER_OTLP_ENDPOINT"],
    ["a key", { telemetry: { endpoint: "ftp://x" } }, {}, "telemetry.endpoint"],
  ] satisfies [string, JsonObject, Record<string, string>, string][])(
    "%s that is wrong ends it at once, with its name",
    async (_what, top, env, name) => {
      bench.writeConfig({ mcpServers: {}, ...top });
      const { exitCode, json } = await bench.run(["serve", "--json"], { env });
      expect(exitCode).toBe(2);
      expect(json["error"]).toMatchObject({
        code: "config_invalid",
        message: expect.stringContaining(name),
      });
    },
  );

  it("without the optional packages it says which ones to install; nobody else misses them", async () => {
    const without = (names: RegExp): Record<string, string> => {
      const hook = `import { registerHooks } from "node:module";
        registerHooks({ resolve(name, context, next) {
          if (!${String(names)}.test(name)) return next(name, context);
          throw Object.assign(new Error("not installed"), { code: "ERR_MODULE_NOT_FOUND" });
        } });`;
      return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(hook)}` };
    };
    bench.writeConfig({ mcpServers: {}, telemetry: {} });
    const env = without(/^@opentelemetry.(?!api$)/);
    const { exitCode, json } = await bench.run(["serve", "--json"], { env });
    expect(exitCode).toBe(2);
    expect(json["error"]).toMatchObject({
      message: expect.stringContaining("npm install @opentelemetry/sdk-trace "),
    });
    await stop(await serve({}, without(/^@opentelemetry/)));
  });

  it("traces leave by no other way than all else: plain http to this machine alone", async () => {
    const served = await serve({ telemetry: { endpoint: "http://192.0.2.1:4318", interval: "1s" } }, {});
    await served.read("x");
    await stop(served);
    expect(served.stderr()).toContain("plain http is allowed to this machine only");
  });
});

/**
 * A host as traces and metrics of OpenTelemetry, on its API alone: one span for each governed call, from its first step to its
 * last, with the wait for a person as a child and attempts as events. Public as `portcullis/otel`; the gateway brings an SDK
 * (`otel-sdk.ts`), a program of one's own has one. Names: `conventions.ts`.
 *
 * Invariants: a call's requests carry the context of its span; what a provider throws reaches no call (the emitter catches it);
 * a call that closed is forgotten.
 */
import {
  context,
  createTraceState,
  metrics,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Context,
  type Link,
  type Meter,
  type MeterProvider,
  type Span,
  type TracerProvider,
} from "@opentelemetry/api";
import { assertNever } from "../base/assert-never.ts";
import type { ErrorCode } from "../errors.ts";
import { VERSION } from "../version.ts";
import type { TraceContext } from "../vocabulary.ts";
import {
  callAttributes,
  DURATION_BUCKETS,
  errorAttributes,
  spanNameOf,
  wireAttributes,
  type Attributes,
} from "./conventions.ts";
import type { HostEvent } from "./events.ts";
import { readTraceParent, writeTraceParent } from "./trace-parent.ts";

/** What is observed; a `Host` is one. */
export interface ObservedHost {
  onEvent(
    listener: (event: HostEvent) => void,
    options: { readonly trace: (callId: string) => TraceContext | undefined },
  ): () => void;
  status(): Promise<{
    readonly servers: readonly {
      readonly name: string;
      readonly state: string;
      readonly breaker: { readonly state: string };
      readonly calls: { readonly running: number; readonly waiting: number };
    }[];
  }>;
  readonly approvals: { list(): Promise<readonly unknown[]> };
}

/** Default: the providers that are registered globally. */
export interface ObserveOptions {
  readonly tracerProvider?: TracerProvider;
  readonly meterProvider?: MeterProvider;
}

/** A call under way. */
interface OpenCall {
  readonly span: Span;
  readonly context: Context;
  readonly attributes: Attributes;
  approval: Span | undefined;
  wire: Attributes;
  /** Of the last attempt, where it was answered: whether the tool failed is known when the call closes. */
  answeredMs: number | null;
  rpcCode: number | null;
}

type Event<Type extends HostEvent["type"]> = Extract<HostEvent, { readonly type: Type }>;

const NAME = "portcullis";

/** Observes `host` until the function that it returns is called. Close the host first: its last calls are told then. */
export function observeHost(host: ObservedHost, options: ObserveOptions = {}): () => void {
  const tracer = (options.tracerProvider ?? trace.getTracerProvider()).getTracer(NAME, VERSION);
  const meter = (options.meterProvider ?? metrics.getMeterProvider()).getMeter(NAME, VERSION);
  const seconds = { unit: "s", advice: { explicitBucketBoundaries: [...DURATION_BUCKETS] } };
  const operationDuration = meter.createHistogram("mcp.client.operation.duration", {
    ...seconds,
    description: "From sending a request to a server until its answer, each attempt by itself.",
  });
  const callDuration = meter.createHistogram("portcullis.call.duration", {
    ...seconds,
    description: "From the first step of a call to its last, the wait for a person included.",
  });
  const findings = meter.createCounter("portcullis.findings", {
    unit: "{finding}",
    description: "Suspicious things in definitions, results and arguments.",
  });
  const calls = new Map<string, OpenCall>();

  const open = (
    { callId, startedAt, trace: told, grade, ...event }: Event<"call.opened" | "call.closed">,
    isKnown: boolean,
  ): OpenCall => {
    const facts = { ...event, isKnown };
    const attributes = callAttributes(facts);
    const { parent, links } = parentOf(told);
    const span = tracer.startSpan(
      spanNameOf(facts),
      {
        kind: SpanKind.CLIENT,
        startTime: startedAt,
        links,
        attributes: {
          ...attributes,
          "portcullis.call.id": callId,
          ...(grade === null ? {} : { "portcullis.grade": grade }),
        },
      },
      parent,
    );
    const own = trace.setSpan(parent, span);
    return { span, context: own, attributes, approval: undefined, wire: {}, answeredMs: null, rpcCode: null };
  };

  const recordOperation = (call: OpenCall, durationMs: number, code: ErrorCode | null): void =>
    operationDuration.record(durationMs / 1_000, {
      ...call.attributes,
      ...call.wire,
      ...errorAttributes(code, call.rpcCode),
    });

  const close = (event: Event<"call.closed">): void => {
    const { callId, at, startedAt, durationMs, code, outcome, effect, attempts, grade } = event;
    const call = calls.get(callId) ?? open(event, event.isKnown);
    calls.delete(callId);
    if (call.answeredMs !== null)
      recordOperation(call, call.answeredMs, outcome === "tool_error" ? "tool_error" : null);
    const failure = errorAttributes(code, call.rpcCode);
    call.approval?.end(at);
    call.span.setAttributes({
      ...failure,
      "portcullis.outcome": outcome,
      "portcullis.effect": effect,
      "portcullis.attempts": attempts,
    });
    if (code !== null) call.span.setStatus({ code: SpanStatusCode.ERROR });
    call.span.end(startedAt + durationMs);
    callDuration.record(durationMs / 1_000, {
      ...call.attributes,
      ...failure,
      "portcullis.outcome": outcome,
      ...(grade === null ? {} : { "portcullis.grade": grade }),
    });
  };

  const hear = (event: HostEvent): void => {
    switch (event.type) {
      case "call.opened":
        calls.set(event.callId, open(event, true));
        return;
      case "call.closed":
        return close(event);
      case "finding.raised":
        return findings.add(1, {
          "portcullis.server.name": event.server,
          "portcullis.finding.rule": event.finding.rule,
          "portcullis.finding.severity": event.finding.severity,
        });
      case "call.asked":
      case "call.approved":
      case "call.dispatched":
      case "call.attempted":
      case "input.asked":
      case "input.answered": {
        const call = calls.get(event.callId);
        if (call !== undefined) follow(call, event);
        return;
      }
      case "host.opened":
      case "host.closed":
      case "host.fault":
      case "connection.changed":
      case "connection.odd":
      case "server.recovered":
      case "catalog.refreshed":
      case "call.progressed":
      case "call.answered-late":
      case "approval.requested":
      case "approval.answered":
      case "input.completed":
      case "config.reloaded":
        return;
      default:
        return assertNever(event);
    }
  };

  type Step = Event<
    "call.asked" | "call.approved" | "call.dispatched" | "call.attempted" | "input.asked" | "input.answered"
  >;

  const follow = (call: OpenCall, event: Step): void => {
    const { span } = call;
    switch (event.type) {
      case "call.asked":
        call.approval = tracer.startSpan(
          "portcullis.approval",
          { kind: SpanKind.INTERNAL, startTime: event.at },
          call.context,
        );
        return;
      case "call.approved":
        call.approval?.setAttribute("portcullis.approval.channel", event.channel).end(event.at);
        call.approval = undefined;
        return;
      case "call.dispatched":
        call.wire = wireAttributes(event.transport, event.revision);
        call.rpcCode = null;
        span.setAttributes(call.wire);
        span.addEvent("portcullis.attempt", { "portcullis.attempt": event.attempt }, event.at);
        return;
      case "call.attempted": {
        const { attempt, code, rpcCode, durationMs, at } = event;
        call.rpcCode = rpcCode;
        call.answeredMs = code === null ? durationMs : null;
        if (code === null) return;
        recordOperation(call, durationMs, code);
        const about = { "portcullis.attempt": attempt, ...errorAttributes(code, rpcCode) };
        span.addEvent("portcullis.attempt.failed", about, at);
        return;
      }
      case "input.asked":
        span.addEvent("portcullis.input.asked", { "portcullis.input.kind": event.kind }, event.at);
        return;
      case "input.answered": {
        const about = { "portcullis.input.kind": event.kind, "portcullis.input.action": event.action };
        span.addEvent("portcullis.input.answered", about, event.at);
        return;
      }
      default:
        return assertNever(event);
    }
  };

  const endGauges = observeGauges(meter, host);
  const off = host.onEvent(hear, { trace: (callId) => tracedBy(calls.get(callId)?.span) });
  return () => {
    off();
    endGauges();
    for (const { span, approval } of calls.values()) {
      approval?.end();
      span.end();
    }
    calls.clear();
  };
}

/** How things stand, looked at whenever metrics are collected. @returns the end of it. */
function observeGauges(meter: Meter, host: ObservedHost): () => void {
  const gauge = (name: string, unit: string, description: string) =>
    meter.createObservableGauge(name, { unit, description });
  const connections = gauge("portcullis.connections", "{connection}", "Connections by server and state.");
  const breakers = gauge("portcullis.breaker.open", "1", "1 where the breaker of a server holds calls back.");
  const running = gauge("portcullis.calls.running", "{call}", "Calls that hold a place, by server.");
  const waiting = gauge("portcullis.calls.waiting", "{call}", "Calls that wait for a place, by server.");
  const approvals = gauge("portcullis.approvals.waiting", "{approval}", "Calls that wait for a person.");
  const all = [connections, breakers, running, waiting, approvals];
  const observe: Parameters<Meter["addBatchObservableCallback"]>[0] = async (result) => {
    const [{ servers }, waitingForPeople] = await Promise.all([host.status(), host.approvals.list()]);
    for (const { name, state, breaker, calls } of servers) {
      const server = { "portcullis.server.name": name };
      result.observe(connections, 1, { ...server, "portcullis.connection.state": state });
      result.observe(breakers, breaker.state === "closed" ? 0 : 1, server);
      result.observe(running, calls.running, server);
      result.observe(waiting, calls.waiting, server);
    }
    result.observe(approvals, waitingForPeople.length);
  };
  meter.addBatchObservableCallback(observe, all);
  return () => meter.removeBatchObservableCallback(observe, all);
}

/** What the caller told is the parent; a span that is active besides becomes a link. */
function parentOf(told: TraceContext | null): { readonly parent: Context; readonly links: Link[] } {
  const active = context.active();
  const remote = readTraceParent(told?.traceparent);
  if (remote === undefined) return { parent: active, links: [] };
  const { tracestate } = told ?? {};
  const parent = trace.setSpanContext(ROOT_CONTEXT, {
    ...remote,
    isRemote: true,
    ...(tracestate === undefined ? {} : { traceState: createTraceState(tracestate) }),
  });
  const around = trace.getSpanContext(active);
  return { parent, links: around === undefined ? [] : [{ context: around }] };
}

/** What requests of a call tell the server; `undefined` where no SDK made a span. */
function tracedBy(span: Span | undefined): TraceContext | undefined {
  if (span === undefined || !trace.isSpanContextValid(span.spanContext())) return undefined;
  const { traceState, ...own } = span.spanContext();
  const tracestate = traceState?.serialize() ?? "";
  return { traceparent: writeTraceParent(own), ...(tracestate === "" ? {} : { tracestate }) };
}

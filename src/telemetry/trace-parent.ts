/** W3C Trace Context, version 00, as text and as parts. Source: https://www.w3.org/TR/trace-context/#traceparent-header */
const FORM = /^00-(?<traceId>(?!0{32})[0-9a-f]{32})-(?<spanId>(?!0{16})[0-9a-f]{16})-(?<flags>[0-9a-f]{2})$/;

export interface TraceParent {
  /** 32 and 16 hex digits. */
  readonly traceId: string;
  readonly spanId: string;
  /** 0 to 255; 1: sampled. */
  readonly traceFlags: number;
}

/** @returns `undefined` where it has not the form. */
export function readTraceParent(text: string | undefined): TraceParent | undefined {
  const { traceId, spanId, flags } = FORM.exec(text ?? "")?.groups ?? {};
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) };
}

export function writeTraceParent({ traceId, spanId, traceFlags }: TraceParent): string {
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, "0")}`;
}

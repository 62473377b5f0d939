/**
 * Names of spans, metrics and attributes, and what of a call goes into them: OpenTelemetry's semantic conventions for MCP,
 * `open-telemetry/semantic-conventions-genai` v0.1.0 (docs/gen-ai/mcp.md, status Development). What they have no name for begins with
 * `portcullis.`. Nothing here is an argument, a result, a message or a principal; whatever a server may choose freely is bounded.
 */
import type { ErrorCode } from "../errors.ts";
import type { CallMethod } from "./events.ts";

export type Attributes = Record<string, string | number>;

/** What is told of a call, whatever became of it. */
export interface CallFacts {
  readonly method: CallMethod;
  /** Empty where none was found. */
  readonly server: string;
  readonly tool: string;
  /** Whether there is such a tool. */
  readonly isKnown: boolean;
}

/** Buckets of durations in seconds, as the conventions recommend them. */
export const DURATION_BUCKETS: readonly number[] = [
  0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300,
];

const MAX_NAME_LENGTH = 128;

/** `{mcp.method.name} {gen_ai.tool.name}`; without the tool where the caller made its name up. */
export function spanNameOf(call: CallFacts): string {
  const tool = toolOf(call);
  return tool === undefined ? call.method : `${call.method} ${tool}`;
}

/** What spans and metrics of a call have in common. */
export function callAttributes(call: CallFacts): Attributes {
  const tool = toolOf(call);
  return {
    "mcp.method.name": call.method,
    ...(call.method === "tools/call" ? { "gen_ai.operation.name": "execute_tool" } : {}),
    ...(tool === undefined ? {} : { "gen_ai.tool.name": tool }),
    ...(call.server === "" ? {} : { "portcullis.server.name": call.server }),
  };
}

/** How the server is spoken to. */
export function wireAttributes(transport: "stdio" | "http" | "sse", revision: string): Attributes {
  return {
    ...(transport === "stdio"
      ? { "network.transport": "pipe" }
      : { "network.transport": "tcp", "network.protocol.name": "http" }),
    "mcp.protocol.version": revision,
  };
}

/** Codes that JSON-RPC reserves. A server may answer with any number: each other one would be a series of its own. */
const RESERVED = { from: -32_768, to: -32_000 } as const;

/** How it failed; nothing where it did not. */
export function errorAttributes(code: ErrorCode | null, rpcCode: number | null): Attributes {
  if (code === null) return {};
  if (rpcCode === null) return { "error.type": code };
  const isReserved = Number.isInteger(rpcCode) && rpcCode >= RESERVED.from && rpcCode <= RESERVED.to;
  const status = isReserved ? String(rpcCode) : "_OTHER";
  return { "error.type": status, "rpc.response.status_code": status };
}

function toolOf({ method, tool, isKnown }: CallFacts): string | undefined {
  return method === "tools/call" && isKnown ? tool.slice(0, MAX_NAME_LENGTH) : undefined;
}

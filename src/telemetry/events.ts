/**
 * What happened, as facts in the past tense: one union. The core emits; log, metrics, traces and the faces subscribe.
 * Never holds a secret, nor text of a server that was not cleaned.
 */
import type { ErrorCode } from "../errors.ts";
import type {
  ConnectionKey,
  Effect,
  Finding,
  Grade,
  OutcomeKind,
  Principal,
  TraceContext,
} from "../vocabulary.ts";

/** What a call asks of its server; what only reads leaves the same record and the same events. */
export type CallMethod = "tools/call" | "resources/read" | "prompts/get" | "completion/complete";

export type HostEvent =
  | { readonly type: "host.opened"; readonly at: number; readonly servers: readonly string[] }
  | { readonly type: "host.closed"; readonly at: number; readonly leftOver: readonly string[] }
  /** Background work failed; it is tried again. The message is redacted. */
  | { readonly type: "host.fault"; readonly at: number; readonly message: string }
  | {
      readonly type: "connection.changed";
      readonly at: number;
      readonly key: ConnectionKey;
      readonly from: string;
      readonly to: string;
      readonly reason: string;
    }
  | {
      readonly type: "connection.odd";
      readonly at: number;
      readonly key: ConnectionKey;
      readonly kind: string;
      readonly sample: string;
    }
  | {
      readonly type: "server.recovered";
      readonly at: number;
      readonly key: ConnectionKey;
      /** Calls that were answered from the last good result meanwhile and are worth fetching again. */
      readonly stale: readonly {
        readonly principal: Principal;
        readonly tool: string;
        readonly callId: string;
        readonly asOf: number;
      }[];
    }
  | {
      readonly type: "catalog.refreshed";
      readonly at: number;
      readonly key: ConnectionKey;
      readonly tools: number;
      readonly quarantined: number;
    }
  | {
      readonly type: "finding.raised";
      readonly at: number;
      readonly server: string;
      readonly tool: string | null;
      readonly callId: string | null;
      readonly finding: Finding;
    }
  | {
      readonly type: "call.opened";
      readonly at: number;
      readonly callId: string;
      readonly principal: Principal;
      readonly server: string;
      /** For what is no tool its method. */
      readonly tool: string;
      readonly grade: Grade | null;
      readonly method: CallMethod;
      /** When it came, before its tool was looked up: epoch milliseconds, with fractions. */
      readonly startedAt: number;
      /** The trace that its caller told of. */
      readonly trace: TraceContext | null;
    }
  /** A person is asked, and the call waits. */
  | { readonly type: "call.asked"; readonly at: number; readonly callId: string }
  /** A person said yes; a no closes the call. */
  | {
      readonly type: "call.approved";
      readonly at: number;
      readonly callId: string;
      readonly channel: string;
    }
  | {
      readonly type: "call.dispatched";
      readonly at: number;
      readonly callId: string;
      readonly attempt: number;
      readonly transport: "stdio" | "http" | "sse";
      /** Of MCP, as the handshake settled it. */
      readonly revision: string;
    }
  /** What was dispatched has been answered, or given up. `rpcCode`: of a JSON-RPC error that the server answered with. */
  | {
      readonly type: "call.attempted";
      readonly at: number;
      readonly callId: string;
      readonly attempt: number;
      readonly code: ErrorCode | null;
      readonly rpcCode: number | null;
      readonly durationMs: number;
    }
  | {
      readonly type: "call.progressed";
      readonly at: number;
      readonly callId: string;
      readonly progress: number;
      readonly total: number | null;
      readonly message: string | null;
    }
  | {
      readonly type: "call.closed";
      readonly at: number;
      readonly callId: string;
      readonly principal: Principal;
      readonly server: string;
      readonly tool: string;
      readonly grade: Grade | null;
      readonly method: CallMethod;
      /** False: no such tool was found, and `tool` is whatever the caller wrote. */
      readonly isKnown: boolean;
      readonly startedAt: number;
      readonly trace: TraceContext | null;
      readonly outcome: OutcomeKind;
      readonly code: ErrorCode | null;
      readonly effect: Effect;
      readonly durationMs: number;
      readonly attempts: number;
    }
  | {
      readonly type: "call.answered-late";
      readonly at: number;
      readonly callId: string;
      readonly server: string;
      readonly tool: string;
    }
  | {
      readonly type: "approval.requested";
      readonly at: number;
      readonly approvalId: string;
      readonly group: string;
      readonly server: string;
      readonly tool: string;
      readonly sentence: string;
      readonly expiresAt: number;
    }
  | {
      readonly type: "approval.answered";
      readonly at: number;
      readonly approvalId: string;
      readonly answer: "approved" | "denied" | "expired";
      readonly by: string | null;
      readonly channel: string | null;
    }
  /** A server asks a person something for a call; `about`: names of fields, a host, a model. What was typed is never told. */
  | {
      readonly type: "input.asked";
      readonly at: number;
      readonly callId: string;
      readonly server: string;
      readonly tool: string;
      readonly kind: "form" | "url" | "sample" | "sampled" | "roots";
      readonly number: number;
      readonly about: readonly string[];
    }
  | {
      readonly type: "input.answered";
      readonly at: number;
      readonly callId: string;
      readonly server: string;
      readonly tool: string;
      readonly kind: "form" | "url" | "sample" | "sampled" | "roots";
      readonly number: number;
      readonly action: "accept" | "decline" | "cancel" | "refused";
      readonly by: string | null;
    }
  /** What a person went to do at an address is done, says the server. */
  | {
      readonly type: "input.completed";
      readonly at: number;
      readonly callId: string;
      readonly server: string;
      readonly tool: string;
    }
  | {
      readonly type: "config.reloaded";
      readonly at: number;
      readonly changed: readonly string[];
      readonly added: readonly string[];
      readonly removed: readonly string[];
    };

export type HostEventType = HostEvent["type"];

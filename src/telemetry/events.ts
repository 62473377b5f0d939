/**
 * What happened, as facts in the past tense: one union. The core emits; log, metrics, traces and the faces subscribe.
 * Never holds a secret, nor text of a server that was not cleaned.
 */
import type { ErrorCode } from "../errors.ts";
import type { ConnectionKey, Effect, Finding, Grade, OutcomeKind, Principal } from "../vocabulary.ts";

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
      readonly tool: string;
      readonly grade: Grade | null;
    }
  | {
      readonly type: "call.dispatched";
      readonly at: number;
      readonly callId: string;
      readonly attempt: number;
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

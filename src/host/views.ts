/** What people are shown of servers, tools and calls: leaves, so that the console can take these types and nothing else of the host. */
import type { JsonObject } from "../base/json.ts";
import type { ConnectionStateKind } from "../connection/state.ts";
import type { ErrorCode } from "../errors.ts";
import type { Era } from "../protocol/revisions.ts";
import type { Effect, Grade, OutcomeKind, Principal } from "../vocabulary.ts";

/** A tool as `tools --json` prints it. */
export interface ToolView {
  readonly name: string;
  readonly server: string;
  readonly tool: string;
  readonly grade: Grade;
  readonly gradeFrom: string;
  readonly pin: "accepted" | "new" | "changed";
  readonly quarantine: { readonly code: string; readonly reason: string } | null;
  /** Cleaned. */
  readonly title: string | null;
  readonly description: string | null;
  readonly inputSchema: JsonObject;
  /** What the server says about itself, for people to compare. */
  readonly claim: JsonObject | null;
  /** Estimate, in tokens of a model. */
  readonly tokens: number;
}

/** A server as `status --json` prints it. */
export interface ServerStatus {
  readonly name: string;
  readonly transport: "stdio" | "http" | "sse";
  readonly state: ConnectionStateKind | "disabled" | "blocked" | "paused";
  /** ISO 8601. */
  readonly since: string;
  readonly reason: string;
  readonly next: string;
  readonly era: Era | null;
  readonly revision: string | null;
  readonly tools: Readonly<Record<"total" | "L0" | "L1" | "L2" | "L3" | "off" | "quarantined", number>>;
  readonly lastHealthCheck: { readonly at: string; readonly ok: boolean; readonly latencyMs: number } | null;
  /** What the server said last on stderr, where it is gone: cleaned, secrets taken out. */
  readonly lastWords: string | null;
  readonly breaker: { readonly state: "closed" | "open" | "half-open"; readonly failures: number };
  /** Calls that hold a place on the connection, and that wait for one. */
  readonly calls: { readonly running: number; readonly waiting: number };
  readonly auth: "none" | "configured" | "required";
  readonly restarts: number;
}

export interface StatusReport {
  readonly asOf: string;
  readonly servers: readonly ServerStatus[];
}

/** Why a call could pass or not: by whom, when, through which channel, on what basis. */
export interface ActivityDecision {
  readonly verdict: "allow" | "ask" | "deny";
  /** ISO 8601. */
  readonly at: string;
  readonly gradeFrom: string | null;
  readonly reasons: readonly { readonly rule: string; readonly message: string }[];
  readonly basis: { readonly kind: string; readonly id: string } | null;
  /** What people said, in order; empty where nobody was asked. */
  readonly answers: readonly { readonly by: string; readonly channel: string; readonly at: string }[];
}

/** A call as `activity --json` prints it. */
export interface ActivityView {
  readonly callId: string;
  readonly at: string;
  readonly principal: Principal;
  readonly server: string;
  readonly tool: string;
  readonly grade: Grade | null;
  readonly outcome: OutcomeKind | "running";
  readonly code: ErrorCode | null;
  readonly effect: Effect;
  readonly durationMs: number | null;
  readonly approvedBy: string | null;
  /** The last decision; `null` where it did not come to one. */
  readonly decision: ActivityDecision | null;
  readonly undoUntil: string | null;
}

/** What a decision is made of: the words that `evaluate`, the guards and the grades share. */
import type { ErrorCode } from "../errors.ts";
import type { Finding, Grade } from "../vocabulary.ts";

/** One reason of a decision. Code reads `rule`, people read `message`. */
export interface Reason {
  /** Dotted id, for example `grade.default`, `guard.sql`, `flow.toxic`, `grant.used`. */
  readonly rule: string;
  /** One plain sentence, lower-case, without text of a server that was not quoted. */
  readonly message: string;
}

export interface Decision {
  readonly decision: "allow" | "ask" | "deny";
  /** `off` is never allowed. */
  readonly grade: Grade;
  /** The path of the rule that gave the grade, or `default`. */
  readonly gradeFrom: string;
  /** Never empty. */
  readonly reasons: readonly Reason[];
  /** For `deny`: one of the table. */
  readonly code?: ErrorCode;
  /** What was suspicious in the arguments or the flow; also there where the call is allowed. */
  readonly findings: readonly Finding[];
  /** What let an L2 or L3 call pass. */
  readonly basis?: { readonly kind: "approval" | "grant"; readonly id: string };
  /** True where a standing approval may not answer the question: provenance, flow, L3. */
  readonly needsPerson: boolean;
}

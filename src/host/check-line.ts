/**
 * One line of the security checklist: what was looked at, what was found, and what to do. A line that passes may
 * still leave something to the operator; that is said beside it and fails nothing.
 */
import type { AuditVerdict } from "../audit/verify.ts";
import type { Config, ServerConfig } from "../config/compiled.ts";
import type { ConfigPath } from "../config/problems.ts";
import type { SandboxProbe } from "../transport/sandbox-probe.ts";
import type { ToolView } from "./views.ts";
import type { LockRecord } from "./lock-record.ts";

/** The rule of the security model that a line belongs to. */
export type CheckArea =
  | "servers"
  | "tool output"
  | "approvals"
  | "secrets"
  | "privilege"
  | "audit"
  | "egress"
  | "caps";

export interface CheckEvidence {
  readonly text: string;
  /** Where the setting stands; absent for what is not a setting. */
  readonly file?: string;
  /** 1-based. */
  readonly line?: number;
  /** For example `mcpServers.github.source`. */
  readonly setting?: string;
}

export type CheckState = "pass" | "fail" | "not-applicable";

/** What an evaluator says; the rest of a line is the same for all of them. */
export interface CheckVerdict {
  readonly state: CheckState;
  readonly evidence: readonly CheckEvidence[];
  /** What to do; `null` where nothing has to be done. */
  readonly fix: string | null;
  /** What holds nobody back and is worth knowing. */
  readonly left: readonly CheckEvidence[];
}

/** The latest proof that was made on this machine (`check --live`). */
export interface LiveProof {
  readonly id: LiveProofId;
  readonly ok: boolean;
  /** What was done and what came of it. */
  readonly detail: string;
}

export type LiveProofId = "redirect" | "private-address" | "oversized-result";

export interface CheckLine extends CheckVerdict {
  readonly id: string;
  readonly area: CheckArea;
  readonly title: string;
  /** The test of this project that shows what is built in; `null` for what is only configured. */
  readonly test: string | null;
  readonly proven: { readonly at: string; readonly ok: boolean; readonly detail: string } | null;
}

/** A line before it is evaluated. */
export interface CheckRule {
  readonly id: string;
  readonly area: CheckArea;
  readonly title: string;
  readonly test?: string;
  readonly proof?: LiveProofId;
  readonly evaluate: (facts: CheckFacts) => CheckVerdict;
}

/** Everything that the lines are judged by, as it is now. */
export interface CheckFacts {
  readonly config: Config;
  /** The servers that are not disabled. */
  readonly servers: readonly ServerConfig[];
  /** The place of a setting in the file, as evidence. */
  readonly at: (path: ConfigPath) => Pick<CheckEvidence, "file" | "line" | "setting">;
  /** What is locked, and why it may not be started (`null`: it may). */
  readonly locks: ReadonlyMap<string, { readonly record: LockRecord; readonly problem: string | null }>;
  readonly tools: readonly ToolView[];
  /** Servers whose lists are known. */
  readonly listed: ReadonlySet<string>;
  readonly files: {
    /** Octal modes; `null` where there is nothing, or no modes on this platform. */
    readonly stateDir: { readonly mode: number; readonly isOurs: boolean } | null;
    readonly stateFiles: readonly { readonly name: string; readonly mode: number }[];
    readonly config: { readonly mode: number; readonly isOurs: boolean } | null;
  };
  readonly audit: AuditVerdict;
  /** Only looked for where an entry asks for a sandbox. */
  readonly sandbox: SandboxProbe | null;
  readonly isRoot: boolean;
}

export function pass(evidence: readonly CheckEvidence[], left: readonly CheckEvidence[] = []): CheckVerdict {
  return { state: "pass", evidence, fix: null, left };
}

export function fail(
  evidence: readonly CheckEvidence[],
  fix: string,
  left: readonly CheckEvidence[] = [],
): CheckVerdict {
  return { state: "fail", evidence, fix, left };
}

export function notApplicable(why: string): CheckVerdict {
  return { state: "not-applicable", evidence: [{ text: why }], fix: null, left: [] };
}

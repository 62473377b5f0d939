/**
 * The annotations of a tool are a claim of its server: shown as such, never believed. They can only raise a grade. A hint of
 * the wrong type, or hints that contradict each other, count as dangerous. (MCP schema, `ToolAnnotations`.)
 */
import { isJsonObject, ownProperty } from "../base/json.ts";
import type { Grade } from "../vocabulary.ts";
import type { Reason } from "./decision.ts";

/** What the server says of a tool, with the defaults of the specification filled in. For people to see. */
export interface AnnotationClaim {
  readonly readOnly: boolean;
  readonly destructive: boolean;
  readonly idempotent: boolean;
  readonly openWorld: boolean;
  /** Whether the server said any of it; otherwise all four are the specification's defaults. */
  readonly isStated: boolean;
  /** Wrong types and contradictions, each one plain sentence. */
  readonly faults: readonly string[];
}

const HINTS = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] as const;

const UNSTATED: AnnotationClaim = Object.freeze({
  readOnly: false,
  destructive: true,
  idempotent: false,
  openWorld: true,
  isStated: false,
  faults: [],
});

/** Reads annotations of unknown shape. */
export function readClaim(annotations: unknown): AnnotationClaim {
  if (annotations === undefined || annotations === null) return UNSTATED;
  if (!isJsonObject(annotations)) return { ...UNSTATED, faults: ["the annotations are not an object"] };
  const faults: string[] = [];
  const hints: Partial<Record<(typeof HINTS)[number], boolean>> = {};
  for (const name of HINTS) {
    const value = ownProperty(annotations, name);
    if (value === undefined) continue;
    if (typeof value === "boolean") hints[name] = value;
    else faults.push(`\`${name}\` is not a boolean`);
  }
  if (hints.readOnlyHint === true && hints.destructiveHint === true) {
    faults.push("the tool is called read-only and destructive at once");
  }
  const readOnly = hints.readOnlyHint ?? false;
  return {
    readOnly,
    destructive: hints.destructiveHint ?? !readOnly,
    idempotent: hints.idempotentHint ?? false,
    openWorld: hints.openWorldHint ?? true,
    isStated: Object.keys(hints).length > 0,
    faults,
  };
}

/** The least grade that a claim asks for, with the reason; `null` where it asks for nothing. What it leaves unsaid raises nothing. */
export function raiseByClaim(
  annotations: unknown,
  claim: AnnotationClaim,
): { readonly grade: Grade; readonly reason: Reason } | null {
  const fault = claim.faults[0];
  if (fault !== undefined) {
    return {
      grade: "L2",
      reason: {
        rule: "grade.claim-faulty",
        message: `the server's own description does not hold together: ${fault}`,
      },
    };
  }
  if (!isJsonObject(annotations)) return null;
  if (ownProperty(annotations, "destructiveHint") === true) {
    return {
      grade: "L2",
      reason: {
        rule: "grade.claim-destructive",
        message: "the server itself says that the tool may destroy",
      },
    };
  }
  if (ownProperty(annotations, "readOnlyHint") === false) {
    return {
      grade: "L1",
      reason: { rule: "grade.claim-writes", message: "the server itself says that the tool writes" },
    };
  }
  return null;
}

/**
 * Labels and the flow of a conversation: after private data was read and untrusted content was seen, whatever sends outward
 * is asked about. What has no label counts as private and untrusted, a write as external. Pure.
 */
import type { Label, ServerConfig } from "../config/compiled.ts";
import type { Grade } from "../vocabulary.ts";
import type { ToolPolicy } from "./rules.ts";

export interface FlowLabels {
  readonly isPrivate: boolean;
  readonly isUntrusted: boolean;
  readonly isExternal: boolean;
}

/** What a conversation has taken in so far, each with where it came from first (`github list_issues`). */
export interface Flow {
  readonly sawPrivate: string | null;
  readonly sawUntrusted: string | null;
}

export const EMPTY_FLOW: Flow = Object.freeze({ sawPrivate: null, sawUntrusted: null });

/**
 * The labels of one tool. A label of the tool speaks before one of its server; where one level says both, the dangerous one
 * counts.
 *
 * @param grade says whether the tool writes: an unlabelled L0 sends nothing outward.
 */
export function labelsOf(
  server: Pick<ServerConfig, "labels">,
  tool: Pick<ToolPolicy, "labels">,
  grade: Grade,
): FlowLabels {
  const levels = [tool.labels, server.labels];
  return {
    isPrivate: pick(levels, "private", "public", true),
    isUntrusted: pick(levels, "untrusted", "trusted", true),
    isExternal: pick(levels, "external", "internal", grade !== "L0"),
  };
}

function pick(
  levels: readonly (readonly Label[])[],
  dangerous: Label,
  harmless: Label,
  otherwise: boolean,
): boolean {
  for (const labels of levels) {
    if (labels.includes(dangerous)) return true;
    if (labels.includes(harmless)) return false;
  }
  return otherwise;
}

/** The flow after the output of a tool was seen. @param from what to call the tool, for example `github list_issues`. */
export function nextFlow(flow: Flow, labels: FlowLabels, from: string): Flow {
  const sawPrivate = flow.sawPrivate ?? (labels.isPrivate ? from : null);
  const sawUntrusted = flow.sawUntrusted ?? (labels.isUntrusted ? from : null);
  return sawPrivate === flow.sawPrivate && sawUntrusted === flow.sawUntrusted
    ? flow
    : { sawPrivate, sawUntrusted };
}

/** Whether a call with these labels would let private data out under the eyes of untrusted content. */
export function isToxic(
  flow: Flow,
  labels: FlowLabels,
): flow is { sawPrivate: string; sawUntrusted: string } {
  return labels.isExternal && flow.sawPrivate !== null && flow.sawUntrusted !== null;
}

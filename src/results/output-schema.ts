/** `structuredContent` against the tool's `outputSchema`: a mismatch is a finding, and the content is kept (spec: tools, output schema). */
import type { JsonValue } from "../base/json.ts";
import { oneLine } from "../text/clean.ts";
import type { Finding } from "../vocabulary.ts";

/** What is wrong with a value, each as `path: what is wrong`; empty: it fits. Bounded and linear, as the schema engine makes it. */
export type OutputValidator = (value: JsonValue) => readonly string[];

export interface OutputState {
  readonly isError: boolean;
  /** `undefined`: the result has none. */
  readonly structured: JsonValue | undefined;
  /** It came, but exceeded a limit and was not kept. */
  readonly isWithheld: boolean;
}

const NAMED_ISSUES = 3;

/** @param validate `null`: the tool has no `outputSchema`, or one that could not be compiled. */
export function checkOutput(validate: OutputValidator | null, state: OutputState): readonly Finding[] {
  // A tool that failed owes nothing to its schema.
  if (validate === null || state.isError || state.isWithheld) return [];
  const where = "/structuredContent";
  if (state.structured === undefined) {
    return [
      {
        rule: "output.missing",
        severity: "low",
        where,
        message: "the tool declares structured output, but sent none",
      },
    ];
  }
  const issues = validate(state.structured);
  if (issues.length === 0) return [];
  const named = issues
    .slice(0, NAMED_ISSUES)
    .map((issue) => oneLine(issue, 90))
    .join("; ");
  const message = oneLine(`structured output does not fit the schema that the tool declares: ${named}`, 300);
  return [{ rule: "output.mismatch", severity: "low", where, message }];
}

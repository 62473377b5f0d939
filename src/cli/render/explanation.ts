/** `portcullis explain` for people. */
import type { Explanation } from "../../host/api.ts";

export function renderExplanation(explanation: Explanation): string {
  const { decision, target, sentence, argumentProblem } = explanation;
  return [
    `${target.server} ${target.tool}: ${decision.decision} (${decision.grade}, from ${decision.gradeFrom})`,
    ...(sentence === null ? [] : [`  asked as: ${sentence}`]),
    ...decision.reasons.map((reason) => `  ${reason.rule}: ${reason.message}`),
    ...decision.findings.map((finding) => `  ! ${finding.severity}: ${finding.message} (${finding.rule})`),
    ...(argumentProblem === null ? [] : [`  arguments: ${argumentProblem}`]),
  ].join("\n");
}

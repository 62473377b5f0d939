/** The end of a call for people: the content first, then what happened. */
import { errorCodes } from "../../errors.ts";
import type { ReadOutcome } from "../../host/read-outcome.ts";
import type { Outcome } from "../../host/outcome.ts";
import type { ContentBlock } from "../../protocol/types.ts";
import type { Finding } from "../../vocabulary.ts";
import { renderLastWords } from "./last-words.ts";

export function renderOutcome(outcome: Outcome): string {
  const facts = [
    `${outcome.grade ?? "?"}`,
    `effect ${outcome.effect}`,
    `${Math.round(outcome.durationMs)} ms`,
    outcome.callId,
  ];
  return [
    ...renderContent(outcome.content),
    ...(outcome.retryHint === undefined ? [] : [outcome.retryHint]),
    ...renderFindings(outcome.findings),
    `— ${outcome.outcome}: ${outcome.message} (${facts.join(", ")})`,
    ...renderLastWords(outcome.lastWords),
    ...whatNext(outcome),
  ].join("\n");
}

/** What the reader should do, where a call did not end well. */
function whatNext({ code, effect, retryHint, undoUntil, callId }: Outcome): string[] {
  if (undoUntil !== undefined) return [`  Take it back within 30 seconds: \`portcullis undo ${callId}\`.`];
  if (code === null) return [];
  const unknown = `Whether it was done is not known: look at the server before you make it again, and at \`portcullis activity ${callId}\`.`;
  return [
    ...(retryHint === undefined && code !== "cancelled" ? [`  ${errorCodes[code].help}`] : []),
    ...(effect === "unknown" ? [`  ${unknown}`] : []),
  ];
}

export function renderRead(outcome: ReadOutcome): string {
  const { outcome: kind, message, lastWords } = outcome;
  const end = kind === "completed" ? [] : [`— ${kind}: ${message}`, ...renderLastWords(lastWords)];
  return [...renderContent(outcome.content), ...renderFindings(outcome.findings), ...end].join("\n");
}

function renderContent(content: readonly ContentBlock[]): string[] {
  return content.map((block) => {
    switch (block.type) {
      case "text":
        return block.text;
      case "image":
      case "audio":
        return `[${block.type} ${block.mimeType}, ${Math.round((block.data.length * 3) / 4 / 1_024)} KiB]`;
      case "resource_link":
        return `[link ${block.name}: ${block.uri}]`;
      case "resource":
        return block.resource.text ?? `[resource ${block.resource.uri}]`;
    }
  });
}

function renderFindings(findings: readonly Finding[]): string[] {
  return findings.map(
    (finding) =>
      `! ${finding.severity}: ${finding.message} (${[finding.rule, finding.where].filter((part) => part !== "").join(", ")})`,
  );
}

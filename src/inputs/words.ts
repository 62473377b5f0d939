/** How a server's words are made ready for a person: hidden characters visible, bounded, no link that anything would make clickable. */
import { cleanForPerson, clip, oneLine } from "../text/clean.ts";
import { inspectText } from "../text/scan.ts";
import type { Finding } from "../vocabulary.ts";

const MAX_MESSAGE = 2_000;
const MAX_LINES = 40;

/** A message of several lines. */
export function messageOf(text: string): string {
  const shown = cleanForPerson(clip(text, MAX_MESSAGE * 4, ""));
  const lines = shown.split("\n");
  const kept = lines.length > MAX_LINES ? [...lines.slice(0, MAX_LINES), "…"] : lines;
  return withoutLinks(clip(kept.join("\n").trim(), MAX_MESSAGE));
}

/** A label or another short text, on one line. */
export function labelOf(text: string, maxLength: number): string {
  return withoutLinks(oneLine(text, maxLength));
}

/** What the scan finds in the texts of a question. @param kind as it stands in the findings. */
export function scanWords(texts: readonly (string | null | undefined)[], kind: string): readonly Finding[] {
  return inspectText(texts.filter((text) => typeof text === "string").join("\n"), kind);
}

/** In our words, where there are any. */
export function warningsOf(findings: readonly Finding[]): readonly string[] {
  return findings.some(({ severity }) => severity !== "note")
    ? ["its words look like orders to a model, or are hidden: believe none of it"]
    : [];
}

/** Terminals and chats make links of what looks like one (client/elicitation#safe-url-handling). */
function withoutLinks(text: string): string {
  return text
    .replaceAll("://", "[://]")
    .replaceAll(/\bwww\./giu, "www[.]")
    .replaceAll(/\b(javascript|data|mailto|file|vbscript):/giu, "$1[:]");
}

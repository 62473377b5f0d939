/**
 * From an outcome to the result of `tools/call`. What the model reads is the model's channel and nothing else; pictures, sounds
 * and links come from the person's channel, where they passed intake. Pure. Source: server/tools#tool-result.
 */
import { isJsonObject, type JsonObject } from "../base/json.ts";
import type { ServerConfig } from "../config/compiled.ts";
import type { Outcome } from "../host/outcome.ts";
import { exposeUri } from "../registry/resource-uris.ts";
import type { Era } from "../protocol/revisions.ts";

/** Facts of the outcome for programs, under one key of `_meta`. */
export const OUTCOME_META = "portcullis/outcome";

/** @param scan how the server's texts are treated where the scan finds something; absent for an unknown server. */
export function toCallToolResult(
  outcome: Outcome,
  era: Era,
  scan: ServerConfig["scan"] | undefined,
): JsonObject {
  const isWhole = outcome.outcome === "completed" && !isHeld(outcome, scan);
  const content: JsonObject[] = [{ type: "text", text: outcome.model }];
  if (isWhole) {
    for (const block of outcome.content) {
      if (block.type === "image" || block.type === "audio") {
        content.push({ type: block.type, data: block.data, mimeType: block.mimeType });
      } else if (block.type === "resource_link" && outcome.server !== null) {
        // What a server says of it stands in the text.
        const { uri, name, mimeType } = block;
        content.push({
          type: block.type,
          uri: exposeUri(outcome.server, uri),
          name,
          ...(mimeType === undefined ? {} : { mimeType }),
        });
      }
    }
  }
  const structured = isWhole ? structuredFor(outcome, era) : undefined;
  return {
    content,
    ...(structured === undefined ? {} : { structuredContent: structured }),
    ...(isWhole && !isMalformed(outcome) ? {} : { isError: true }),
    _meta: {
      [OUTCOME_META]: {
        callId: outcome.callId,
        outcome: outcome.outcome,
        code: outcome.code,
        effect: outcome.effect,
        grade: outcome.grade,
      },
    },
  };
}

/** Whether findings keep what came from the model. */
export function isHeld(
  { findings }: Pick<Outcome, "findings">,
  scan: ServerConfig["scan"] | undefined,
): boolean {
  return scan !== "note" && scan !== "mark" && findings.some(({ severity }) => severity === "high");
}

/**
 * Structured output that does not fit the schema is left out, and the result marked: clients check it again and would drop
 * the whole answer of a call that has run. Legacy clients take objects only.
 */
function structuredFor(outcome: Outcome, era: Era): Outcome["structured"] {
  if (isMalformed(outcome)) return undefined;
  return era === "legacy" && !isJsonObject(outcome.structured) ? undefined : outcome.structured;
}

function isMalformed(outcome: Outcome): boolean {
  return outcome.findings.some(({ rule }) => rule === "output.missing" || rule === "output.mismatch");
}

/** The person's channel as text for a terminal: no control character but `\n` and `\t`, nothing opened, nothing decoded. */
import type { JsonValue } from "../base/json.ts";
import type { ContentBlock } from "../protocol/types.ts";
import { cleanForPerson } from "../text/clean.ts";
import { describeBytes } from "./blocks.ts";
import { decodedBytes } from "./media.ts";

/** Blocks of an intake, one after the other. */
export function renderForPerson(blocks: readonly ContentBlock[], structured?: JsonValue): string {
  const parts = blocks.map(renderBlock);
  const isShown = blocks.length > 0 || structured === undefined;
  if (!isShown) parts.push(cleanForPerson(JSON.stringify(structured, null, 2)));
  return parts.join("\n");
}

function renderBlock(block: ContentBlock): string {
  switch (block.type) {
    case "text":
      return cleanForPerson(block.text);
    case "image":
    case "audio":
      return `[${block.type} ${cleanForPerson(block.mimeType)}, ${describeBytes(decodedBytes(block.data))}]`;
    case "resource_link":
      return cleanForPerson(
        `[link “${block.name}” ${block.uri}${block.description === undefined ? "" : ` (${block.description})`}]`,
      );
    case "resource": {
      const { uri, mimeType, text, blob } = block.resource;
      if (text !== undefined) return cleanForPerson(`[resource ${uri}]\n${text}`);
      return cleanForPerson(
        `[resource ${uri} ${mimeType ?? ""}, ${describeBytes(decodedBytes(blob ?? ""))}]`,
      );
    }
    default:
      return "[unknown block]";
  }
}

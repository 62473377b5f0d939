/** JSON for a screen: the same document, with what would be hidden or would steer a terminal written as `\u` escapes. */
import { HIDDEN_RUN, mayHoldHidden } from "./hidden.ts";

/** `JSON.stringify` with two spaces; reading it gives the same value. Valid emoji and scripts stay as they are. */
export function printJson(value: unknown): string {
  const text = JSON.stringify(value, null, 2);
  if (!mayHoldHidden(text)) return text;
  return text.replace(HIDDEN_RUN, (match, hidden: string | undefined) =>
    hidden === undefined ? match : escapeUnits(hidden),
  );
}

function escapeUnits(text: string): string {
  let escaped = "";
  for (let at = 0; at < text.length; at += 1)
    escaped += `\\u${text.charCodeAt(at).toString(16).padStart(4, "0")}`;
  return escaped;
}

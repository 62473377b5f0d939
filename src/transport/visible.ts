/**
 * Text of a server made safe to look at: control characters, bidirectional controls, invisible characters and lone
 * surrogates are shown as escapes, so that a terminal or a log does not act on them. For samples and tails only; what is
 * shown of results goes through `text/`.
 */

// C0 (without tab and newline), DEL and C1, soft hyphen, zero width and direction marks, line separators, bidi controls,
// invisible operators, byte order mark, interlinear marks, tags, lone surrogates.
const UNSAFE =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\p{Cs}\u{e0000}-\u{e007f}]/gu;

function escape(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  return code <= 0xff ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u{${code.toString(16)}}`;
}

/** `text` with everything unsafe shown as an escape such as `\x1b` or `\u{202e}`; tabs and newlines stay. */
export function showControls(text: string): string {
  return text.replace(UNSAFE, escape);
}

/** One line of at most `maxLength` characters (default 200): for `Oddity.sample`. */
export function visibleSample(text: string, maxLength = 200): string {
  const head = showControls(text.slice(0, maxLength)).replace(/\n/g, "\\n").replace(/\t/g, "\\t");
  if (head.length <= maxLength && text.length <= maxLength) return head;
  return `${head.slice(0, maxLength - 1)}…`;
}

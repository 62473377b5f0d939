/**
 * Makes text of a server safe to show. Pure, linear, idempotent; visible text, emoji, CJK, right-to-left letters, code and
 * JSON come out byte for byte.
 *
 * - For people hidden characters become visible: control pictures (`␛`), code points (`‹U+202E›`), decoded tag characters.
 * - For models they are removed, terminal sequences as a whole.
 *
 * What counts as hidden stands in `hidden.ts`.
 */
import { atOnce, type Sliced } from "../base/slices.ts";
import { ANSI_SEQUENCE, decodeTagCharacters, HIDDEN_RUN, mayHoldHidden } from "./hidden.ts";
import { replaceInSlices, SLICE_CHARACTERS } from "./replace.ts";

/** Hidden characters in a row that are shown one by one; a longer run is counted. */
const SHOWN_ONE_BY_ONE = 4;
/** Characters of text hidden in tag characters that are shown. */
const SHOWN_TAG_TEXT = 200;

/** For terminals and screens: no control character but `\n` and `\t` is left, `\r\n` becomes `\n`. */
export function cleanForPerson(text: string): string {
  if (!mayHoldHidden(text)) return text;
  return text.replace(HIDDEN_RUN, (match: string, run: string | undefined, offset: number) =>
    run === undefined ? match : showRun(run, text.charCodeAt(offset + run.length) === 0x0a, ""),
  );
}

/** Like `cleanForPerson`, for content that is kept as data: the pair `\r\n` stays. Still not for a terminal. */
export function cleanData(text: string): string {
  if (!mayHoldHidden(text)) return text;
  return text.replace(HIDDEN_RUN, (match: string, run: string | undefined, offset: number) =>
    showData(match, run, offset, text),
  );
}

function showData(match: string, run: string | undefined, offset: number, text: string): string {
  return run === undefined ? match : showRun(run, text.charCodeAt(offset + run.length) === 0x0a, "\r");
}

/** `cleanData` in slices, where there is much to clean. */
export function* cleanDataInSlices(text: string): Sliced<string> {
  if (!mayHoldHidden(text)) return text;
  return yield* replaceInSlices(text, HIDDEN_RUN, ({ 0: match, 1: run, index }) =>
    run !== undefined && run.length > SLICE_CHARACTERS
      ? runShown(run, text.charCodeAt(index + run.length) === 0x0a, "\r")
      : showData(match, run, index, text),
  );
}

/** For models: hidden characters and terminal sequences are gone, every kind of line end is `\n`. */
export function cleanForModel(text: string): string {
  if (!mayHoldHidden(text)) return text;
  const plain = /[\x1b\x80-\x9f]/.test(text) ? text.replace(ANSI_SEQUENCE, "") : text;
  return plain.replace(HIDDEN_RUN, (match: string, run: string | undefined, offset: number) =>
    run === undefined ? match : dropRun(run, plain.charCodeAt(offset + run.length) === 0x0a),
  );
}

/** One line for people: hidden characters visible, line ends and tabs as a single space, at most `maxLength` code units. */
export function oneLine(text: string, maxLength = 200): string {
  // Four times as much as is shown is enough, and keeps the work small whatever comes.
  const cleaned = cleanForPerson(clip(text, maxLength * 4, ""));
  return clip(cleaned.replace(/\s+/g, " ").trim(), maxLength);
}

/** A short quoted sample for logs and error messages, for example `"abc‹U+202E›…"`. */
export function visibleSample(text: string, maxLength = 80): string {
  return JSON.stringify(oneLine(text, maxLength));
}

/**
 * The longest beginning of `text` that has at most `maxLength` UTF-16 code units, `ellipsis` included, cut between two
 * grapheme clusters, so that neither a surrogate pair nor an emoji nor a letter with its marks is torn.
 */
export function clip(text: string, maxLength: number, ellipsis = "…"): string {
  if (text.length <= maxLength) return text;
  const room = maxLength - ellipsis.length;
  if (room <= 0) return ellipsis.slice(0, Math.max(maxLength, 0));
  return text.slice(0, graphemeBorder(text, room)) + ellipsis;
}

/** UTF-8 bytes of `text`; a lone surrogate counts as the three bytes of U+FFFD. */
export function byteLength(text: string): number {
  return Buffer.byteLength(text, "utf8");
}

/**
 * Cuts `text` after at most `maxBytes` UTF-8 bytes, between two grapheme clusters. `head + tail === text`, always; `tail` is
 * empty where everything fits.
 */
export function splitAtBytes(
  text: string,
  maxBytes: number,
): { readonly head: string; readonly tail: string } {
  if (text.length * 3 <= maxBytes || Buffer.byteLength(text, "utf8") <= maxBytes)
    return { head: text, tail: "" };
  const target = Buffer.allocUnsafe(Math.max(maxBytes, 0));
  // `encodeInto` stops before a character that does not fit, and says how many code units it read.
  const { read } = new TextEncoder().encodeInto(text, target);
  const border = graphemeBorder(text, read);
  return { head: text.slice(0, border), tail: text.slice(border) };
}

/** How far back a border is looked for; longer clusters (hostile stacks of marks) are cut between code points. */
const BORDER_WINDOW = 64;
let segmenter: Intl.Segmenter | undefined;

/** The last border between grapheme clusters at or before `index`. */
function graphemeBorder(text: string, index: number): number {
  if (index >= text.length) return text.length;
  if (index <= 0) return 0;
  const last = text.charCodeAt(index - 1);
  const next = text.charCodeAt(index);
  // Between two ASCII characters there is a border, except inside \r\n.
  if (last < 0x80 && next < 0x80 && !(last === 0x0d && next === 0x0a)) return index;
  const start = Math.max(0, index - BORDER_WINDOW);
  segmenter ??= new Intl.Segmenter("en", { granularity: "grapheme" });
  const segment = segmenter.segment(text.slice(start, index + BORDER_WINDOW)).containing(index - start);
  const inWindow = segment?.index ?? 0;
  // A cluster that began before the window is a hostile one, and cut between code points.
  if (inWindow > 0 || start === 0) return start + inWindow;
  const between = isLowSurrogate(next) && !isLowSurrogate(last) ? index - 1 : index;
  return text.charCodeAt(between - 1) === ZERO_WIDTH_JOINER ? between - 1 : between;
}

const ZERO_WIDTH_JOINER = 0x200d;

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}

function showRun(run: string, isBeforeNewline: boolean, keptReturn: string): string {
  if (run.length === 1) return isBeforeNewline && run === "\r" ? keptReturn : showOne(run);
  return atOnce(runShown(run, isBeforeNewline, keptReturn));
}

/** `showRun` in slices: a run may be as long as the text. */
function* runShown(run: string, isBeforeNewline: boolean, keptReturn: string): Sliced<string> {
  if (isBeforeNewline && run.endsWith("\r")) {
    return (run.length > 1 ? yield* runShown(run.slice(0, -1), false, "") : "") + keptReturn;
  }
  let characters = 0;
  let shown = "";
  let inRow = 0;
  let first = "";
  let counted = "";
  const flush = (): void => {
    if (counted === "") return;
    const tagText = decodeTagCharacters(counted);
    if (tagText.length > SHOWN_ONE_BY_ONE) shown += `‹hidden “${clip(tagText, SHOWN_TAG_TEXT)}”›`;
    else if (inRow > SHOWN_ONE_BY_ONE) shown += `‹${first} and ${inRow - 1} more hidden›`;
    else for (const character of counted) shown += showOne(character);
    inRow = 0;
    counted = "";
  };
  for (const character of run) {
    characters += 1;
    if (characters % SLICE_CHARACTERS === 0) yield;
    const code = character.codePointAt(0) ?? 0;
    if (code < 0x20 || code === 0x7f || (code >= 0xd800 && code <= 0xdfff)) {
      flush();
      shown += showOne(character);
    } else {
      if (inRow === 0) first = codePointName(character);
      inRow += 1;
      counted += character;
    }
  }
  flush();
  return shown;
}

/** Texts that were shown for a hidden character: there are few of them, and hostile texts hold one a million times. */
const shownOnes = new Map<string, string>();

function showOne(character: string): string {
  const known = shownOnes.get(character);
  if (known !== undefined) return known;
  const code = character.codePointAt(0) ?? 0;
  let shown = `‹${codePointName(character)}›`;
  if (code < 0x20) shown = String.fromCharCode(0x2400 + code);
  else if (code === 0x7f) shown = "␡";
  else if (code >= 0xd800 && code <= 0xdfff) shown = "\ufffd";
  if (shownOnes.size < 1_000) shownOnes.set(character, shown);
  return shown;
}

function codePointName(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}

/** Line ends that hide in a run stay line ends; a lone surrogate becomes U+FFFD, as it would on the wire. */
function dropRun(run: string, isBeforeNewline: boolean): string {
  if (run === "\r") return isBeforeNewline ? "" : "\n";
  let kept = "";
  for (let at = 0; at < run.length; at += 1) {
    const code = run.charCodeAt(at);
    const isLast = at === run.length - 1;
    if (code === 0x0d && !(isLast && isBeforeNewline)) kept += "\n";
    else if (code === 0x85 || code === 0x2028 || code === 0x2029) kept += "\n";
    else if (code >= 0xd800 && code <= 0xdbff && isLowSurrogate(run.charCodeAt(at + 1))) at += 1;
    else if (code >= 0xd800 && code <= 0xdfff) kept += "\ufffd";
  }
  return kept;
}

/** What is hidden in a text: findings about hidden characters, and the text that they spell. */
import type { Sliced } from "../base/slices.ts";
import type { Finding } from "../vocabulary.ts";
import {
  ANSI_SEQUENCE,
  decodeTagCharacters,
  decodeVariationSelectors,
  HIDDEN_RUN,
  mayHoldHidden,
} from "./hidden.ts";
import { SLICE_CHARACTERS, SLICE_MATCHES } from "./replace.ts";

export interface HiddenText {
  readonly findings: readonly Finding[];
  /** Texts that were spelled in hidden characters: to be scanned as well. */
  readonly decoded: readonly string[];
}

const NONE: HiddenText = { findings: [], decoded: [] };
/** Letters that chance does not make. */
const SPELLED = 4;
const MAX_DECODED = 16_384;

interface Counts {
  tags: string;
  selectors: string;
  bidi: number;
  zeroWidth: number;
  longestRun: number;
  controls: number;
}

/** One finding per kind of hidden character in `text`; in slices where there are many. */
export function* inspectHidden(text: string, where: string): Sliced<HiddenText> {
  if (!mayHoldHidden(text)) return NONE;
  const findings: Finding[] = [];
  const decoded: string[] = [];
  const add = (rule: string, severity: Finding["severity"], message: string): void => {
    findings.push({ rule, severity, where, message });
  };
  yield* inspectTerminal(text, add);
  const counts = yield* countHidden(text);
  const tagText = decodeTagCharacters(counts.tags);
  if (tagText.length >= SPELLED) {
    decoded.push(tagText);
    add("hidden.tags", "high", `hides a text of ${tagText.length} letters in tag characters`);
  } else if (counts.tags !== "") add("hidden.tags", "low", "holds tag characters outside a flag");
  const selectorText = decodeVariationSelectors(counts.selectors);
  if (isSpelled(selectorText)) {
    decoded.push(selectorText);
    add(
      "hidden.variation-selectors",
      "high",
      `hides a text of ${selectorText.length} letters in variation selectors`,
    );
  } else if (counts.selectors !== "")
    add("hidden.variation-selectors", "note", "holds variation selectors without a base");
  if (counts.bidi > 0)
    add("hidden.bidi", "low", `holds ${counts.bidi} characters that change the order in which text is shown`);
  if (counts.zeroWidth > 0) {
    const severity = counts.longestRun >= 16 || counts.zeroWidth >= 32 ? "low" : "note";
    add("hidden.zero-width", severity, `holds ${counts.zeroWidth} invisible characters`);
  }
  if (counts.controls > 0) add("hidden.control", "note", `holds ${counts.controls} control characters`);
  return { findings, decoded };
}

function* countHidden(text: string): Sliced<Counts> {
  const counts: Counts = { tags: "", selectors: "", bidi: 0, zeroWidth: 0, longestRun: 0, controls: 0 };
  let matches = 0;
  for (const match of text.matchAll(HIDDEN_RUN)) {
    matches += 1;
    if (matches % SLICE_MATCHES === 0) yield;
    const run = match[1];
    if (run === undefined) continue;
    let zeroWidthRun = 0;
    let characters = 0;
    for (const character of run) {
      characters += 1;
      if (characters % SLICE_CHARACTERS === 0) yield;
      const code = character.codePointAt(0) ?? 0;
      if (code >= 0xe0000 && code <= 0xe007f) {
        if (counts.tags.length < MAX_DECODED) counts.tags += character;
      } else if ((code >= 0xfe00 && code <= 0xfe0f) || (code >= 0xe0100 && code <= 0xe01ef)) {
        if (counts.selectors.length < MAX_DECODED) counts.selectors += character;
      } else if ((code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069)) counts.bidi += 1;
      else if (code < 0x20 || (code >= 0x7f && code <= 0x9f)) {
        // Line ends and the escapes of colours are told apart elsewhere.
        if (code !== 0x0d && code !== 0x1b && code !== 0x0c) counts.controls += 1;
      } else {
        counts.zeroWidth += 1;
        zeroWidthRun += 1;
      }
    }
    counts.longestRun = Math.max(counts.longestRun, zeroWidthRun);
  }
  return counts;
}

function isSpelled(text: string): boolean {
  const printable = text.replace(/[^\x20-\x7e\u00a0-\ud7ff]/g, "");
  return printable.length >= SPELLED && printable.length * 10 >= text.length * 8;
}

/** Colours are ordinary; what hides, moves, overwrites or reaches out of the screen is not. */
function* inspectTerminal(
  text: string,
  add: (rule: string, severity: Finding["severity"], message: string) => void,
): Sliced<void> {
  if (/[\x1b\x80-\x9f]/.test(text)) {
    const seen = { conceal: false, clipboard: false, move: false, other: false };
    let matches = 0;
    for (const [sequence] of text.matchAll(ANSI_SEQUENCE)) {
      matches += 1;
      if (matches % SLICE_MATCHES === 0) yield;
      if (/^(?:\x1b\]|\x9d)52;/.test(sequence)) seen.clipboard = true;
      else if (/(?:\[|\x9b)(?:\d{0,3};){0,8}8(?:;\d{0,3}){0,8}m$/.test(sequence) && !/[34]8;/.test(sequence))
        seen.conceal = true;
      else if (/(?:\x1b\[|\x9b)[0-9;?]*[A-HJKSTfhlsu]$/.test(sequence)) seen.move = true;
      else if (!/(?:\x1b\[|\x9b)[0-9;:]*m$/.test(sequence)) seen.other = true;
    }
    if (seen.clipboard)
      add("hidden.ansi-clipboard", "high", "tries to write to the clipboard through the terminal");
    if (seen.conceal) add("hidden.ansi-conceal", "low", "asks the terminal to conceal a part of the text");
    if (seen.move) add("hidden.ansi-move", "low", "moves the cursor or erases what was shown");
    if (seen.other) add("hidden.ansi-other", "note", "holds terminal control sequences");
  }
  if (/[^\r\n]\r(?![\r\n]|$)/.test(text))
    add("hidden.carriage-return", "note", "overwrites lines with a carriage return");
}

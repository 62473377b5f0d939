/**
 * The injection scan: what in a text of a server is written to give orders to a model, or is hidden. Rules over words
 * (`phrase-rules.ts`), shapes (`markup.ts`) and hidden characters (`hidden.ts`), on text read through disguises (`fold.ts`,
 * `reader.ts`) and through one layer of base64.
 *
 * Linear in size, without regular expressions over the whole text where the text is ordinary. What it cannot see stands in
 * docs/security/scan.md: it is one line of defence, behind markers, provenance and approvals.
 */
import { atOnce, type Sliced } from "../base/slices.ts";
import type { Finding } from "../vocabulary.ts";
import { oneLine } from "./clean.ts";
import { normalized, normalizeForScan } from "./fold.ts";
import { ANSI_SEQUENCE } from "./hidden.ts";
import { inspectHidden } from "./hidden-text.ts";
import { KIND_SENTENCES } from "./phrase-rules.ts";
import { beginsPhrase, classId, createPhraseMatcher, type PhraseMatcher } from "./phrases.ts";
import { readWords } from "./reader.ts";
import { replaceInSlices } from "./replace.ts";
import { secretScan } from "./redact.ts";
import { createVerdictBuilder, type KindVerdict, type VerdictBuilder } from "./verdict.ts";

const ABOUT = classId("about");
const EXAMPLE = classId("example");
const SECRET_HINT = classId("secretHint");
const ADDRESS = classId("address");
const SENTENCE_END = classId("sentenceEnd");
/** No phrase is shorter. */
const SHORTEST = 4;
const MAX_SAMPLE = 90;
/** How much of a text is decoded from base64, in all and per piece, in characters. */
const MAX_ENCODED = 65_536;
const MAX_PIECE = 8_192;

/**
 * @param where goes into the findings: a JSON pointer, a block number, a field name.
 * @returns one finding per rule, at most about thirty; empty for ordinary text.
 */
export function scanText(text: string, where: string): Finding[] {
  return atOnce(scan(text, where, false));
}

/** `scanText` and `scanSecrets` in one pass: what every result goes through. */
export function inspectText(text: string, where: string): Finding[] {
  return atOnce(scan(text, where, true));
}

/** `inspectText`, in slices where the text is long. */
export function inspection(text: string, where: string): Sliced<Finding[]> {
  return scan(text, where, true);
}

/** From here on a pass over the text is a slice of its own. */
const LONG = 65_536;

function* scan(text: string, where: string, withSecrets: boolean): Sliced<Finding[]> {
  const isLong = text.length > LONG;
  const hidden = yield* inspectHidden(text, where);
  const findings: Finding[] = [...hidden.findings];
  if (text.length < SHORTEST) return findings;
  if (isLong) yield;
  const plain = text.includes("\x1b") ? yield* replaceInSlices(text, ANSI_SEQUENCE, asShown) : text;
  const readable = yield* normalized(plain);
  if (isLong) yield;
  const isConcealed = hidden.findings.some((finding) => finding.rule === "hidden.ansi-conceal");
  const { verdicts, hasLongWord, farAway, hasSecretHint } = yield* evaluate(readable);
  for (const verdict of verdicts) {
    if (verdict.severity === "silent") continue;
    // A phrase that somebody hides from the person's eyes is no slip of the pen.
    const isHidden = isConcealed || (farAway >= 0 && verdict.start >= farAway);
    findings.push(toFinding(isHidden ? { ...verdict, severity: "high" } : verdict, readable, where));
  }
  if (farAway >= 0) {
    findings.push({
      rule: "hidden.far-away",
      severity: "low",
      where,
      message: "holds text behind a screenful of blanks",
    });
  }
  for (const spelled of hidden.decoded) addDecoded(findings, spelled, where, "hidden characters");
  if (isLong) yield;
  if (hasLongWord)
    for (const decoded of decodeBase64(readable)) {
      addDecoded(findings, decoded, where, "base64");
      if (isLong) yield;
    }
  if (isLong) yield;
  if (withSecrets && (hasLongWord || hasSecretHint)) findings.push(...(yield* secretScan(text, where)));
  if (isLong) yield;
  if (readable !== text || hidden.findings.length > 0 || /[\u0400-\u04ff]/.test(text))
    addMixedScript(findings, text, where);
  return findings;
}

/** The highest severity among `findings`; `null` for none. */
export function highestSeverity(findings: readonly Finding[]): Finding["severity"] | null {
  if (findings.some((finding) => finding.severity === "high")) return "high";
  if (findings.some((finding) => finding.severity === "low")) return "low";
  return findings.length > 0 ? "note" : null;
}

interface Evaluation {
  readonly verdicts: readonly KindVerdict[];
  readonly hasLongWord: boolean;
  readonly farAway: number;
  readonly hasSecretHint: boolean;
}

const NO_VERDICTS: readonly KindVerdict[] = [];

function* evaluate(text: string): Sliced<Evaluation> {
  let work: { readonly matcher: PhraseMatcher; readonly builder: VerdictBuilder } | undefined;
  let hasSecretHint = false;
  // What stood just before the first phrase can weaken it ("do not ignore …").
  let earlyId = -1;
  let earlyPosition = 0;
  const { hasLongWord, farAway } = yield* readWords(text, (id, position, start, end) => {
    if (id === SECRET_HINT || id === ADDRESS) hasSecretHint = true;
    if (work === undefined) {
      // Ordinary text begins no phrase, or few: nothing is made before the first one.
      if (id !== ABOUT && id !== EXAMPLE && !beginsPhrase(id)) {
        if (id !== SENTENCE_END) {
          earlyId = id;
          earlyPosition = position;
        }
        return;
      }
      const builder = createVerdictBuilder(text);
      work = { builder, matcher: createPhraseMatcher((hit) => builder.hit(hit)) };
      if (earlyId >= 0) work.matcher.feed(earlyId, earlyPosition, start, start);
    }
    if (id === ABOUT) work.builder.about(position, true);
    else if (id === EXAMPLE) work.builder.about(position, false);
    else work.matcher.feed(id, position, start, end);
  });
  work?.matcher.finish();
  return { verdicts: work?.builder.finish() ?? NO_VERDICTS, hasLongWord, farAway, hasSecretHint };
}

function toFinding(verdict: KindVerdict, text: string, where: string): Finding {
  const { kind, severity, start, end, together } = verdict;
  const sample = oneLine(text.slice(start, Math.max(end, start + 40)), MAX_SAMPLE);
  const also = together === null ? "" : ` and ${KIND_SENTENCES[together]}`;
  const message = `${KIND_SENTENCES[kind]}${also}: “${sample}”`;
  return { rule: `injection.${kind}`, severity: severity === "silent" ? "note" : severity, where, message };
}

/** Colours join what stands around them; everything else moves, so that words part. */
function asShown([sequence]: RegExpExecArray): string {
  return sequence.endsWith("m") ? "" : " ";
}

/** Orders that somebody took the trouble to hide are high, whatever they would be in the open. */
function addDecoded(findings: Finding[], decoded: string, where: string, how: string): void {
  const readable = normalizeForScan(decoded);
  const worst = atOnce(evaluate(readable)).verdicts.find((verdict) => verdict.severity !== "silent");
  if (worst === undefined) return;
  const sample = oneLine(readable.slice(worst.start, Math.max(worst.end, worst.start + 40)), MAX_SAMPLE);
  const message = `hides in ${how} a text that ${KIND_SENTENCES[worst.kind]}: “${sample}”`;
  findings.push({ rule: "injection.encoded", severity: "high", where, message });
}

/** Readable texts that stand in base64 (both alphabets), lines of one block joined. */
function decodeBase64(text: string): string[] {
  const texts: string[] = [];
  let budget = MAX_ENCODED;
  for (const match of text.matchAll(/[A-Za-z0-9+/_-]{24,}(?:\r?\n[A-Za-z0-9+/_-]{24,})*/g)) {
    const piece = match[0].slice(0, MAX_PIECE).replace(/[\r\n]/g, "");
    budget -= piece.length;
    if (budget < 0) break;
    // Hex, paths and identifiers are not worth decoding.
    if (/^[0-9a-f-]+$/i.test(piece) || !/[A-Z]/.test(piece) || !/[a-z]/.test(piece)) continue;
    const decoded = Buffer.from(piece, "base64").toString("utf8");
    const readable = decoded.replace(/[^\x20-\x7e\n\r\t\u00a0-\ud7ff\uf900-\uffef]|\ufffd/g, "");
    if (readable.length >= 12 && readable.length * 10 >= decoded.length * 9) texts.push(decoded);
  }
  return texts;
}

/** Latin letters next to their Cyrillic look-alikes in one word. */
function addMixedScript(findings: Finding[], text: string, where: string): void {
  const match = /[a-z][асеорхуіјѕԁԛԝһ]|[асеорхуіјѕԁԛԝһАВЕКМНОРСТХ][a-z]/iu.exec(text);
  if (match === null) return;
  const sample = oneLine(text.slice(Math.max(0, match.index - 12), match.index + 20), 40);
  findings.push({
    rule: "hidden.mixed-script",
    severity: "note",
    where,
    message: `mixes look-alike letters of two scripts in one word: “${sample}”`,
  });
}

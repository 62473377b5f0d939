/**
 * Keeps secrets out of whatever is written or shown: by value (what the configuration and the vault resolved) and by pattern
 * (what looks like a token). Linear; safe for a text of any size.
 *
 * By value a secret is found as it is, URL-encoded, JSON-escaped, in hex, and in base64 at each of the three offsets that it can
 * have inside a longer base64 text. A value longer than 128 characters is also found in pieces.
 */
import type { JsonValue } from "../base/json.ts";
import { atOnce, type Sliced } from "../base/slices.ts";
import type { Finding } from "../vocabulary.ts";
import { createMultiSearch, type Literal, type MultiSearch, type Span } from "./multi-search.ts";
import { isSecretName, SECRET_HINT, SECRET_RULES, type SecretRule } from "./secret-rules.ts";

/** What stands where a secret stood. */
export const REDACTED = "[redacted]";

/** Shorter values would take ordinary words apart; they are not looked for. */
const MIN_VALUE_LENGTH = 4;
/** Too short and too plain for any rule, though it may say what stands beside it (`credential`). */
const PLAIN_NAME = /^[A-Za-z]{1,15}$/;
/** Shorter values count only as a whole word. */
const MIN_FREE_LENGTH = 8;
const MAX_VALUE_LENGTH = 16_384;
const PIECE_LENGTH = 128;
const MAX_FINDINGS = 20;
/** Texts that were found harmless and will come again: names, ids, our own sentences. */
const MAX_REMEMBERED = 512;
const MAX_REMEMBERED_LENGTH = 80;

export interface Redactor {
  /**
   * Takes `values` as secrets of `owner` (a server, the vault), in addition to those it has. A value that several owners have
   * stays until the last one removes it.
   * @returns how many were too short to be looked for (under 4 characters).
   */
  add(owner: string, values: Iterable<string>): number;
  /** Forgets all values of `owner`. */
  remove(owner: string): void;
  /** Known values only: for results, where a token may be what was asked for. */
  redactValues(text: string): string;
  /** `redactValues` in slices, for texts that may be long. */
  valueRedaction(text: string): Sliced<string>;
  /** Known values of 8 characters and more: for names and definitions, which a short value would take apart. */
  redactLongValues(text: string): string;
  /** Known values and everything that looks like a secret: for logs, trails and messages. */
  redact(text: string): string;
  /**
   * Every string redacted, members with telling names blanked, depth and size bounded: a copy, or the value itself where there
   * was nothing to change.
   */
  redactJson(value: unknown, bounds?: JsonBounds): JsonValue;
}

interface JsonBounds {
  /** Default 32. */
  readonly maxDepth?: number;
  /** Values in all. Default 10,000. */
  readonly maxValues?: number;
  /** Characters of all strings. Default 1,000,000. */
  readonly maxCharacters?: number;
}

export function createRedactor(): Redactor {
  const owners = new Map<string, Set<string>>();
  let search: MultiSearch | null = null;
  let isEmpty = true;

  const current = (): MultiSearch => {
    if (search === null) {
      const literals = new Map<string, Literal>();
      for (const values of owners.values()) {
        for (const value of values) {
          for (const literal of encodings(value))
            literals.set(`${String(literal.wholeWord)} ${literal.text}`, literal);
        }
      }
      search = createMultiSearch([...literals.values()]);
    }
    return search;
  };
  const redactValues = (text: string): string => (isEmpty ? text : replaceSpans(text, current().find(text)));
  function* valueRedaction(text: string): Sliced<string> {
    return isEmpty ? text : replaceSpans(text, yield* current().search(text));
  }
  const redactLongValues = (text: string): string => {
    if (isEmpty || text.length < MIN_FREE_LENGTH) return text;
    const spans = current().find(text);
    return replaceSpans(
      text,
      spans.filter(({ start, end }) => end - start >= MIN_FREE_LENGTH),
    );
  };
  const harmless = new Set<string>();
  const redact = (text: string): string => {
    if (text.length > MAX_REMEMBERED_LENGTH) return redactPatterns(redactValues(text));
    if (harmless.has(text)) return text;
    const redacted = redactPatterns(redactValues(text));
    if (redacted !== text) return redacted;
    if (harmless.size >= MAX_REMEMBERED) harmless.clear();
    harmless.add(text);
    return text;
  };
  const redactName = (name: string): string => (PLAIN_NAME.test(name) ? redactValues(name) : redact(name));

  return {
    add(owner, values) {
      let tooShort = 0;
      const held = owners.get(owner) ?? new Set<string>();
      harmless.clear();
      for (const value of values) {
        if (value.trim().length < MIN_VALUE_LENGTH) {
          tooShort += value === "" ? 0 : 1;
          continue;
        }
        if (held.has(value)) continue;
        held.add(value);
        search = null;
        isEmpty = false;
      }
      if (held.size > 0) owners.set(owner, held);
      return tooShort;
    },
    remove(owner) {
      if (!owners.delete(owner)) return;
      search = null;
      isEmpty = owners.size === 0;
    },
    redactValues,
    valueRedaction,
    redactLongValues,
    redact,
    redactJson: (value, bounds = {}) => new JsonRedaction(redact, redactName, bounds).visit(value, 0),
  };
}

/** `text` without what looks like a secret; for what has no known values. */
export function redactPatterns(text: string): string {
  if (!SECRET_HINT.test(text)) return text;
  const spans: Span[] = [];
  for (const rule of SECRET_RULES) for (const span of matchRule(rule, text)) spans.push(span);
  return replaceSpans(text, mergeSpans(spans));
}

/**
 * What looks like a secret in `text`: one finding per kind, at most 20, without the secret.
 * @param where goes into the findings: a JSON pointer, a block number.
 */
export function scanSecrets(text: string, where: string): Finding[] {
  return atOnce(secretScan(text, where));
}

/** From here on each rule, and each thousand of its matches, is a slice of its own. */
const LONG = 65_536;
const MATCHES = 1_000;

/** `scanSecrets`, in slices where the text is long. */
export function* secretScan(text: string, where: string): Sliced<Finding[]> {
  if (!SECRET_HINT.test(text)) return [];
  const isLong = text.length > LONG;
  const findings: Finding[] = [];
  const taken: Span[] = [];
  for (const rule of SECRET_RULES) {
    if (findings.length >= MAX_FINDINGS) break;
    let count = 0;
    let matches = 0;
    if (isLong) yield;
    for (const span of matchRule(rule, text)) {
      matches += 1;
      if (isLong && matches % MATCHES === 0) yield;
      // A token inside `password=…` is one secret, told by its better name.
      if (rule.severity === "note" && taken.some((other) => other.start < span.end && span.start < other.end))
        continue;
      if (rule.severity !== "note" && taken.length < 1_000) taken.push(span);
      count += 1;
    }
    if (count === 0) continue;
    const times = count === 1 ? "" : ` (${count} times)`;
    findings.push({
      rule: rule.id,
      severity: rule.severity,
      where,
      message: `holds what looks like ${rule.name}${times}`,
    });
  }
  return findings;
}

function* matchRule(rule: SecretRule, text: string): Generator<Span> {
  for (const match of text.matchAll(rule.pattern)) {
    const groups = match.groups;
    const secret = groups?.["secret"] ?? groups?.["quoted"] ?? groups?.["plain"];
    if (secret === REDACTED || match[0].includes(REDACTED)) continue;
    const start = secret === undefined ? match.index : match.index + match[0].lastIndexOf(secret);
    yield { start, end: start + (secret ?? match[0]).length };
  }
}

function mergeSpans(spans: Span[]): readonly Span[] {
  const sorted = spans.sort((one, other) => one.start - other.start);
  const merged: Span[] = [];
  for (const span of sorted) {
    const last = merged.at(-1);
    if (last === undefined || last.end < span.start) merged.push(span);
    else merged[merged.length - 1] = { start: last.start, end: Math.max(last.end, span.end) };
  }
  return merged;
}

function replaceSpans(text: string, spans: readonly Span[]): string {
  if (spans.length === 0) return text;
  const parts: string[] = [];
  let at = 0;
  for (const { start, end } of spans) {
    parts.push(text.slice(at, start), REDACTED);
    at = end;
  }
  parts.push(text.slice(at));
  return parts.join("");
}

/** Every form in which `value` is looked for. */
function encodings(value: string): Literal[] {
  const short = value.length < MIN_FREE_LENGTH;
  const cut = value.slice(0, MAX_VALUE_LENGTH);
  const forms = new Set<string>([cut, cut.trim(), JSON.stringify(cut).slice(1, -1)]);
  if (!short) {
    forms.add(encodeURIComponent(cut.toWellFormed()));
    forms.add(new URLSearchParams({ v: cut }).toString().slice(2));
    forms.add(Buffer.from(cut, "utf8").toString("hex"));
    for (const form of base64Forms(cut)) forms.add(form);
  }
  const literals: Literal[] = [];
  for (const form of forms) {
    if (form.length < MIN_VALUE_LENGTH) continue;
    for (const text of pieces(form))
      literals.push({ text, wholeWord: short && text.length < MIN_FREE_LENGTH });
  }
  return literals;
}

function pieces(form: string): string[] {
  if (form.length <= PIECE_LENGTH) return [form];
  const cut: string[] = [];
  for (let at = 0; at + PIECE_LENGTH <= form.length; at += PIECE_LENGTH)
    cut.push(form.slice(at, at + PIECE_LENGTH));
  cut.push(form.slice(-PIECE_LENGTH));
  return cut;
}

/** The characters of base64 that depend on `value` alone, for each offset at which it can start, in both alphabets. */
function base64Forms(value: string): string[] {
  const bytes = Buffer.from(value, "utf8");
  const forms: string[] = [];
  for (let offset = 0; offset < 3; offset += 1) {
    const text = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString("base64")
      .replace(/=+$/, "");
    const from = Math.ceil((offset * 8) / 6);
    const until = Math.floor(((offset + bytes.length) * 8) / 6);
    const certain = text.slice(from, until);
    if (certain.length >= MIN_FREE_LENGTH)
      forms.push(certain, certain.replaceAll("+", "-").replaceAll("/", "_"));
  }
  return forms;
}

/** One walk through a value. A class, because every call walks through several and closures would cost more than the walk. */
class JsonRedaction {
  readonly #redact: (text: string) => string;
  readonly #redactName: (text: string) => string;
  readonly #maxDepth: number;
  readonly #maxValues: number;
  readonly #maxCharacters: number;
  #values = 0;
  #characters = 0;

  constructor(
    redact: (text: string) => string,
    redactName: (text: string) => string,
    { maxDepth = 32, maxValues = 10_000, maxCharacters = 1_000_000 }: JsonBounds,
  ) {
    this.#redact = redact;
    this.#redactName = redactName;
    this.#maxDepth = maxDepth;
    this.#maxValues = maxValues;
    this.#maxCharacters = maxCharacters;
  }

  visit(item: unknown, depth: number): JsonValue {
    this.#values += 1;
    if (this.#values > this.#maxValues || this.#characters > this.#maxCharacters) return "[cut]";
    if (typeof item === "string") {
      const room = Math.max(this.#maxCharacters - this.#characters, 0);
      this.#characters += item.length;
      return item.length <= room ? this.#redact(item) : `${this.#redact(item.slice(0, room))}[cut]`;
    }
    if (typeof item === "number" || typeof item === "boolean" || item === null) return item;
    if (typeof item !== "object") return item === undefined ? null : `[${typeof item}]`;
    if (depth >= this.#maxDepth) return "[nested too deeply]";
    return Array.isArray(item) ? this.#visitList(item, depth) : this.#visitObject(item, depth);
  }

  #visitList(list: readonly unknown[], depth: number): JsonValue {
    let copy: JsonValue[] | undefined;
    for (let at = 0; at < list.length; at += 1) {
      const member = list[at];
      const seen = this.visit(member, depth + 1);
      const isLast = this.#values > this.#maxValues;
      if (seen !== member || isLast) copy ??= list.slice(0, at) as JsonValue[];
      copy?.push(seen);
      if (isLast) break;
    }
    return copy ?? (list as JsonValue[]);
  }

  #visitObject(object: object, depth: number): JsonValue {
    const members = object as Readonly<Record<string, unknown>>;
    const names = Object.keys(object);
    // What is no plain object may have a way of its own to JSON.
    let entries: [string, JsonValue][] | undefined = isPlain(object) ? undefined : [];
    for (let at = 0; at < names.length; at += 1) {
      const name = names[at] ?? "";
      this.#characters += name.length;
      const member = members[name];
      const hidden = isSecretName(name) && (typeof member === "string" || typeof member === "number");
      const shown = this.#redactName(name);
      const seen = hidden ? REDACTED : this.visit(member, depth + 1);
      const isLast = this.#values > this.#maxValues;
      if (shown !== name || seen !== member || isLast)
        entries ??= names.slice(0, at).map((before) => [before, members[before] as JsonValue]);
      entries?.push([shown, seen]);
      if (isLast) break;
    }
    // `fromEntries` defines own members, whatever their names are.
    return entries === undefined ? (object as JsonValue) : Object.fromEntries(entries);
  }
}

function isPlain(object: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(object);
  return prototype === Object.prototype || prototype === null;
}

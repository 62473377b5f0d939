/**
 * `pattern` without backtracking traps. Patterns that a backtracking engine provably finishes in a few steps per character run
 * on the native one, all others on RE2 (linear); what neither can do exactly is told, not guessed.
 *
 * Invariant: no text that a stranger wrote is ever run by the native engine unless `backtrackingCost` found it harmless.
 */
import { RE2JS } from "re2js";
import { spend, type Run } from "./check.ts";
import { backtrackingCost, countProperties, programSize, repeatProduct } from "./pattern-cost.ts";
import { parsePattern, type ClassItem, type PatternNode } from "./pattern-syntax.ts";

export type TestText = (text: string, run: Run) => boolean;

export type PatternPlan =
  | {
      readonly ok: true;
      /** Instructions of the programs that RE2 has to compile; 0 for the native engine. */
      readonly size: number;
      /** Makes the engine: costs up to some milliseconds, so it is called once and late. */
      readonly build: () => TestText;
    }
  | { readonly ok: false; readonly reason: string };

const MAX_PATTERN_LENGTH = 2_000;
const MAX_PROGRAM_SIZE = 1_000;
const MAX_PROPERTIES = 10;

/** Judges `text` without running or compiling it. */
export function planPattern(text: string): PatternPlan {
  if (text.length > MAX_PATTERN_LENGTH)
    return { ok: false, reason: `is longer than ${MAX_PATTERN_LENGTH} characters` };
  const isUnicode = isValid(text, "u");
  if (!isUnicode && !isValid(text, "")) return { ok: false, reason: "is no ECMAScript pattern" };
  const syntax = parsePattern(text);
  if (!syntax.ok) return { ok: false, reason: `needs ${syntax.reason}` };
  const cost = backtrackingCost(syntax.node);
  if (cost !== undefined && isUnicode) {
    return {
      ok: true,
      size: 0,
      build: () => {
        const expression = new RegExp(text, "u");
        return (value, run) => {
          spend(run, 1 + cost.atOnce + value.length * (0.01 + cost.perCharacter));
          return expression.test(value);
        };
      },
    };
  }
  return planLinear(syntax.node);
}

function isValid(text: string, flags: string): boolean {
  try {
    return new RegExp(text, flags) instanceof RegExp;
  } catch {
    return false;
  }
}

/** A pattern that starts with `^` and looks ahead from there is several patterns at once. */
interface Condition {
  readonly node: PatternNode;
  readonly isNegated: boolean;
}

function splitLookahead(node: PatternNode): readonly Condition[] {
  if (node.kind !== "sequence") return [{ node, isNegated: false }];
  const [start, ...rest] = node.parts;
  if (start?.kind !== "assertion" || start.text !== "^") return [{ node, isNegated: false }];
  const conditions: Condition[] = [];
  while (rest[0]?.kind === "look" && !rest[0].isBehind) {
    const { inner, isNegated } = rest[0];
    conditions.push({ node: { kind: "sequence", parts: [start, inner] }, isNegated });
    rest.shift();
  }
  return [...conditions, { node: { kind: "sequence", parts: [start, ...rest] }, isNegated: false }];
}

function planLinear(node: PatternNode): PatternPlan {
  const conditions = splitLookahead(node);
  let size = 0;
  const sources: {
    readonly source: string;
    readonly isNegated: boolean;
    readonly size: number;
    readonly flags: number;
  }[] = [];
  for (const condition of conditions) {
    if (repeatProduct(condition.node) > 1_000) return { ok: false, reason: "repeats more than 1,000 times" };
    if (countProperties(condition.node) > MAX_PROPERTIES)
      return { ok: false, reason: "names too many Unicode properties" };
    const own = programSize(condition.node);
    size += own;
    const written = writePattern(condition.node);
    if (typeof written !== "string") return { ok: false, reason: written.reason };
    const flags = written.includes("(?<") ? RE2JS.LOOKBEHINDS : 0;
    sources.push({ source: written, isNegated: condition.isNegated, size: own, flags });
  }
  if (size > MAX_PROGRAM_SIZE) return { ok: false, reason: "makes too large a program" };
  return {
    ok: true,
    size,
    build: () => {
      const tests = sources.map(({ source, isNegated, size: own, flags }) => {
        const expression = RE2JS.compile(source, flags);
        // What a character costs where the engine can keep no state of it, in steps; measured, see ADR 0011.
        const perCharacter = Math.min(own, 160) / 2;
        return (value: string, run: Run): boolean => {
          spend(run, 10 + value.length * perCharacter);
          return expression.test(value) !== isNegated;
        };
      });
      const [only] = tests;
      return tests.length === 1 && only !== undefined
        ? only
        : (value, run) => tests.every((test) => test(value, run));
    },
  };
}

/** `\s` of ECMAScript, which is more than RE2's. */
const SPACE =
  "\\t\\n\\x{b}\\f\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}";
const NOT_SPACE =
  "\\x{0}-\\x{8}\\x{e}-\\x{1f}\\x{21}-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}" +
  "\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}";
const ANYTHING = "[\\x{0}-\\x{10ffff}]";
const NOTHING = "[^\\x{0}-\\x{10ffff}]";

type Unwritable = { readonly reason: string };

/** The same pattern in RE2's syntax. */
function writePattern(node: PatternNode): string | Unwritable {
  let problem: Unwritable | undefined;
  const refuse = (reason: string): string => {
    problem ??= { reason };
    return "";
  };
  const writeItem = (item: ClassItem): string => {
    switch (item.kind) {
      case "range":
        return item.from === item.to ? hex(item.from) : `${hex(item.from)}-${hex(item.to)}`;
      case "escape":
        if (item.letter === "s") return SPACE;
        return item.letter === "S" ? NOT_SPACE : `\\${item.letter}`;
      case "property": {
        const name = propertyName(item.name);
        if (name === undefined) return refuse(`needs the Unicode property \`${item.name}\``);
        return `\\${item.isNegated ? "P" : "p"}{${name}}`;
      }
    }
  };
  const write = (part: PatternNode): string => {
    switch (part.kind) {
      case "any":
        return "[^\\n\\r\\x{2028}\\x{2029}]";
      case "assertion":
        return part.text;
      case "set":
        if (part.items.length === 0) return part.isNegated ? ANYTHING : NOTHING;
        return `[${part.isNegated ? "^" : ""}${part.items.map(writeItem).join("")}]`;
      case "sequence":
        return part.parts
          .map((inner) => (inner.kind === "alternatives" ? `(?:${write(inner)})` : write(inner)))
          .join("");
      case "alternatives":
        return part.options.map(write).join("|");
      case "look":
        if (!part.isBehind) return refuse("needs a lookahead in the middle");
        return `(?<${part.isNegated ? "!" : "="}${write(part.inner)})`;
      case "repeat": {
        const count = `{${part.min},${part.max === Infinity ? "" : part.max}}`;
        const simple = { "{0,}": "*", "{1,}": "+", "{0,1}": "?" }[count] ?? count;
        return `(?:${write(part.inner)})${simple}`;
      }
    }
  };
  const written = write(node);
  return problem ?? written;
}

function hex(code: number): string {
  return `\\x{${code.toString(16)}}`;
}

const categoryNames: Readonly<Record<string, string>> = {
  Letter: "L",
  Lowercase_Letter: "Ll",
  Uppercase_Letter: "Lu",
  Titlecase_Letter: "Lt",
  Modifier_Letter: "Lm",
  Other_Letter: "Lo",
  Mark: "M",
  Nonspacing_Mark: "Mn",
  Number: "N",
  Decimal_Number: "Nd",
  Letter_Number: "Nl",
  Other_Number: "No",
  Punctuation: "P",
  Symbol: "S",
  Math_Symbol: "Sm",
  Currency_Symbol: "Sc",
  Separator: "Z",
  Space_Separator: "Zs",
  Other: "C",
  Control: "Cc",
};

const knownProperties = new Map<string, boolean>();

/** The name under which RE2 knows a Unicode property; `undefined` where it does not. */
function propertyName(name: string): string | undefined {
  const bare = name.replace(/^(?:gc|General_Category|sc|Script)=/, "");
  const short = Object.hasOwn(categoryNames, bare) ? categoryNames[bare] : bare;
  if (short === undefined || !/^[A-Z][A-Za-z_]*$/.test(short)) return undefined;
  const known = knownProperties.get(short);
  if (known !== undefined) return known ? short : undefined;
  if (knownProperties.size > 500) knownProperties.clear();
  let isKnown = false;
  try {
    isKnown = RE2JS.compile(`\\p{${short}}`) instanceof RE2JS;
  } catch {
    isKnown = false;
  }
  knownProperties.set(short, isKnown);
  return isKnown ? short : undefined;
}

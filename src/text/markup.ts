/**
 * Shapes that matter to the injection scan at one place of a text: chat templates, tool call syntax, frames, hiding markup,
 * images that carry data. Every pattern is anchored at the place and bounded.
 */
import type { ShapeClass } from "./phrase-rules.ts";

interface Shape {
  readonly name: ShapeClass;
  readonly pattern: RegExp;
}

const FRAME_END =
  /<\/\s{0,4}(?:tool_?(?:result|response|output|description)s?|function_?(?:result|response|output)s?|untrusted[a-z0-9_-]{0,40}|(?:user|external|retrieved)[_-]?(?:data|input|content|query)|observation|search_?results?|retrieved_?context|system(?:[_-]?(?:prompt|message|reminder))?)\s{0,4}>/iy;

/** Shapes behind `<`, by what follows it in lower case; ordinary tags of HTML and XML meet none of them. */
const AFTER_LESS = new Map<string, readonly Shape[]>();
function after(signs: string, name: ShapeClass, pattern: RegExp): void {
  for (const sign of signs) AFTER_LESS.set(sign, [...(AFTER_LESS.get(sign) ?? []), { name, pattern }]);
}
after(
  "|",
  "chatToken",
  /<\|(?:im_start|im_end|im_sep|system|user|assistant|tool|end|eot_id|eom_id|start_header_id|end_header_id|begin_of_text|endoftext|endofprompt|python_tag)\|>/iy,
);
after("se", "chatToken", /<(?:start|end)_of_turn>/iy);
after("<", "chatToken", /<<\/?SYS>>/iy);
after("/", "frameEnd", FRAME_END);
after(
  "afite",
  "toolSyntax",
  /<(?:antml:)?(?:function_calls|invoke\s{1,4}name=|tool_use|tool_call|tool_code|function_call|function=|execute_tool)/iy,
);
after(
  "icusaom/ ",
  "urgentTag",
  /<\s{0,2}\/?\s{0,2}(?:IMPORTANT|CRITICAL|URGENT|SYSTEM|ADMIN|OVERRIDE|SECRET|INSTRUCTIONS?|MANDATORY)\s{0,2}>/y,
);
after(
  "sia",
  "urgentTag",
  /<(?:system(?:[_-]?(?:prompt|message|instructions?|reminder))?|important|admin|assistant_instructions?)\s{0,2}>/iy,
);
after("!", "hiddenMarkup", /<!--/y);

/** A tag that hides what is in it; looked for only in texts that hold a style or such an attribute at all. */
const HIDING_TAG: Shape = {
  name: "hiddenMarkup",
  pattern:
    /<[a-z]{1,10}\s[^<>]{0,300}?(?:display\s{0,2}:\s{0,2}none|visibility\s{0,2}:\s{0,2}hidden|font-size\s{0,2}:\s{0,2}[01](?:px|pt|em|;|"|')|opacity\s{0,2}:\s{0,2}0(?:;|"|'|\.0)|color\s{0,2}:\s{0,2}(?:white|#fff(?:fff)?|transparent)\b|aria-hidden\s{0,2}=\s{0,2}["']?true|\shidden[\s>])/iy,
};
const MAY_HIDE = /style\s{0,2}=|hidden/i;

const AT_BRACKET: readonly Shape[] = [
  { name: "chatToken", pattern: /\[\/?INST\]/y },
  {
    name: "roleHead",
    pattern:
      /\[{1,2}\s{0,2}(?:system|assistant|developer|admin|instructions?)(?:[ _-](?:message|prompt|note|notice|override|instructions?))?\s{0,2}\]{1,2}/iy,
  },
  // [//]: # (a comment that Markdown does not show)
  { name: "hiddenMarkup", pattern: /\[\/\/\]:\s{0,4}#/y },
];

const AT_BANG: readonly Shape[] = [
  {
    name: "imageWithData",
    pattern:
      /!\[[^[\]\n]{0,200}\]\(\s{0,4}<?https?:\/\/[^\s()!]{1,500}?[?&/=](?:\{\{?[^\s()!]{0,80}\}|\$\{?[A-Za-z_][^\s()!]{0,80}|<[A-Za-z_ ]{1,80}>|\[[A-Za-z_ ]{1,80}\]|%[sS]|(?:SECRETS?|DATA|TOKENS?|API_?KEYS?|PASSWORDS?|CONVERSATION|HISTORY|CONTEXT|PROMPT|BASE64|ENCODED|SUMMARY)(?![a-z]))/y,
  },
];

const AT_QUOTE: readonly Shape[] = [
  {
    name: "toolSyntax",
    pattern:
      /"(?:type"\s{0,4}:\s{0,4}"(?:tool_use|tool_call|function_call)"|tool_calls"\s{0,4}:|function_call"\s{0,4}:|recipient_name"\s{0,4}:)/y,
  },
];

const AT_HASH: readonly Shape[] = [
  {
    name: "roleHead",
    pattern:
      /#{2,4}\s{0,2}(?:system|instructions?|assistant|human|user|new instructions?|system prompt)\s{0,2}:?(?=[\s\\]|$)/iy,
  },
];

/** 1 for the ASCII characters that a shape can begin with: `< [ ! " #`. */
export const SHAPE_STARTS = new Uint8Array(0x80);
for (const code of [0x3c, 0x5b, 0x21, 0x22, 0x23]) SHAPE_STARTS[code] = 1;

const NONE: readonly Shape[] = [];
/** The beginnings of `[INST`, `[/INST`, `[[system`, `[admin`, `[developer`, `[//]:`. */
const BRACKETED = /^\[{1,2}\s{0,2}\/?(?:[iIsSaAdD/])/;

/** The shape that begins at `at`, with its end. */
export function shapeAt(
  text: string,
  at: number,
): { readonly name: ShapeClass; readonly end: number } | undefined {
  for (const { name, pattern } of shapesAt(text, at)) {
    pattern.lastIndex = at;
    if (pattern.test(text)) return { name, end: pattern.lastIndex };
  }
  return undefined;
}

/** The candidates, by one more code unit, so that ordinary HTML, Markdown and JSON do not pay for the patterns. */
function shapesAt(text: string, at: number): readonly Shape[] {
  const next = text.charCodeAt(at + 1);
  switch (text.charCodeAt(at)) {
    case 0x3c: {
      if (next === 0x3c && (text.charCodeAt(at + 2) | 32) !== 0x73 && text.charCodeAt(at + 2) !== 0x2f)
        return NONE;
      const known = AFTER_LESS.get(text.charAt(at + 1).toLowerCase()) ?? NONE;
      return isAsciiLetter(next) && mayHide(text) ? [...known, HIDING_TAG] : known;
    }
    case 0x5b:
      return BRACKETED.test(text.slice(at, at + 6)) ? AT_BRACKET : NONE;
    case 0x21:
      return next === 0x5b ? AT_BANG : NONE;
    case 0x22:
      return next === 0x74 || next === 0x66 || next === 0x72 ? AT_QUOTE : NONE;
    default:
      return next === 0x23 && text.charCodeAt(at - 1) !== 0x23 ? AT_HASH : NONE;
  }
}

let lastText = "";
let lastMayHide = false;

/** Asked for every tag of one text: the last answer is kept. */
function mayHide(text: string): boolean {
  if (text !== lastText) {
    lastText = text;
    lastMayHide = MAY_HIDE.test(text);
  }
  return lastMayHide;
}

/** Gives the last text up. */
export function forgetText(): void {
  lastText = "";
}

function isAsciiLetter(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a);
}

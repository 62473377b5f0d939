/**
 * Regular expressions of ECMAScript as a tree, so that they can be judged and written for another engine without running
 * them. Reads what `new RegExp(text, "u")` or `new RegExp(text)` takes; what a linear-time engine cannot do becomes an
 * `unsupported` with its name.
 */

export type ClassItem =
  | { readonly kind: "range"; readonly from: number; readonly to: number }
  | { readonly kind: "escape"; readonly letter: "d" | "D" | "w" | "W" | "s" | "S" }
  | { readonly kind: "property"; readonly name: string; readonly isNegated: boolean };

export type PatternNode =
  | { readonly kind: "set"; readonly items: readonly ClassItem[]; readonly isNegated: boolean }
  | { readonly kind: "any" }
  | { readonly kind: "assertion"; readonly text: "^" | "$" | "\\b" | "\\B" }
  | {
      readonly kind: "look";
      readonly isBehind: boolean;
      readonly isNegated: boolean;
      readonly inner: PatternNode;
    }
  | { readonly kind: "sequence"; readonly parts: readonly PatternNode[] }
  | { readonly kind: "alternatives"; readonly options: readonly PatternNode[] }
  | { readonly kind: "repeat"; readonly inner: PatternNode; readonly min: number; readonly max: number };

export type PatternSyntax =
  | { readonly ok: true; readonly node: PatternNode }
  | { readonly ok: false; readonly reason: string };

const MAX_NESTING = 100;

/** @param text at most a few thousand characters; a valid ECMAScript pattern. Linear. */
export function parsePattern(text: string): PatternSyntax {
  let at = 0;
  let nesting = 0;
  let reason: string | undefined;

  const unsupported = (what: string): PatternNode => {
    reason ??= what;
    at = text.length;
    return { kind: "any" };
  };
  const literal = (code: number): PatternNode => ({
    kind: "set",
    items: [{ kind: "range", from: code, to: code }],
    isNegated: false,
  });
  const takeCode = (): number => {
    const code = text.codePointAt(at) ?? 0;
    at += code > 0xffff ? 2 : 1;
    return code;
  };
  const hex = (digits: number): number | undefined => {
    const part = text.slice(at, at + digits);
    if (part.length !== digits || !/^[0-9a-fA-F]+$/.test(part)) return undefined;
    at += digits;
    return Number.parseInt(part, 16);
  };

  /** After `\u`. */
  const unicodeEscape = (): number => {
    const braced = /^\{([0-9a-fA-F]{1,8})\}/.exec(text.slice(at, at + 12));
    if (braced !== null) {
      at += braced[0].length;
      return Math.min(Number.parseInt(braced[1] ?? "0", 16), 0x10ffff);
    }
    const unit = hex(4);
    if (unit === undefined) return 0x75;
    const isLead = unit >= 0xd800 && unit <= 0xdbff;
    if (!isLead || text.slice(at, at + 2) !== "\\u") return unit;
    const back = at;
    at += 2;
    const trail = hex(4);
    if (trail !== undefined && trail >= 0xdc00 && trail <= 0xdfff) {
      return (unit - 0xd800) * 0x400 + (trail - 0xdc00) + 0x10000;
    }
    at = back;
    return unit;
  };

  /** After the backslash: a class item, or the code point of one character. */
  const escape = (isInClass: boolean): ClassItem | number | PatternNode => {
    const code = takeCode();
    const letter = String.fromCodePoint(code);
    switch (letter) {
      case "d":
      case "D":
      case "w":
      case "W":
      case "s":
      case "S":
        return { kind: "escape", letter };
      case "p":
      case "P": {
        const braced = /^\{([A-Za-z0-9_=]{1,60})\}/.exec(text.slice(at, at + 64));
        if (braced === null) return code;
        at += braced[0].length;
        return { kind: "property", name: braced[1] ?? "", isNegated: letter === "P" };
      }
      case "b":
        return isInClass ? 8 : { kind: "assertion", text: "\\b" };
      case "B":
        return isInClass ? code : { kind: "assertion", text: "\\B" };
      case "t":
        return 9;
      case "n":
        return 10;
      case "v":
        return 11;
      case "f":
        return 12;
      case "r":
        return 13;
      case "c": {
        const control = text.charCodeAt(at);
        if (!/[A-Za-z]/.test(text.charAt(at))) return code;
        at += 1;
        return control % 32;
      }
      case "x":
        return hex(2) ?? code;
      case "u":
        return unicodeEscape();
      case "0":
        return /[0-9]/.test(text.charAt(at)) ? unsupported("an octal escape") : 0;
      case "k":
        return unsupported("a back reference");
      default:
        if (/[1-9]/.test(letter)) return unsupported("a back reference");
        // Without the `u` flag `\A` would be a plain A, which is never what its author meant.
        return /[A-Za-z]/.test(letter) ? unsupported(`the escape \`\\${letter}\``) : code;
    }
  };

  const readClass = (): PatternNode => {
    const items: ClassItem[] = [];
    const isNegated = text[at] === "^";
    if (isNegated) at += 1;
    const member = (): ClassItem | number => {
      if (text[at] !== "\\") return takeCode();
      at += 1;
      const item = escape(true);
      if (typeof item === "number") return item;
      return item.kind === "escape" || item.kind === "property" ? item : 0;
    };
    const add = (item: ClassItem | number): void => {
      items.push(typeof item === "number" ? { kind: "range", from: item, to: item } : item);
    };
    while (at < text.length && text[at] !== "]") {
      const first = member();
      if (text[at] !== "-" || text[at + 1] === "]" || at + 1 >= text.length) {
        add(first);
        continue;
      }
      at += 1;
      const last = member();
      if (typeof first === "number" && typeof last === "number") {
        items.push({ kind: "range", from: Math.min(first, last), to: Math.max(first, last) });
      } else {
        add(first);
        add(0x2d);
        add(last);
      }
    }
    at += 1;
    return { kind: "set", items, isNegated };
  };

  /** After `(`. */
  const readGroup = (): PatternNode => {
    const close = <T extends PatternNode>(node: T): T => {
      at += 1;
      return node;
    };
    if (text[at] !== "?") return close(readAlternatives());
    const opening = /^\?(?:([:=!])|<([=!])|<[^=!>][^>]*>)/u.exec(text.slice(at, at + 80));
    if (opening === null) return unsupported("inline flags");
    at += opening[0].length;
    const ahead = opening[1] === ":" ? undefined : opening[1];
    const behind = opening[2];
    const inner = readAlternatives();
    if (ahead === undefined && behind === undefined) return close(inner);
    return close({
      kind: "look",
      isBehind: behind !== undefined,
      isNegated: (ahead ?? behind) === "!",
      inner,
    });
  };

  const readAtom = (): PatternNode => {
    const character = text[at];
    switch (character) {
      case ".":
        at += 1;
        return { kind: "any" };
      case "^":
      case "$":
        at += 1;
        return { kind: "assertion", text: character };
      case "[":
        at += 1;
        return readClass();
      case "(":
        at += 1;
        nesting += 1;
        if (nesting > MAX_NESTING) return unsupported("groups nested too deeply");
        try {
          return readGroup();
        } finally {
          nesting -= 1;
        }
      case "\\": {
        at += 1;
        const item = escape(false);
        if (typeof item === "number") return literal(item);
        if (item.kind === "range" || item.kind === "escape" || item.kind === "property") {
          return { kind: "set", items: [item], isNegated: false };
        }
        return item;
      }
      default:
        return literal(takeCode());
    }
  };

  const readQuantifier = (): { min: number; max: number } | undefined => {
    const character = text[at];
    const simple = { "*": [0, Infinity], "+": [1, Infinity], "?": [0, 1] }[character ?? ""];
    if (simple !== undefined) {
      at += 1;
      return { min: simple[0] ?? 0, max: simple[1] ?? 0 };
    }
    if (character !== "{") return undefined;
    const counted = /^\{(\d{1,9})(,(\d{0,9}))?\}/.exec(text.slice(at, at + 24));
    if (counted === null) return undefined;
    at += counted[0].length;
    const min = Number(counted[1]);
    if (counted[2] === undefined) return { min, max: min };
    return { min, max: counted[3] === "" ? Infinity : Number(counted[3]) };
  };

  const readSequence = (): PatternNode => {
    const parts: PatternNode[] = [];
    while (at < text.length && text[at] !== "|" && text[at] !== ")") {
      const atom = readAtom();
      const quantifier = reason === undefined ? readQuantifier() : undefined;
      if (quantifier === undefined) {
        parts.push(atom);
        continue;
      }
      if (text[at] === "?") at += 1;
      parts.push({ kind: "repeat", inner: atom, ...quantifier });
    }
    const [only] = parts;
    return parts.length === 1 && only !== undefined ? only : { kind: "sequence", parts };
  };

  function readAlternatives(): PatternNode {
    const options = [readSequence()];
    while (text[at] === "|") {
      at += 1;
      options.push(readSequence());
    }
    const [only] = options;
    return options.length === 1 && only !== undefined ? only : { kind: "alternatives", options };
  }

  const node = readAlternatives();
  if (reason !== undefined) return { ok: false, reason };
  return at < text.length ? { ok: false, reason: "an unbalanced bracket" } : { ok: true, node };
}

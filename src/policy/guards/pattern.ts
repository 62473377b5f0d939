/** Patterns in linear time: RE2 syntax, compiled once. A pattern comes from the operator, the text from anybody. */
import { RE2JS } from "re2js";

const MAX_COMPILED = 512;

const compiled = new Map<string, RE2JS>();

function compile(pattern: string): RE2JS {
  const known = compiled.get(pattern);
  if (known !== undefined) return known;
  let made: RE2JS;
  try {
    made = RE2JS.compile(pattern);
  } catch (error) {
    throw new RangeError(`pattern \`${pattern}\` is not valid RE2 syntax`, { cause: error });
  }
  if (compiled.size >= MAX_COMPILED) compiled.clear();
  compiled.set(pattern, made);
  return made;
}

/** Whether `pattern` is found anywhere in `text`. @throws RangeError for a pattern that does not compile. */
export function findsPattern(pattern: string, text: string): boolean {
  return compile(pattern).test(text);
}

/** Whether `pattern` fits the whole of `text`. @throws RangeError for a pattern that does not compile. */
export function fitsPattern(pattern: string, text: string): boolean {
  return compile(pattern).testExact(text);
}

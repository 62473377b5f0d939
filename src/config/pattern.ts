/**
 * Tool patterns: an exact name, or text with `*` for any run of characters. Their order of precedence is part of what a
 * configuration means, and does not depend on the order in the file.
 */
import { GRADES, type Grade } from "../vocabulary.ts";

/** True for a name without `*`. */
export function isExactPattern(pattern: string): boolean {
  return !pattern.includes("*");
}

/** Whether `name` fits `pattern`; time grows with the product of their lengths at worst, and never faster. */
export function matchesPattern(pattern: string, name: string): boolean {
  let at = 0;
  let inPattern = 0;
  let starAt = -1;
  let resumeAt = 0;
  while (at < name.length) {
    if (pattern[inPattern] === "*") {
      starAt = inPattern;
      resumeAt = at;
      inPattern += 1;
    } else if (pattern[inPattern] === name[at]) {
      inPattern += 1;
      at += 1;
    } else if (starAt >= 0) {
      inPattern = starAt + 1;
      resumeAt += 1;
      at = resumeAt;
    } else {
      return false;
    }
  }
  while (pattern[inPattern] === "*") inPattern += 1;
  return inPattern === pattern.length;
}

/**
 * Sorts rules: exact names first, then patterns with more literal characters, then with fewer stars; among equally specific
 * ones the more dangerous grade first, so that a tie never makes a call easier; then by text.
 */
export function compareRules(
  one: { readonly pattern: string; readonly grade: Grade | null },
  other: { readonly pattern: string; readonly grade: Grade | null },
): number {
  const exact = Number(isExactPattern(other.pattern)) - Number(isExactPattern(one.pattern));
  if (exact !== 0) return exact;
  const literal = countLiterals(other.pattern) - countLiterals(one.pattern);
  if (literal !== 0) return literal;
  const stars = one.pattern.length - other.pattern.length;
  if (stars !== 0) return stars;
  const danger = dangerOf(other.grade) - dangerOf(one.grade);
  if (danger !== 0) return danger;
  return one.pattern < other.pattern ? -1 : Number(one.pattern > other.pattern);
}

function countLiterals(pattern: string): number {
  return pattern.replaceAll("*", "").length;
}

/** A rule without a grade leaves the tool where it is: L2 unless a `default` says otherwise. */
function dangerOf(grade: Grade | null): number {
  return GRADES.indexOf(grade ?? "L2");
}

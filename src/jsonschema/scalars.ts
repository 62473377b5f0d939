/** Keywords about the value itself: `type`, `enum`, `const`, numbers and strings (JSON Schema validation, 6.1 to 6.3). */
import { isObject, report, spend, suggest, type Check, type Run } from "./check.ts";
import type { Copied, CopiedObject } from "./bounds.ts";
import type { DialectRules } from "./dialect.ts";
import { equalityKey } from "./equality.ts";
import { formatTest } from "./formats.ts";
import { kindOf, show, showList } from "./issues.ts";
import type { TestText } from "./patterns.ts";

const articles: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  integer: "an integer",
  boolean: "a boolean",
  object: "an object",
  array: "an array",
  null: "null",
};

function typeTest(name: string): (value: unknown) => boolean {
  switch (name) {
    case "string":
      return (value) => typeof value === "string";
    case "number":
      return (value) => typeof value === "number" && Number.isFinite(value);
    case "integer":
      return (value) => Number.isInteger(value);
    case "boolean":
      return (value) => typeof value === "boolean";
    case "object":
      return isObject;
    case "array":
      return Array.isArray;
    default:
      return (value) => value === null;
  }
}

/** @param types one name or several of `TYPE_NAMES`. */
export function checkType(types: Copied): Check {
  const names = (Array.isArray(types) ? types : [types]).map(String);
  const expected = names.map((name) => articles[name] ?? name).join(" or ");
  const tests = names.map(typeTest);
  const [only] = tests;
  const isOfType =
    tests.length === 1 && only !== undefined
      ? only
      : (value: unknown): boolean => tests.some((test) => test(value));
  return (value, run) => isOfType(value) || report(run, "type", `is ${kindOf(value)}`, expected);
}

/** For keys of the schema's own values, whose size is bounded already. */
const unbounded: Run = { steps: Number.POSITIVE_INFINITY, depth: 0, collector: null, scope: [] };

export function checkEnum(members: readonly Copied[]): Check {
  const keys = new Set(members.map((member) => equalityKey(member, unbounded)));
  const texts = members.filter((member) => typeof member === "string");
  const longest = texts.reduce((length, text) => Math.max(length, text.length), 0);
  const hasObjects = members.some((member) => typeof member === "object" && member !== null);
  const isMember = (value: unknown, run: Run): boolean => {
    // What is longer than every member, or an object where none is, is no member, and costs nothing.
    if (typeof value === "string") return value.length <= longest && keys.has(equalityKey(value, run));
    if (typeof value !== "object" || value === null) return keys.has(value);
    return hasObjects && keys.has(equalityKey(value, run));
  };
  return (value, run) => {
    if (isMember(value, run)) return true;
    if (run.collector === null) return false;
    const nearest = typeof value === "string" ? suggest(run, value, texts) : undefined;
    const expected = members.length === 0 ? "nothing: no value is allowed" : `one of ${showList(members)}`;
    return report(run, "enum", `${show(value)} is not allowed`, expected, { nearest });
  };
}

export function checkConst(constant: Copied): Check {
  const key = equalityKey(constant, unbounded);
  const isConstant = (value: unknown, run: Run): boolean => {
    if (typeof value === "string")
      return typeof constant === "string" && value.length === constant.length && value === constant;
    if (typeof value !== "object" || value === null) return value === key;
    return typeof constant === "object" && constant !== null && equalityKey(value, run) === key;
  };
  const expected =
    typeof constant === "object" && constant !== null
      ? `exactly ${JSON.stringify(constant).slice(0, 120)}`
      : show(constant);
  return (value, run) =>
    isConstant(value, run) || report(run, "const", `${show(value)} is not allowed`, expected);
}

type Decimal = { readonly digits: bigint; readonly exponent: number };

/** A finite number as the decimal that JSON writes for it. */
function toDecimal(value: number): Decimal {
  const [mantissa = "0", exponent = "0"] = String(Math.abs(value)).split("e");
  const [whole = "0", fraction = ""] = mantissa.split(".");
  return { digits: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length };
}

/**
 * A double is written with less than 23 digits, whose number is below 2^76. Ten to this power has every factor of 2 and 5 that
 * such a number can have, and is larger than it: a higher power divides, and is divided, alike.
 */
const MAX_POWER = 80;

/** Exact: `0.0075` is a multiple of `0.0001`, whatever their binary forms say. */
function isMultipleOf(value: number, divisor: number, run: Run): boolean {
  if (!Number.isFinite(value)) return false;
  if (Number.isSafeInteger(value) && Number.isSafeInteger(divisor)) return value % divisor === 0;
  spend(run, 15);
  const one = toDecimal(value);
  const other = toDecimal(divisor);
  const shift = one.exponent - other.exponent;
  const power = 10n ** BigInt(Math.min(Math.abs(shift), MAX_POWER));
  return shift >= 0 ? (one.digits * power) % other.digits === 0n : one.digits % (other.digits * power) === 0n;
}

/** `minimum`, `maximum`, `exclusive…` (a boolean beside them in draft-04), `multipleOf`. */
export function checkNumber(node: CopiedObject, rules: DialectRules): Check | undefined {
  const bound = (keyword: string): number | undefined => {
    const value = node[keyword];
    return typeof value === "number" ? value : undefined;
  };
  const isOldStyle = (keyword: string): boolean => rules.hasBooleanExclusive && node[keyword] === true;
  const minimum = isOldStyle("exclusiveMinimum") ? undefined : bound("minimum");
  const maximum = isOldStyle("exclusiveMaximum") ? undefined : bound("maximum");
  const above = isOldStyle("exclusiveMinimum") ? bound("minimum") : bound("exclusiveMinimum");
  const below = isOldStyle("exclusiveMaximum") ? bound("maximum") : bound("exclusiveMaximum");
  const divisor = bound("multipleOf");
  if (
    minimum === undefined &&
    maximum === undefined &&
    above === undefined &&
    below === undefined &&
    divisor === undefined
  ) {
    return undefined;
  }
  return (value, run) => {
    if (typeof value !== "number") return true;
    const isInside =
      (minimum === undefined || value >= minimum) &&
      (maximum === undefined || value <= maximum) &&
      (above === undefined || value > above) &&
      (below === undefined || value < below);
    const isMultiple = divisor === undefined || isMultipleOf(value, divisor, run);
    if (isInside && isMultiple) return true;
    if (run.collector === null) return false;
    if (minimum !== undefined && value < minimum) report(run, "minimum", `is ${value}`, `${minimum} or more`);
    if (maximum !== undefined && value > maximum) report(run, "maximum", `is ${value}`, `${maximum} or less`);
    if (above !== undefined && value <= above)
      report(run, "exclusiveMinimum", `is ${value}`, `more than ${above}`);
    if (below !== undefined && value >= below)
      report(run, "exclusiveMaximum", `is ${value}`, `less than ${below}`);
    if (!isMultiple) report(run, "multipleOf", `is ${value}`, `a multiple of ${divisor}`);
    return false;
  };
}

/** Characters as JSON Schema counts them: code points. Looks at the text only where its length in units leaves a doubt. */
function hasLength(text: string, min: number, max: number, run: Run): boolean {
  const units = text.length;
  if (units < min || units > max * 2) return false;
  if (units <= max && units >= min * 2) return true;
  spend(run, units >> 4);
  let points = 0;
  for (let at = 0; at < units; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit >= 0xd800 && unit <= 0xdbff && at + 1 < units) {
      const next = text.charCodeAt(at + 1);
      if (next >= 0xdc00 && next <= 0xdfff) at += 1;
    }
    points += 1;
  }
  return points >= min && points <= max;
}

export interface StringOptions {
  /** `undefined` where `pattern` is not enforced. */
  readonly pattern: TestText | undefined;
  readonly assertsFormat: boolean;
}

/** `minLength`, `maxLength`, `pattern`, `format`. */
export function checkString(node: CopiedObject, options: StringOptions): Check | undefined {
  const min = typeof node["minLength"] === "number" ? node["minLength"] : 0;
  const max = typeof node["maxLength"] === "number" ? node["maxLength"] : Number.POSITIVE_INFINITY;
  const hasBounds = min > 0 || max !== Number.POSITIVE_INFINITY;
  const format = typeof node["format"] === "string" ? node["format"] : "";
  const isOfFormat = options.assertsFormat ? formatTest(format) : undefined;
  const matches = options.pattern;
  if (!hasBounds && isOfFormat === undefined && matches === undefined) return undefined;
  const lengths =
    max === Number.POSITIVE_INFINITY
      ? `at least ${min} characters`
      : min > 0
        ? `${min} to ${max} characters`
        : `at most ${max} characters`;
  const pattern = typeof node["pattern"] === "string" ? node["pattern"] : "";
  return (value, run) => {
    if (typeof value !== "string") return true;
    let isValid = true;
    if (hasBounds && !hasLength(value, min, max, run)) {
      isValid = report(
        run,
        value.length < min * 2 && min > 0 ? "minLength" : "maxLength",
        `has ${value.length} characters`,
        lengths,
      );
    }
    if (matches !== undefined && (isValid || run.collector !== null) && !matches(value, run)) {
      isValid = report(run, "pattern", `${show(value)} does not match`, `text that matches ${show(pattern)}`);
    }
    if (isOfFormat !== undefined && (isValid || run.collector !== null)) {
      spend(run, value.length >> 4);
      if (!isOfFormat(value))
        isValid = report(run, "format", `${show(value)} is no ${format}`, `a ${format}`);
    }
    return isValid;
  };
}

/** What a subset of JSON Schema cannot say, in a few words for the description that a model reads. */
import { showList } from "../jsonschema/issues.ts";

const MAX_WORDS = 160;

/** `""` for a keyword that needs no words. */
export function inWords(keyword: string, value: unknown): string {
  return short(words(keyword, value));
}

function words(keyword: string, value: unknown): string {
  switch (keyword) {
    case "minLength":
      return `at least ${String(value)} characters`;
    case "maxLength":
      return `at most ${String(value)} characters`;
    case "pattern":
      return `matches ${String(value)}`;
    case "exclusiveMinimum":
      return `more than ${String(value)}`;
    case "exclusiveMaximum":
      return `less than ${String(value)}`;
    case "multipleOf":
      return `a multiple of ${String(value)}`;
    case "uniqueItems":
      return value === true ? "no item twice" : "";
    case "minProperties":
      return `at least ${String(value)} properties`;
    case "maxProperties":
      return `at most ${String(value)} properties`;
    case "enum":
      return Array.isArray(value) ? `one of ${showList(value, 30)}` : "";
    case "default":
      return typeof value === "object" ? "" : `default ${JSON.stringify(value)}`;
    case "dependentRequired":
      return "some properties need others beside them";
    default:
      return "";
  }
}

function short(text: string): string {
  return text.length <= MAX_WORDS ? text : `${text.slice(0, MAX_WORDS - 1)}…`;
}

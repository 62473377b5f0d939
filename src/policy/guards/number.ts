/** The `number` guard: a finite number inside its bounds, both inclusive. A text that is a plain decimal counts as its number. */
import type { JsonValue } from "../../base/json.ts";
import { ALLOWED, denied, type ValueVerdict } from "./verdict.ts";

const DECIMAL = /^-?\d{1,30}(\.\d{1,30})?$/;

/** @param min `null`: no lower bound. @param max `null`: no upper bound. */
export function checkNumber(value: JsonValue, min: number | null, max: number | null): ValueVerdict {
  const number =
    typeof value === "number"
      ? value
      : typeof value === "string" && DECIMAL.test(value)
        ? Number(value)
        : Number.NaN;
  if (!Number.isFinite(number)) return denied("it is not a plain number");
  if (min !== null && number < min) return denied(`${number} is below ${min}`);
  if (max !== null && number > max) return denied(`${number} is above ${max}`);
  return ALLOWED;
}

/** The values that a server proposes for an argument, taken in: they are shown to a person, and go back as they are. */
import { isJsonObject, ownProperty } from "../base/json.ts";
import type { Sliced } from "../base/slices.ts";
import { cleanForModel } from "../text/clean.ts";
import { inspection } from "../text/scan.ts";
import { createTray, finish, type Intake, type IntakeOptions } from "./intake.ts";

export interface CompletionIntake extends Intake {
  /** None where findings of high severity held them back. */
  readonly values: readonly string[];
  /** How many there are in all, where the server says it. */
  readonly total: number | null;
  readonly hasMore: boolean | null;
}

/** server/completion: at most 100. */
const MAX_VALUES = 100;
/** Values that are looked at, where some are not fit. */
const MAX_READ = 1_000;
const MAX_LENGTH = 1_000;

/**
 * Takes the `completion` of a result in. A value with hidden or control characters is left out: cleaned it would be another
 * one. Never throws.
 */
export function* completionIntake(raw: unknown, options: IntakeOptions): Sliced<CompletionIntake> {
  const tray = createTray(options);
  const list = isJsonObject(raw) ? ownProperty(raw, "values") : undefined;
  const total = isJsonObject(raw) ? ownProperty(raw, "total") : undefined;
  const hasMore = isJsonObject(raw) ? ownProperty(raw, "hasMore") : undefined;
  const values = (Array.isArray(list) ? list.slice(0, MAX_READ) : []).filter(isFit).slice(0, MAX_VALUES);
  const redacted = values.map((value) => tray.redactor.redactValues(value));
  const text = redacted.join("\n");
  tray.findings.push(...(yield* inspection(text, "/completion/values")));
  tray.content.push({ type: "text", text });
  tray.modelParts.push(text);
  const taken = finish("result", tray, options, false, undefined, undefined);
  return {
    ...taken,
    values: taken.isBlocked ? [] : redacted,
    total: typeof total === "number" && Number.isSafeInteger(total) && total >= 0 ? total : null,
    hasMore: typeof hasMore === "boolean" ? hasMore : null,
  };
}

function isFit(value: unknown): value is string {
  return typeof value === "string" && value.length <= MAX_LENGTH && cleanForModel(value) === value;
}

/** One field of a form at the terminal: how it is asked, and what a typed line means. Pure. */
import type { JsonValue } from "../base/json.ts";
import type { FormField } from "../inputs/form.ts";

export type ReadLine =
  /** `undefined`: nothing was typed, so what is preset stays. `null`: left out. */
  | { readonly kind: "value"; readonly value: JsonValue | undefined }
  | { readonly kind: "left"; readonly action: "decline" | "cancel" }
  | { readonly kind: "wrong"; readonly message: string };

const LEAVE: Readonly<Record<string, "decline" | "cancel">> = { ":decline": "decline", ":cancel": "cancel" };

/** What stands in front of the cursor. @param preset what Enter alone means. */
export function fieldPrompt(field: FormField, preset: JsonValue | undefined): string {
  const lines = [
    ...(field.description === null ? [] : [`    ${field.description}`]),
    ...("choices" in field ? field.choices.map((choice, index) => `    ${index + 1}. ${choice.label}`) : []),
  ];
  const need = field.isRequired ? ", required" : "";
  const shown = preset === undefined ? "" : ` [${showValue(field, preset)}]`;
  return `${lines.map((line) => `${line}\n`).join("")}  ${field.label} (${expectation(field)}${need})${shown}: `;
}

/** A value as the person knows it: labels for choices. */
export function showValue(field: FormField, value: JsonValue): string {
  if (Array.isArray(value)) return value.map((item) => showValue(field, item)).join(", ");
  if (typeof value === "boolean") return value ? "yes" : "no";
  const choice = "choices" in field ? field.choices.find((one) => one.value === value) : undefined;
  return choice?.label ?? (typeof value === "string" ? value : JSON.stringify(value));
}

/** What a typed line means for `field`. */
export function readFieldLine(field: FormField, line: string): ReadLine {
  const action = Object.hasOwn(LEAVE, line) ? LEAVE[line] : undefined;
  if (action !== undefined) return { kind: "left", action };
  if (line === "") return { kind: "value", value: undefined };
  if (line === "-") return { kind: "value", value: null };
  switch (field.kind) {
    case "text":
      return { kind: "value", value: line };
    case "number": {
      const value = Number(line);
      const fits = Number.isFinite(value) && (!field.isInteger || Number.isSafeInteger(value));
      return fits ? { kind: "value", value } : wrong("that is no such number");
    }
    case "boolean":
      if (/^(y|yes|true)$/iu.test(line)) return { kind: "value", value: true };
      return /^(n|no|false)$/iu.test(line) ? { kind: "value", value: false } : wrong("type yes or no");
    case "choice": {
      const value = choiceOf(field, line);
      return value === undefined ? wrong("type the number of a choice") : { kind: "value", value };
    }
    case "choices": {
      const values = line.split(",").map((part) => choiceOf(field, part.trim()));
      const known = values.filter((value) => value !== undefined);
      return known.length < values.length
        ? wrong("type numbers of choices, such as 1,3")
        : { kind: "value", value: [...new Set(known)] };
    }
  }
}

function choiceOf(
  field: Extract<FormField, { kind: "choice" | "choices" }>,
  text: string,
): string | undefined {
  const named = field.choices.find(({ value, label }) => value === text || label === text);
  return (named ?? (/^\d{1,4}$/u.test(text) ? field.choices[Number(text) - 1] : undefined))?.value;
}

function wrong(message: string): ReadLine {
  return { kind: "wrong", message };
}

function expectation(field: FormField): string {
  switch (field.kind) {
    case "text": {
      const { minLength, maxLength, format } = field;
      const what = format === null ? "text" : format === "uri" ? "address" : format;
      return `${what}${range(minLength, maxLength, " characters")}`;
    }
    case "number":
      return `${field.isInteger ? "whole number" : "number"}${range(field.minimum, field.maximum, "")}`;
    case "boolean":
      return "yes or no";
    case "choice":
      return "one of these";
    case "choices":
      return `some of these${range(field.minItems, field.maxItems, "")}`;
  }
}

function range(min: number | null, max: number | null, unit: string): string {
  if (min === null && max === null) return "";
  if (max === null) return `, at least ${min}${unit}`;
  return min === null ? `, at most ${max}${unit}` : `, ${min} to ${max}${unit}`;
}

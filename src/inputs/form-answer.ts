/** A person's answer to a form, completed with the defaults that were shown and held against the schema before it is sent. */
import { type JsonObject, type JsonValue } from "../base/json.ts";
import type { Form, FormField } from "./form.ts";

export type FormAnswer =
  | { readonly ok: true; readonly content: JsonObject }
  | {
      readonly ok: false;
      readonly problems: readonly { readonly field: string; readonly message: string }[];
    };

/**
 * @param given by field; what is left out keeps the default that was shown, `null` leaves the field out.
 * @returns only fields that were asked for.
 */
export function checkFormAnswer({ fields, schema }: Form, given: JsonObject): FormAnswer {
  const stray = Object.keys(given).filter((name) => fields.every((field) => field.name !== name));
  if (stray.length > 0) {
    return {
      ok: false,
      problems: stray.slice(0, 10).map((field) => ({ field, message: "is no field of this form" })),
    };
  }
  const content: JsonObject = {};
  for (const field of fields) {
    const value = Object.hasOwn(given, field.name) ? given[field.name] : defaultOf(field);
    if (value !== undefined && value !== null) content[field.name] = value;
  }
  const verdict = schema.validate(content);
  if (verdict.ok) return { ok: true, content };
  const problems = verdict.issues.map(({ path, message, expected }) => ({
    field:
      fields.find(({ name }) => path === `/${pointerStep(name)}`)?.name ?? missingIn(fields, content) ?? "",
    message: `${message}; expected ${expected}`,
  }));
  return { ok: false, problems };
}

/** The defaults that a form is shown with (`content` of an answer that changes nothing). */
export function defaultOf(field: FormField): JsonValue | undefined {
  if (field.default === null) return undefined;
  return field.kind === "choices" ? [...field.default] : (field.default as JsonValue);
}

function missingIn(fields: readonly FormField[], content: JsonObject): string | undefined {
  return fields.find((field) => field.isRequired && !Object.hasOwn(content, field.name))?.name;
}

function pointerStep(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}

/** The small shapes that the schema is made of: grades, durations, sizes, texts with late references, patterns. */
import { RE2JS } from "re2js";
import * as z from "zod";
import { DURATION_PATTERN, formatDuration, MAX_DURATION_MS, parseDuration } from "./duration.ts";
import { parseTemplate } from "./references.ts";
import { quoteLiteral } from "./secret-shape.ts";
import { formatSize, parseSize, SIZE_PATTERN } from "./size.ts";

/** Longest text of a configuration value. */
const MAX_TEXT = 32_768;

export const gradeSchema = z.enum(["L0", "L1", "L2", "L3", "off"]);

export const labelsSchema = z
  .array(z.enum(["private", "public", "untrusted", "trusted", "external", "internal"]))
  .max(3)
  .superRefine((labels, context) => {
    for (const [one, other] of [
      ["private", "public"],
      ["untrusted", "trusted"],
      ["external", "internal"],
    ] as const) {
      if (labels.includes(one) && labels.includes(other)) {
        context.addIssue({
          code: "custom",
          message: `\`${one}\` and \`${other}\` exclude each other: keep one`,
        });
      }
    }
  });

/** Plain text: no control characters but tab and line break. */
export function textSchema(maxLength: number): z.ZodString {
  return z
    .string()
    .max(maxLength)
    .regex(/^[^\u0000-\u0008\u000B-\u001F\u007F]*$/, "control characters are not allowed here");
}

/** Text that may hold late references; checked for their syntax only. */
export const lateTextSchema = z
  .string()
  .max(MAX_TEXT)
  .superRefine((text, context) => {
    if (text.includes("\0"))
      context.addIssue({ code: "custom", message: "a NUL character is not allowed here" });
    const parsed = parseTemplate(text);
    if (!parsed.ok) context.addIssue({ code: "custom", message: parsed.message });
  });

/** A duration such as `"30s"` between two bounds (milliseconds, inclusive). */
export function durationSchema(minMs: number, maxMs: number = MAX_DURATION_MS): z.ZodString {
  const advice = 'write a whole number and a unit, for example "500ms", "30s", "5m", "2h" or "90d"';
  return z
    .string({ error: advice })
    .regex(DURATION_PATTERN, advice)
    .superRefine((text, context) => {
      const durationMs = parseDuration(text);
      if (durationMs !== null && durationMs >= minMs && durationMs <= maxMs) return;
      const range = `between "${formatDuration(minMs)}" and "${formatDuration(maxMs)}"`;
      if (DURATION_PATTERN.test(text)) context.addIssue({ code: "custom", message: `must lie ${range}` });
    });
}

/** Words for a union: what would have been right, and what stands there. */
export function expected(what: string): (issue: { readonly input?: unknown }) => string {
  return (issue) => `expected ${what}, got ${quoteLiteral(issue.input)}`;
}

/** A number of bytes or a text such as `"1MiB"`, between two bounds (bytes, inclusive). */
export function sizeSchema(minBytes: number, maxBytes: number): z.ZodUnion<readonly [z.ZodInt, z.ZodString]> {
  const error = expected('a number of bytes, or a whole number and a unit such as "64KiB" or "1MiB"');
  const outside = `must lie between "${formatSize(minBytes)}" and "${formatSize(maxBytes)}"`;
  const bytesError: z.core.$ZodErrorMap = (issue) => (issue.code === "invalid_type" ? error(issue) : outside);
  return z
    .union(
      [z.int({ error: bytesError }).min(0, { error: outside }), z.string().regex(SIZE_PATTERN, { error })],
      { error },
    )
    .superRefine((size, context) => {
      const bytes = parseSize(size);
      if (bytes === null || (bytes >= minBytes && bytes <= maxBytes)) return;
      context.addIssue({ code: "custom", message: outside });
    });
}

/** A whole number between two bounds, inclusive. */
export function countSchema(min: number, max: number): z.ZodInt {
  return z.int().min(min).max(max);
}

/** A regular expression in RE2 syntax, which matches in linear time: no look-around, no back-references. */
export const regexSchema = z
  .string()
  .min(1)
  .max(1_000)
  .superRefine((pattern, context) => {
    try {
      RE2JS.compile(pattern);
    } catch {
      context.addIssue({
        code: "custom",
        message:
          "is no regular expression in RE2 syntax (look-around and back-references do not exist there)",
      });
    }
  });

/** A host name, or `*.` and a host name for its subdomains; no scheme, no path. */
export const hostSchema = z
  .string()
  .max(255)
  .regex(
    /^(\*\.)?([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]*[a-z0-9])?(:[0-9]{1,5})?$|^\[[0-9a-f:.]+\](:[0-9]{1,5})?$/i,
    'write a host such as "api.example.com", or "*.example.com" for its subdomains: no scheme, no path',
  );

/** Any JSON object; its inside is not checked here. */
export const jsonObjectSchema = z.record(z.string(), z.unknown());

/** RFC 9110 token. */
export const headerNameSchema = z
  .string()
  .max(256)
  .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, "is no name of an HTTP header");

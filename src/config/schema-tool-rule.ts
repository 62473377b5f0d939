/** Schema of one rule under `tools`: a grade alone, or an object. */
import * as z from "zod";
import {
  durationSchema,
  expected,
  gradeSchema,
  hostSchema,
  jsonObjectSchema,
  labelsSchema,
  regexSchema,
  textSchema,
} from "./schema-values.ts";

/** Name of an argument, dotted for one inside another. */
const argumentSchema = textSchema(256).min(1);

const argumentTestSchema = z.strictObject({
  equals: z.unknown().describe("True where the argument is exactly this JSON value.").optional(),
  matches: regexSchema.describe("True where this RE2 pattern is found in the argument.").optional(),
  notMatches: regexSchema.describe("True where this RE2 pattern is not found in the argument.").optional(),
  above: z.number().describe("True where the argument is a number above this one.").optional(),
  below: z.number().describe("True where the argument is a number below this one.").optional(),
  isPresent: z
    .boolean()
    .describe("True where the argument is given (`true`) or left out (`false`).")
    .optional(),
});

const conditionSchema = z.strictObject({
  arguments: z
    .record(argumentSchema, argumentTestSchema)
    .refine((tests) => Object.keys(tests).length > 0, "name at least one argument")
    .describe("Tests by argument name (dotted for one inside another); all of them must hold."),
  grade: gradeSchema.describe("Grade of a call whose arguments fit; it can only raise the tool's grade."),
});

/** One guard, or several of the same kind for different arguments. */
function oneOrMore<T extends z.ZodType>(schema: T, what: string): z.ZodUnion<[T, z.ZodArray<T>]> {
  return z.union([schema, z.array(schema).min(1).max(32)], { error: expected(`${what}, or a list of them`) });
}

const guardSchema = z.strictObject({
  sql: oneOrMore(
    z.strictObject({
      argument: argumentSchema.describe("The argument that holds the statement."),
      dialect: z
        .enum(["postgresql", "mysql", "sqlite"])
        .describe("Whose grammar is used. Default `postgresql`.")
        .optional(),
      maxRows: z.int().min(1).max(1_000_000).describe("The LIMIT that is enforced. Default 1000.").optional(),
    }),
    "an object with `argument`",
  )
    .describe("Lets a single SELECT through and caps its rows.")
    .optional(),
  path: oneOrMore(
    z.strictObject({
      argument: argumentSchema.describe("The argument that holds the path."),
      roots: z
        .array(textSchema(4_096).min(1))
        .min(1)
        .max(64)
        .describe("Folders that the path must lie in, relative to the configuration file."),
    }),
    "an object with `argument` and `roots`",
  )
    .describe("Keeps a path inside folders, after links and `..` are resolved.")
    .optional(),
  url: oneOrMore(
    z.strictObject({
      argument: argumentSchema.describe("The argument that holds the URL."),
      hosts: z
        .array(hostSchema)
        .min(1)
        .max(256)
        .describe("Hosts that the URL may name; `*.` for subdomains."),
    }),
    "an object with `argument` and `hosts`",
  )
    .describe("Keeps a URL to the hosts named.")
    .optional(),
  number: oneOrMore(
    z
      .strictObject({
        argument: argumentSchema.describe("The argument that holds the number."),
        min: z.number().describe("The smallest value allowed.").optional(),
        max: z.number().describe("The largest value allowed.").optional(),
      })
      .refine((guard) => guard.min !== undefined || guard.max !== undefined, "give `min`, `max` or both")
      .refine((guard) => (guard.min ?? -Infinity) <= (guard.max ?? Infinity), "`min` is above `max`"),
    "an object with `argument` and `min` or `max`",
  )
    .describe("Keeps a number in a range.")
    .optional(),
  match: oneOrMore(
    z.strictObject({
      argument: argumentSchema.describe("The argument that holds the text."),
      pattern: regexSchema.describe("The RE2 pattern that the whole text must match."),
    }),
    "an object with `argument` and `pattern`",
  )
    .describe("Lets only text through that matches a pattern.")
    .optional(),
});

/** A tool to call, with arguments made from templates. */
function callSchema(
  argsText: string,
): z.ZodObject<{ tool: z.ZodString; args: z.ZodOptional<typeof jsonObjectSchema> }, z.core.$strict> {
  return z.strictObject({
    tool: textSchema(256).min(1).describe("A tool of the same server."),
    args: jsonObjectSchema.describe(argsText).optional(),
  });
}

const ruleObjectSchema = z.strictObject({
  grade: gradeSchema
    .describe(
      "`L0` read, `L1` reversible write, `L2` hard to reverse, `L3` irreversible, `off`. Default: the server's `default`.",
    )
    .optional(),
  enabled: z.boolean().describe("An L3 tool does nothing without `true`. Default `false`.").optional(),
  ask: z.boolean().describe("Ask before an L1 call too. Default `false`.").optional(),
  when: z.array(conditionSchema).max(64).describe("Higher grades for calls whose arguments fit.").optional(),
  say: textSchema(500)
    .min(1)
    .describe("The sentence shown to the person who approves; `{argument}` stands for an argument's value.")
    .optional(),
  preview: callSchema("Its arguments; `$arguments.name` stands for an argument of the call.")
    .describe("A read tool that shows how things are before the call.")
    .optional(),
  items: argumentSchema.describe("The argument that holds a list, shown item by item.").optional(),
  confirm: argumentSchema
    .describe("The argument whose value must be typed to confirm an L3 call. Default: the tool's name.")
    .optional(),
  guard: guardSchema.describe("Checks of the arguments beyond the tool's schema.").optional(),
  undo: callSchema("Its arguments; `$arguments.name` and `$result.name` stand for values of the call.")
    .describe("The call that takes this one back within 30 seconds.")
    .optional(),
  idempotent: z
    .boolean()
    .describe("Sending the call twice does no more than once, so it may be retried. Default `false`.")
    .optional(),
  labels: labelsSchema.describe("What flows through the tool. Default: the server's `labels`.").optional(),
  timeout: durationSchema(1_000)
    .describe("Time without progress for this tool. Default: the server's `limits.timeout`.")
    .optional(),
  schema: jsonObjectSchema
    .describe("A JSON Schema for the arguments, in place of the one that the server gives.")
    .optional(),
});

export const toolRuleSchema = z.union([gradeSchema, ruleObjectSchema], {
  error: expected("a grade (`L0`, `L1`, `L2`, `L3`, `off`) or an object with `grade`"),
});

export type RawToolRule = z.infer<typeof ruleObjectSchema>;
export type RawGuard = z.infer<typeof guardSchema>;

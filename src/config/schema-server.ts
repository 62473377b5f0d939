/** Schema of one entry of `mcpServers`: a superset of the `.mcp.json` of other clients. */
import * as z from "zod";
import { authSchema } from "./schema-auth.ts";
import {
  countSchema,
  durationSchema,
  expected,
  gradeSchema,
  headerNameSchema,
  labelsSchema,
  lateTextSchema,
  sizeSchema,
  textSchema,
} from "./schema-values.ts";
import { toolRuleSchema } from "./schema-tool-rule.ts";

/** Names of variables that every operating system takes. */
const variableNameSchema = z
  .string()
  .max(256)
  .regex(/^[A-Za-z_][A-Za-z0-9_()]*$/, "is no name of an environment variable: use letters, digits and `_`");

/** Exact name or pattern of tools. */
const patternSchema = textSchema(256)
  .min(1)
  .refine((pattern) => pattern.split("*").length <= 9, "a pattern may hold at most eight `*`");

const limitsSchema = z.strictObject({
  timeout: durationSchema(1_000).describe("Time of a call without progress. Default `30s`.").optional(),
  total: durationSchema(1_000).describe("Time of a call in all. Default `10m`.").optional(),
  connect: durationSchema(1_000)
    .describe(
      "Time to get ready. Default `30s`; `2m` where a runner such as `npx` may have to download first.",
    )
    .optional(),
  concurrency: countSchema(1, 1_024).describe("Calls at once on one connection. Default 8.").optional(),
  perMinute: countSchema(1, 100_000)
    .describe("Calls a minute for each tool and principal. Default: no limit.")
    .optional(),
  resultBytes: sizeSchema(1_024, 268_435_456)
    .describe("Kept of one result; the rest is stored and can be paged. Default `1MiB`.")
    .optional(),
  modelTokens: countSchema(100, 1_000_000)
    .describe("Tokens of one result that a model sees. Default 25000.")
    .optional(),
  messageBytes: sizeSchema(65_536, 1_073_741_824)
    .describe("One line or message; beyond it the connection ends. Default `16MiB`.")
    .optional(),
});

const scopeSchema = z.strictObject({
  may: textSchema(500).min(1).describe("What the server is for, in plain words.").optional(),
  mayNot: textSchema(500).min(1).describe("What it must never be used for, in plain words.").optional(),
});

const degradedSchema = z.strictObject({
  say: textSchema(500)
    .min(1)
    .describe("The sentence for a person while old answers are given; `{tool}` and `{asOf}` are filled in.")
    .optional(),
  maxAge: durationSchema(1_000).describe("How old an answer may be. Default `1d`.").optional(),
});

const rolloutSchema = z.strictObject({
  percent: z
    .number()
    .min(0)
    .max(100)
    .describe("Share of principals who see the server. Default 0.")
    .optional(),
  principals: z
    .array(textSchema(256).min(1))
    .max(10_000)
    .describe("Principals who always see it.")
    .optional(),
});

const sandboxSchema = z.strictObject({
  read: z.array(textSchema(4_096).min(1)).max(256).describe("Files and folders that it may read.").optional(),
  write: z
    .array(textSchema(4_096).min(1))
    .max(256)
    .describe("Files and folders that it may write.")
    .optional(),
  net: z
    .array(
      z.literal("any", {
        error:
          'hosts cannot be told apart in a sandbox: write ["any"] for the whole network, or leave it out for none',
      }),
    )
    .max(1)
    .describe("`any`: the network of this machine, its loopback included. Default: none.")
    .optional(),
});

export const serverSchema = z.strictObject({
  command: lateTextSchema
    .min(1)
    .describe(
      "Program of a local server; found through PATH, or relative to the configuration file where it holds a `/`.",
    )
    .optional(),
  args: z.array(lateTextSchema).max(1_024).describe("Its arguments. No shell reads them.").optional(),
  env: z
    .record(variableNameSchema, lateTextSchema)
    .describe("Its environment, besides PATH, HOME and the few names that an operating system needs.")
    .optional(),
  cwd: textSchema(4_096)
    .min(1)
    .describe("Its working directory. Default: the folder of the configuration file.")
    .optional(),
  url: lateTextSchema.min(1).describe("Address of a remote server: `https://…`.").optional(),
  headers: z
    .record(headerNameSchema, lateTextSchema)
    .describe("Headers for that address alone; secrets belong into references.")
    .optional(),
  transport: z
    .enum(["sse"])
    .describe("`sse` opts in to the deprecated HTTP+SSE transport of 2024-11-05. Default: Streamable HTTP.")
    .optional(),
  type: z
    .enum(["stdio", "http", "sse", "streamable-http", "streamableHttp", "local", "remote"])
    .describe("As other clients write it; not needed, because `command` or `url` says it.")
    .optional(),
  timeout: z
    .int("write milliseconds, as other clients do, or better a duration in `limits.timeout`")
    .min(
      1_000,
      'is under a second: it means milliseconds here; write a duration in `limits`, for example "timeout": "60s"',
    )
    .max(86_400_000)
    .describe("As other clients write it: milliseconds of a call without progress. Better: `limits.timeout`.")
    .optional(),
  disabled: z.boolean().describe("Leaves the server out without removing it. Default `false`.").optional(),
  auth: authSchema.describe("How Portcullis authenticates itself to a remote server.").optional(),
  source: z
    .enum(["official", "own", "audited"], {
      error: (issue) =>
        issue.input === "custom" || issue.input === "extension"
          ? "is Zed's: remove it, or say why you trust the server: `official`, `own` or `audited`"
          : undefined,
    })
    .describe("Why you trust the server at all. Patterns below L2 count only where it is set.")
    .optional(),
  scope: scopeSchema.describe("What the server may be used for; shown to models and in reports.").optional(),
  tools: z
    .record(patternSchema, toolRuleSchema, {
      error: (issue) =>
        Array.isArray(issue.input)
          ? 'is a list, as Copilot writes it: write grades instead, for example "tools": { "NAME": "L0" }, or remove it'
          : undefined,
    })
    .describe(
      "Rules by exact tool name or by pattern with `*`; exact beats pattern, the more specific pattern wins.",
    )
    .optional(),
  default: gradeSchema.describe("Grade of tools that no rule names. Default `L2`.").optional(),
  labels: labelsSchema
    .describe("What flows through the server. Default: `private`, `untrusted`, and writes as `external`.")
    .optional(),
  limits: limitsSchema.describe("Time, numbers and sizes.").optional(),
  connect: z
    .enum(["lazy", "eager"])
    .describe("Start when first needed, or at once. Default `lazy`.")
    .optional(),
  idleStop: z
    .union([durationSchema(1_000), z.literal("never")], {
      error: expected('a duration such as "15m", or "never"'),
    })
    .describe(
      "A local server, or the session of one principal (`auth.per`), stops after so long without a call; a remote server for all is kept. Default `15m`; `never`.",
    )
    .optional(),
  scan: z
    .enum(["note", "mark", "block"])
    .describe(
      "Suspicious results: noted only, marked for the model, or those of high severity blocked until a person releases them. Default `block`.",
    )
    .optional(),
  inputs: z
    .array(z.enum(["elicitation", "sampling", "roots"]))
    .describe(
      "What the server may ask during a call: forms and addresses, a model's answer, folders. Default: whatever is answered at all; behind the gateway forms and addresses, and nothing by a local server of a revision with `initialize`, which then runs one call at a time.",
    )
    .optional(),
  degraded: degradedSchema
    .describe("Answer L0 calls from the last good result while the server is away. Default: off.")
    .optional(),
  rollout: rolloutSchema.describe("Who sees the server. Default: everybody.").optional(),
  sandbox: sandboxSchema
    .describe("Runs a local server in a sandbox that allows only what is named.")
    .optional(),
  allowPrivateAddresses: z
    .boolean()
    .describe(
      "Lets the server be on a private or loopback address; plain http then too, but to loopback only. Default `false`.",
    )
    .optional(),
});

export type RawServer = z.infer<typeof serverSchema>;

/** Schema of a whole configuration. Unknown keys are errors at every level. */
import * as z from "zod";
import { serverSchema } from "./schema-server.ts";
import {
  countSchema,
  durationSchema,
  expected,
  headerNameSchema,
  hostSchema,
  lateTextSchema,
  textSchema,
} from "./schema-values.ts";

/** Names of servers: they are part of the names that a model sees, so no white space and no `__`. */
const serverNameSchema = z
  .string()
  .max(64)
  .regex(
    /^[A-Za-z0-9](?:[A-Za-z0-9.-]|_(?!_))*$/,
    "is no server name: use up to 64 letters, digits, `.`, `-` and single `_`, beginning with a letter or digit",
  )
  .refine((name) => name.toLowerCase() !== "portcullis", "is the name of Portcullis itself: choose another");

/** Cap on servers, so that a hostile file cannot make start-up endless. */
const MAX_SERVERS = 1_000;

const egressSchema = z.strictObject({
  allow: z
    .array(hostSchema)
    .max(1_000)
    .describe("Hosts that may be reached besides those of the configured servers; `*.` for subdomains.")
    .optional(),
  proxy: lateTextSchema.min(1).describe("URL of a proxy for everything that goes out.").optional(),
  certificates: z
    .array(textSchema(4_096).min(1))
    .max(64)
    .describe("PEM files with further certificate authorities, relative to the configuration file.")
    .optional(),
});

const channelsSchema = z.array(z.enum(["terminal", "console", "callback"])).max(3);

const channelsByGradeSchema = z.strictObject({
  L0: channelsSchema.describe("For L0 calls that have to be asked about.").optional(),
  L1: channelsSchema.describe("For L1 calls.").optional(),
  L2: channelsSchema.describe("For L2 calls.").optional(),
  L3: channelsSchema.describe("For L3 calls.").optional(),
});

const approvalsSchema = z.strictObject({
  timeout: durationSchema(1_000, 86_400_000)
    .describe("A question that nobody answers in time is refused. Default `5m`.")
    .optional(),
  grants: z
    .enum(["off", "on"])
    .describe("Whether a person may allow more than one call at once. Default `off`.")
    .optional(),
  channels: z
    .union([channelsSchema, channelsByGradeSchema], {
      error: expected('a list of "terminal", "console", "callback", or an object with such a list per grade'),
    })
    .describe("Where a person may answer, in general or per grade. Default: all of them.")
    .optional(),
  provenance: z
    .enum(["ask", "deny"])
    .describe(
      "What becomes of an L2 or L3 call with values that came out of a tool: asked about, or refused. Default `ask`.",
    )
    .optional(),
  yes: z
    .boolean()
    .describe(
      "Whether `--yes` on the command line counts as the approval of the person at the terminal. Default `true`.",
    )
    .optional(),
});

const auditSchema = z.strictObject({
  retention: durationSchema(86_400_000)
    .describe("How long records of calls are kept. Default `90d`.")
    .optional(),
});

const gatewaySchema = z.strictObject({
  listen: z
    .string()
    .max(300)
    .regex(
      /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+):[0-9]{1,5}$/,
      'write host and port, for example "127.0.0.1:7420"',
    )
    .refine(
      (listen) => !(Number(listen.slice(listen.lastIndexOf(":") + 1)) > 65_535),
      "the port is above 65535",
    )
    .describe("Host and port of `portcullis serve`; port 0 takes a free one. Default `127.0.0.1:7420`.")
    .optional(),
  requireToken: z
    .boolean()
    .describe("Whether `/mcp` needs a token on loopback; elsewhere it always does. Default `true`.")
    .optional(),
});

const hostLimitsSchema = z.strictObject({
  concurrency: countSchema(1, 100_000).describe("Calls at once over all servers. Default 64.").optional(),
  startAtOnce: countSchema(1, 256)
    .describe("Servers that are started at the same time. Default 8.")
    .optional(),
});

const notifySchema = z.strictObject({
  desktop: z.boolean().describe("Show a desktop notification. Default `false`.").optional(),
  command: z
    .array(lateTextSchema)
    .min(1)
    .max(64)
    .describe("Run a program; it reads the notice as JSON from standard input. No shell.")
    .optional(),
  webhook: lateTextSchema.min(1).describe("POST the notice as JSON to this URL.").optional(),
});

const logSchema = z.strictObject({
  level: z
    .enum(["error", "warn", "info", "debug"])
    .describe("The least important lines that are written. Default `info`.")
    .optional(),
  format: z.enum(["text", "json"]).describe("Default `text`.").optional(),
});

const telemetrySchema = z.strictObject({
  endpoint: lateTextSchema
    .min(1)
    .describe(
      "URL of an OpenTelemetry collector (OTLP over HTTP), without `/v1/traces`. Default: as `OTEL_EXPORTER_OTLP_ENDPOINT` says, else `http://localhost:4318`.",
    )
    .optional(),
  headers: z
    .record(headerNameSchema, lateTextSchema)
    .describe("Headers of every request to `endpoint`.")
    .optional(),
  sample: z
    .number()
    .min(0)
    .max(1)
    .describe("Share of the traces that begin here and are kept. Default 1.")
    .optional(),
  interval: durationSchema(1_000, 3_600_000)
    .describe("How often metrics are sent. Default `60s`.")
    .optional(),
});

export const configSchema = z.strictObject({
  $schema: z.string().max(2_048).describe("Where editors find this schema.").optional(),
  mcpServers: z
    .record(serverNameSchema, serverSchema)
    .refine((servers) => Object.keys(servers).length <= MAX_SERVERS, `more than ${MAX_SERVERS} servers`)
    .describe("The servers by name. A server that is not here does not exist.")
    .optional(),
  egress: egressSchema.describe("Where bytes may go.").optional(),
  approvals: approvalsSchema.describe("How a person is asked.").optional(),
  audit: auditSchema.describe("The record of calls.").optional(),
  gateway: gatewaySchema.describe("The gateway and the console (`portcullis serve`).").optional(),
  store: lateTextSchema
    .min(1)
    .describe(
      "Where state lives: an absolute folder outside any checkout, or a `postgresql://` URL of a database that several hosts share. Default: the user's state directory.",
    )
    .optional(),
  limits: hostLimitsSchema.describe("Limits over all servers.").optional(),
  notify: notifySchema.describe("How a person hears of waiting approvals and alerts.").optional(),
  catalog: z
    .union([z.enum(["whole", "search"]), countSchema(0, 10_000_000)], {
      error: expected('"whole", "search", or a number of tokens above which tools are offered by search'),
    })
    .describe(
      "How tools are offered to a model: `whole`, `search`, or a number of tokens above which it is by search. Default 6000.",
    )
    .optional(),
  log: logSchema.describe("What is written to standard error.").optional(),
  telemetry: telemetrySchema
    .describe("Traces and metrics of `portcullis serve` for OpenTelemetry. Without it: as `OTEL_*` say.")
    .optional(),
});

export type RawConfig = z.infer<typeof configSchema>;

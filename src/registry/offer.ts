/**
 * What a model is offered: all tools, or, when they would fill too much of its window, three tools of our own by which it finds
 * and calls the others. The estimate needs no tokenizer: about 3.6 bytes of JSON are a token.
 */
import type { JsonObject } from "../base/json.ts";
import { RESERVED_PREFIX } from "./naming.ts";
import type { OfferedTool } from "./providers.ts";

const BYTES_PER_TOKEN = 3.6;
const DEFAULT_WINDOW_TOKENS = 200_000;
const DEFAULT_SHARE = 0.03;

/** Estimated tokens of one tool as a provider's request holds it. */
export function estimateTokens(tool: OfferedTool): number {
  const text = JSON.stringify({
    name: tool.exposedName,
    description: tool.description ?? "",
    input_schema: tool.inputSchema,
  });
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);
}

type OfferMode = "whole" | "search" | "threshold";

export interface OfferOptions {
  /** `threshold` (default): `whole` up to `share` of the window, `search` beyond. */
  readonly mode?: OfferMode;
  readonly windowTokens?: number;
  readonly share?: number;
}

export interface Offer {
  readonly kind: "whole" | "search";
  readonly tools: readonly OfferedTool[];
  /** What the whole catalog would cost, and what this offer costs. */
  readonly wholeTokens: number;
  readonly tokens: number;
}

export function offerByThreshold(tools: readonly OfferedTool[], options: OfferOptions = {}): Offer {
  const limit = (options.windowTokens ?? DEFAULT_WINDOW_TOKENS) * (options.share ?? DEFAULT_SHARE);
  const wholeTokens = tools.reduce((sum, tool) => sum + estimateTokens(tool), 0);
  const mode = options.mode ?? "threshold";
  const isWhole = mode === "whole" || (mode === "threshold" && wholeTokens <= limit);
  if (isWhole) return { kind: "whole", tools, wholeTokens, tokens: wholeTokens };
  const tokens = META_TOOLS.reduce((sum, tool) => sum + estimateTokens(tool), 0);
  return { kind: "search", tools: META_TOOLS, wholeTokens, tokens };
}

export const META_TOOL_NAMES = {
  find: `${RESERVED_PREFIX}find_tools`,
  describe: `${RESERVED_PREFIX}describe_tool`,
  call: `${RESERVED_PREFIX}call_tool`,
} as const;

function schemaOf(properties: JsonObject, required: readonly string[]): JsonObject {
  return { type: "object", properties, required: [...required], additionalProperties: false };
}

/** The meta tools. `call_tool` goes through the same spine as every call: it opens nothing that is closed. */
export const META_TOOLS: readonly OfferedTool[] = [
  {
    exposedName: META_TOOL_NAMES.find,
    description:
      "Finds tools by what they do. Returns names with one line each; look at one with describe_tool before you call it.",
    inputSchema: schemaOf(
      {
        query: {
          type: "string",
          description: "What you want to do, in a few words",
          minLength: 1,
          maxLength: 300,
        },
        server: { type: "string", description: "Only tools of this server" },
        limit: { type: "integer", minimum: 1, maximum: 30, default: 10 },
      },
      ["query"],
    ),
  },
  {
    exposedName: META_TOOL_NAMES.describe,
    description: "The full description of one tool and the schema of its arguments.",
    inputSchema: schemaOf(
      { name: { type: "string", description: "Name as find_tools gave it", maxLength: 128 } },
      ["name"],
    ),
  },
  {
    exposedName: META_TOOL_NAMES.call,
    description: "Calls a tool that find_tools found.",
    inputSchema: schemaOf(
      {
        name: { type: "string", description: "Name as find_tools gave it", maxLength: 128 },
        arguments: {
          type: "object",
          description: "As the schema of the tool says",
          properties: {},
          additionalProperties: true,
        },
      },
      ["name"],
    ),
  },
];

/** All tools of an offer in the form of one provider, and the way back from what its model calls. Pure. */
import { PortcullisError } from "../errors.ts";
import { parseJson, type JsonObject } from "../base/json.ts";
import type { Tool } from "../protocol/types.ts";
import {
  toAiSdkTools,
  toAnthropicTools,
  toGeminiTools,
  toOpenAiChatTools,
  toOpenAiResponsesTools,
  type AiSdkTool,
  type AnthropicTool,
  type GeminiFunction,
  type OfferedTool,
  type OpenAiChatTool,
  type OpenAiResponsesTool,
  type ProviderTool,
} from "./providers.ts";

/** What a request to each provider takes as its tools. */
export interface ProviderTools {
  /** `tools` of the Messages API. */
  readonly anthropic: readonly AnthropicTool[];
  /** `tools` of Chat Completions. */
  readonly "openai-chat": readonly OpenAiChatTool[];
  /** `tools` of the Responses API. */
  readonly "openai-responses": readonly OpenAiResponsesTool[];
  /** `functionDeclarations`. */
  readonly gemini: readonly GeminiFunction[];
  /** By name, for `dynamicTool` and `jsonSchema` of the AI SDK. */
  readonly "ai-sdk": Readonly<Record<string, AiSdkTool>>;
  /** As an MCP server lists them. */
  readonly mcp: readonly Tool[];
}

export type Provider = keyof ProviderTools;

export interface ProviderFormOptions {
  /** OpenAI: strict schemas for the tools that have a faithful strict form. Default false. */
  readonly strict?: boolean;
}

type ToArguments = (input: unknown) => unknown;

export interface ProviderForm<P extends Provider> {
  readonly tools: ProviderTools[P];
  /** By exposed name: the arguments that the model gave, as the server names them. */
  readonly toArguments: ReadonlyMap<string, ToArguments>;
  /** What the form could not say, a sentence each, with the tool's name before it. */
  readonly notes: readonly string[];
}

type Form<P extends Provider> = (
  tools: readonly OfferedTool[],
  options: ProviderFormOptions,
) => ProviderForm<P>;

const forms: { readonly [P in Exclude<Provider, "mcp">]: Form<P> } = {
  anthropic: (tools) => inForm(toAnthropicTools(tools)),
  "openai-chat": (tools, options) => inForm(toOpenAiChatTools(tools, options)),
  "openai-responses": (tools, options) => inForm(toOpenAiResponsesTools(tools, options)),
  gemini: (tools) => inForm(toGeminiTools(tools)),
  "ai-sdk"(tools) {
    const made = Object.values(toAiSdkTools(tools));
    const byName = made.map(({ exposedName, definition }) => [exposedName, definition] as const);
    return { ...inForm(made), tools: Object.fromEntries(byName) };
  },
};

/** All but MCP's own form, which needs more than what is offered. @throws PortcullisError `usage` for a form that there is not. */
export function toProviderForm<P extends Exclude<Provider, "mcp">>(
  provider: P,
  tools: readonly OfferedTool[],
  options: ProviderFormOptions = {},
): ProviderForm<P> {
  if (!Object.hasOwn(forms, provider))
    throw new PortcullisError(
      "usage",
      `there is no form for \`${String(provider)}\`: one of ${Object.keys(forms).join(", ")}, mcp`,
    );
  return forms[provider](tools, options);
}

function inForm<Definition>(made: readonly ProviderTool<Definition>[]) {
  return {
    tools: made.map(({ definition }) => definition),
    toArguments: new Map(made.map((tool) => [tool.exposedName, tool.toArguments])),
    notes: made.flatMap(({ exposedName, notes }) => notes.map((note) => `${exposedName}: ${note}`)),
  };
}

/** Longer texts are left to the check of the arguments, which refuses them. */
const MAX_TEXT = 1_048_576;

/** The arguments as the server names them. @param input an object, or the JSON text of one as some providers give it. */
export function readProviderInput(toArguments: ToArguments, input: unknown): JsonObject | string {
  const given = typeof input === "string" && input.length <= MAX_TEXT ? (parseJson(input) ?? input) : input;
  // What is no object stays what it is: the check says what is wrong with it.
  return toArguments(given) as JsonObject | string;
}

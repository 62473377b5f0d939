/**
 * The catalog in the form of a model's provider: plain objects, no SDK. One tool that cannot be said well is simplified, never a
 * broken request: our own check stays, and `toArguments` gives back what the server expects.
 */
import type { JsonObject } from "../base/json.ts";
import { isJsonObject, ownProperty } from "../base/json.ts";
import type { Tool } from "../protocol/types.ts";
import { clip } from "../text/clean.ts";
import type { RegisteredTool } from "./registry.ts";
import { exportSchema, type ExportedSchema } from "./schema-export.ts";
import {
  anthropicProfile,
  geminiProfile,
  openAiProfile,
  openAiStrictProfile,
  portableProfile,
  type SchemaProfile,
} from "./schema-profile.ts";
import { cleanSchemaForModel } from "./schema-text.ts";

/** Anything that can be offered: a registered tool, or one of Portcullis's own. */
export interface OfferedTool {
  readonly exposedName: string;
  readonly description: string | null;
  readonly inputSchema: JsonObject;
}

/** One tool in a provider's form. */
export interface ProviderTool<Definition> {
  readonly exposedName: string;
  readonly definition: Definition;
  /** What the form could not say, a sentence each. */
  readonly notes: readonly string[];
  /** The arguments that the model gave, as the server names them. Give its answer to `checkArguments`. */
  readonly toArguments: (input: unknown) => unknown;
}

export interface AnthropicTool {
  readonly name: string;
  readonly description: string;
  readonly input_schema: JsonObject;
}

interface OpenAiFunction {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonObject;
  readonly strict: boolean;
}

export interface OpenAiChatTool {
  readonly type: "function";
  readonly function: OpenAiFunction;
}

export interface OpenAiResponsesTool extends OpenAiFunction {
  readonly type: "function";
}

export interface GeminiFunction {
  readonly name: string;
  readonly description: string;
  readonly parametersJsonSchema: JsonObject;
}

/** The Vercel AI SDK's tool without its functions: `inputSchema` goes through the SDK's `jsonSchema()`. */
export interface AiSdkTool {
  readonly description: string;
  readonly inputSchema: JsonObject;
}

/** OpenAI takes 1,024 characters for a function; the others have no documented limit that an entry could reach. */
const MAX_OPENAI_DESCRIPTION = 1_024;

/** What is offered of a registered tool. */
export function offered(tool: RegisteredTool): OfferedTool {
  return {
    exposedName: tool.exposedName,
    description: tool.entry.modelDescription,
    inputSchema: tool.entry.inputSchema,
  };
}

function build<Definition>(
  tools: readonly OfferedTool[],
  profile: SchemaProfile,
  define: (tool: OfferedTool, exported: ExportedSchema) => Definition,
): readonly ProviderTool<Definition>[] {
  return tools.map((tool) => {
    const exported = exportSchema(tool.inputSchema, profile);
    return {
      exposedName: tool.exposedName,
      definition: define(tool, exported),
      notes: exported.notes,
      toArguments: exported.toArguments,
    };
  });
}

/** For `tools` of Anthropic's Messages API. */
export function toAnthropicTools(tools: readonly OfferedTool[]): readonly ProviderTool<AnthropicTool>[] {
  return build(tools, anthropicProfile, (tool, { schema }) => ({
    name: tool.exposedName,
    description: tool.description ?? "",
    input_schema: schema,
  }));
}

/**
 * For `tools` of OpenAI's Responses API.
 *
 * @param options.strict `true`: strict where a tool's schema has a faithful strict form, not strict where it has none.
 */
export function toOpenAiResponsesTools(
  tools: readonly OfferedTool[],
  options: { readonly strict?: boolean } = {},
): readonly ProviderTool<OpenAiResponsesTool>[] {
  return tools.map((tool) => {
    const strict = options.strict === true ? exportSchema(tool.inputSchema, openAiStrictProfile) : undefined;
    const isStrict = strict?.isFaithful === true;
    const exported = isStrict ? strict : exportSchema(tool.inputSchema, openAiProfile);
    const refused =
      strict !== undefined && !isStrict ? strict.notes.map((note) => `not strict: ${note}`) : [];
    return {
      exposedName: tool.exposedName,
      definition: {
        type: "function",
        name: tool.exposedName,
        description: clip(tool.description ?? "", MAX_OPENAI_DESCRIPTION),
        parameters: exported.schema,
        strict: isStrict,
      },
      notes: [...exported.notes, ...refused],
      toArguments: exported.toArguments,
    };
  });
}

/** For `tools` of OpenAI's Chat Completions API. */
export function toOpenAiChatTools(
  tools: readonly OfferedTool[],
  options: { readonly strict?: boolean } = {},
): readonly ProviderTool<OpenAiChatTool>[] {
  return toOpenAiResponsesTools(tools, options).map(({ definition, ...rest }) => {
    const { type, ...inner } = definition;
    return { ...rest, definition: { type, function: inner } };
  });
}

/** For `functionDeclarations` of the Gemini API. */
export function toGeminiTools(tools: readonly OfferedTool[]): readonly ProviderTool<GeminiFunction>[] {
  return build(tools, geminiProfile, (tool, { schema }) => ({
    name: tool.exposedName,
    description: tool.description ?? "",
    parametersJsonSchema: schema,
  }));
}

/** For a tool set of the AI SDK, by exposed name. */
export function toAiSdkTools(
  tools: readonly OfferedTool[],
): Readonly<Record<string, ProviderTool<AiSdkTool>>> {
  const made = build(tools, portableProfile, (tool, { schema }) => ({
    description: tool.description ?? "",
    inputSchema: schema,
  }));
  return Object.fromEntries(made.map((tool) => [tool.exposedName, tool]));
}

/**
 * For a `tools/list` answer of our own: the definition as the server wrote it under its exposed name, all keywords of its schemas
 * kept (TOOL-32), texts cleaned, icons left out because nobody here has looked at them (TOOL-37).
 */
export function toMcpTool(tool: RegisteredTool): Tool {
  const { entry } = tool;
  const annotations = ownProperty(entry.raw, "annotations");
  const execution = ownProperty(entry.raw, "execution");
  return {
    name: tool.exposedName,
    ...(entry.title === null ? {} : { title: entry.title }),
    ...(entry.modelDescription === null ? {} : { description: entry.modelDescription }),
    inputSchema: asObjectSchema(cleanSchemaForModel(entry.inputSchema)),
    ...(entry.outputSchema === null ? {} : { outputSchema: cleanSchemaForModel(entry.outputSchema) }),
    ...(isJsonObject(annotations) ? { annotations: readHints(annotations) } : {}),
    ...(isJsonObject(execution) ? { execution: execution as NonNullable<Tool["execution"]> } : {}),
  };
}

/** MCP wants `type: "object"` at the root (TOOL-33); servers forget it. */
function asObjectSchema(schema: JsonObject): JsonObject {
  return Object.hasOwn(schema, "type") ? schema : { ...schema, type: "object" };
}

/** Hints of the right type only; the title is elsewhere already. */
function readHints(annotations: JsonObject): Readonly<Record<string, boolean>> {
  const hints: Record<string, boolean> = {};
  for (const name of ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"]) {
    const value = ownProperty(annotations, name);
    if (typeof value === "boolean") hints[name] = value;
  }
  return hints;
}

/**
 * Results as their types promise them: a member of the wrong type is left out, never the result. What is inside content
 * blocks is judged later (`results/`); here only the frame is made sure.
 */
import { isJsonObject, ownProperty, type JsonObject } from "../base/json.ts";
import type { Completion } from "../protocol/completion.ts";
import type {
  CallToolResult,
  ContentBlock,
  GetPromptResult,
  PromptMessage,
  ReadResourceResult,
  ResourceContents,
} from "../protocol/types.ts";

const MAX_COMPLETIONS = 100;

/** `content` is always a list of objects and `isError` a boolean; everything else as it came. */
export function readCallToolResult(result: JsonObject): CallToolResult {
  const given = ownProperty(result, "content");
  const content = objectsOf(given) as unknown as readonly ContentBlock[];
  const { isError } = result;
  const isAsPromised = isError === undefined || typeof isError === "boolean";
  if (isAsPromised && Array.isArray(given) && given.length === content.length)
    return result as unknown as CallToolResult;
  const { isError: _isError, content: _content, ...others } = result;
  return {
    ...others,
    content,
    ...(typeof isError === "boolean" ? { isError } : {}),
  } as unknown as CallToolResult;
}

export function readResourceResult(result: JsonObject): ReadResourceResult {
  return {
    ...result,
    contents: objectsOf(ownProperty(result, "contents")) as unknown as readonly ResourceContents[],
  };
}

export function readPromptResult(result: JsonObject): GetPromptResult {
  const messages = objectsOf(ownProperty(result, "messages")).filter((message) =>
    isJsonObject(ownProperty(message, "content")),
  );
  return {
    ...result,
    messages: messages as unknown as readonly PromptMessage[],
  } as unknown as GetPromptResult;
}

/** Missing or partial completions are none. */
export function readCompletion(result: JsonObject): Completion {
  const completion = ownProperty(result, "completion");
  if (!isJsonObject(completion)) return { values: [] };
  const values = ownProperty(completion, "values");
  const total = ownProperty(completion, "total");
  const hasMore = ownProperty(completion, "hasMore");
  return {
    values: Array.isArray(values)
      ? values.filter((value): value is string => typeof value === "string").slice(0, MAX_COMPLETIONS)
      : [],
    ...(typeof total === "number" ? { total } : {}),
    ...(typeof hasMore === "boolean" ? { hasMore } : {}),
  };
}

function objectsOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/**
 * A model's answer for a server (deprecated in the specification): only where the host's user gives a model, capped, and with a
 * person in between both ways. Never adds context of its own, whatever `includeContext` says, and keeps nothing.
 */
import { isJsonObject, ownProperty, type JsonObject } from "../base/json.ts";
import { rpcCodes } from "../protocol/codes.ts";
import type { SamplingParams, SamplingResult } from "../protocol/input-requests.ts";
import type { Turn } from "./desk.ts";
import type { InputAnswer } from "./question.ts";
import { refusal } from "./refusal.ts";
import { scanWords, warningsOf } from "./words.ts";

/** What a model is given: MCP messages, as a person has approved them. */
export interface SampleRequest {
  readonly server: string;
  readonly messages: readonly JsonObject[];
  readonly systemPrompt: string | null;
  readonly maxTokens: number;
  readonly model: string;
  readonly temperature: number | null;
  readonly stopSequences: readonly string[];
}

/** The models of the host's user, and the way to ask them. */
export interface Sampling {
  /** By preference: the first is taken where a server's hints fit none. Never empty. */
  readonly models: readonly string[];
  /** Tokens per answer, whatever a server asks for. Default 1,000. */
  readonly maxTokens?: number;
  sample(
    request: SampleRequest,
    signal: AbortSignal,
  ): Promise<{ readonly text: string; readonly model?: string; readonly stopReason?: string }>;
}

const DEFAULT_MAX_TOKENS = 1_000;
const MAX_MESSAGES = 100;
/** Characters of JSON of all messages. */
const MAX_CHARACTERS = 256 * 1024;
const MAX_ANSWER = 256 * 1024;
const MAX_HINTS = 20;

/**
 * Has a model answer. A person sees, and may change, what the model is asked and what the server gets.
 *
 * @throws PortcullisError `input_refused`; -1 where the person says no (2025-11-25 client/sampling#error-handling).
 */
export async function askSample(
  turn: Turn,
  params: SamplingParams,
  sampling: Sampling,
): Promise<SamplingResult> {
  const request = readSampling(turn.source.server, params, sampling);
  const { messages, systemPrompt, maxTokens, model } = request;
  const findings = scanWords([systemPrompt, ...messages.flatMap(textsOf)], "sampling");
  turn.fit([request.model], findings);
  const common = { ...turn.source, message: "", findings, warnings: warningsOf(findings) };
  const before = await turn.show({ ...common, kind: "sample", messages, systemPrompt, maxTokens, model });
  if (before.action !== "accept") return rejected(turn, before);
  const edited = { ...request, ...readEdits(before.content ?? {}) };
  const sampled = await turn.aside(() => sampling.sample(edited, turn.signal));
  const used = sampled.model ?? model;
  const after = await turn.show({ ...common, kind: "sampled", text: sampled.text, model: used });
  if (after.action !== "accept") return rejected(turn, after);
  const changed = ownProperty(after.content ?? {}, "text");
  const text = typeof changed === "string" ? changed : sampled.text;
  const result = samplingResult({ text, model: used, stopReason: sampled.stopReason ?? null });
  await turn.end(after);
  return result;
}

/** What the person changed of what the model is asked: only where it is whole. */
function readEdits(content: JsonObject): Partial<Pick<SampleRequest, "messages" | "systemPrompt">> {
  const messages = ownProperty(content, "messages");
  const systemPrompt = ownProperty(content, "systemPrompt");
  return {
    ...(Array.isArray(messages) && messages.every(isMessage) ? { messages } : {}),
    ...(typeof systemPrompt === "string" || systemPrompt === null ? { systemPrompt } : {}),
  };
}

async function rejected(turn: Turn, answer: Pick<InputAnswer, "action" | "by">): Promise<never> {
  await turn.end(answer);
  throw refusal("the person said no", rpcCodes.userRejected);
}

/**
 * Judges what a server wants a model to be asked.
 *
 * @throws PortcullisError `input_refused`: too much, malformed, or results of tools that do not fit their calls (-32602).
 */
function readSampling(server: string, params: SamplingParams, sampling: Sampling): SampleRequest {
  const { messages, maxTokens } = params;
  if (messages.length === 0 || messages.length > MAX_MESSAGES)
    throw refusal(`it wants a model to read ${messages.length} messages`);
  if (!messages.every(isMessage)) throw refusal("its messages for a model are malformed");
  checkToolUse(messages);
  if (JSON.stringify(messages).length > MAX_CHARACTERS)
    throw refusal("its messages for a model are too long");
  if (!Number.isSafeInteger(maxTokens) || maxTokens < 1)
    throw refusal("its `maxTokens` is no number of tokens");
  const { systemPrompt, temperature, stopSequences } = params;
  if (typeof systemPrompt === "string" && systemPrompt.length > MAX_CHARACTERS)
    throw refusal("its system prompt is too long");
  return {
    server,
    messages,
    systemPrompt: typeof systemPrompt === "string" ? systemPrompt : null,
    maxTokens: Math.min(maxTokens, sampling.maxTokens ?? DEFAULT_MAX_TOKENS),
    model: chooseModel(params.modelPreferences, sampling.models),
    temperature: typeof temperature === "number" && Number.isFinite(temperature) ? temperature : null,
    stopSequences: Array.isArray(stopSequences)
      ? stopSequences.filter((text) => typeof text === "string").slice(0, 16)
      : [],
  };
}

/**
 * The first of `models` that the first fitting hint is part of; hints go before the numeric priorities, which say nothing about
 * models that somebody has chosen beforehand (schema ModelPreferences).
 */
export function chooseModel(preferences: unknown, models: readonly string[]): string {
  const hints = isJsonObject(preferences) ? ownProperty(preferences, "hints") : undefined;
  for (const hint of Array.isArray(hints) ? hints.slice(0, MAX_HINTS) : []) {
    const name = isJsonObject(hint) ? ownProperty(hint, "name") : undefined;
    if (typeof name !== "string" || name === "") continue;
    const fitting = models.find((model) => model.toLowerCase().includes(name.toLowerCase()));
    if (fitting !== undefined) return fitting;
  }
  const [first] = models;
  if (first === undefined) throw refusal("there is no model to ask", rpcCodes.internalError);
  return first;
}

/** The answer as the server gets it. */
function samplingResult(answer: {
  readonly text: string;
  readonly model: string;
  readonly stopReason: string | null;
}): SamplingResult {
  if (answer.text.length > MAX_ANSWER)
    throw refusal("the model's answer is too long", rpcCodes.internalError);
  return {
    role: "assistant",
    content: { type: "text", text: answer.text },
    model: answer.model,
    stopReason: answer.stopReason ?? "endTurn",
  };
}

function isMessage(message: unknown): message is JsonObject {
  if (!isJsonObject(message)) return false;
  const role = ownProperty(message, "role");
  return (role === "user" || role === "assistant") && contentOf(message).every(isBlock);
}

const KINDS = new Set(["text", "image", "audio", "tool_use", "tool_result"]);

function isBlock(block: unknown): block is JsonObject {
  return isJsonObject(block) && KINDS.has(String(ownProperty(block, "type")));
}

function contentOf(message: JsonObject): readonly unknown[] {
  const content = ownProperty(message, "content");
  return Array.isArray(content) ? content : [content];
}

function textsOf(message: JsonObject): readonly string[] {
  return contentOf(message)
    .filter(isBlock)
    .map((block) => ownProperty(block, "text"))
    .filter((text) => typeof text === "string");
}

/** A user message with results of tools holds nothing else, and answers exactly the calls of the message before it. */
function checkToolUse(messages: readonly JsonObject[]): void {
  let open = new Set<unknown>();
  for (const message of messages) {
    const blocks = contentOf(message).filter(isBlock);
    const results = blocks.filter((block) => block["type"] === "tool_result");
    if (results.length > 0 && results.length < blocks.length)
      throw refusal("a message for a model mixes results of tools with other content");
    const answered = new Set(results.map((block) => block["toolUseId"]));
    if (answered.size !== open.size || [...answered].some((id) => !open.has(id)))
      throw refusal("the results of tools in its messages do not fit their calls");
    open = new Set(blocks.filter((block) => block["type"] === "tool_use").map((block) => block["id"]));
  }
  if (open.size > 0) throw refusal("a call of a tool in its messages has no result");
}

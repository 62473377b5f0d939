/**
 * What a server asks during a call, put to the client that made the call, as far as that client declared it. The client is given
 * our reading of the question, not the server's words of it: cleaned, with who asks and for what; and what it answers is checked
 * like a person's. Source: client/elicitation, client/sampling, client/roots.
 */
import { isJsonObject, ownProperty, type JsonObject, type JsonValue } from "../base/json.ts";
import { PortcullisError } from "../errors.ts";
import type { CallerInputs } from "../host/api.ts";
import type { Choice, FormField } from "../inputs/form.ts";
import type { FormQuestion, InputAnswer, InputQuestion, UrlQuestion } from "../inputs/question.ts";
import type { Root } from "../inputs/roots.ts";
import type { SampleRequest, Sampling } from "../inputs/sampling.ts";
import type { InputRequest } from "../protocol/input-requests.ts";
import { methods } from "../protocol/methods.ts";
import type { ClientCapabilities } from "../protocol/types.ts";
import { cleanForModel } from "../text/clean.ts";

/** A client that can be asked while its request is answered. */
export interface AskedClient {
  readonly capabilities: ClientCapabilities;
  /** Resolves with its result. @throws PortcullisError where it cannot be asked, or refuses. */
  ask(request: InputRequest, signal: AbortSignal): Promise<JsonObject>;
}

/** Who is named in records as the one that answered. */
const BY = "client";

/** Whether a client may be asked anything at all. */
export function canBeAsked({ elicitation, sampling, roots }: ClientCapabilities): boolean {
  return elicitation !== undefined || sampling !== undefined || roots !== undefined;
}

/** @param isHeld whether findings keep a question of a server from whoever answers: it may be a model. */
export function toCallerInputs(
  client: AskedClient,
  isHeld: (question: InputQuestion) => boolean,
): CallerInputs {
  const { elicitation, sampling, roots } = client.capabilities;
  return {
    elicitation: {
      // An empty object means forms only.
      form: elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined),
      url: elicitation?.url !== undefined,
    },
    async ask(question, signal) {
      if (isHeld(question)) return { action: "cancel" };
      switch (question.kind) {
        case "form":
          return readAnswer(await client.ask(formRequest(question), signal));
        case "url":
          return readAnswer(await client.ask(urlRequest(question), signal));
        // The client itself shows its user what a model is asked and which folders are told.
        case "sample":
        case "sampled":
        case "roots":
          return { action: "accept", by: BY };
      }
    },
    ...(sampling === undefined ? {} : { sampling: samplingOf(client) }),
    ...(roots === undefined
      ? {}
      : {
          roots: async (_server, signal) =>
            readRoots(await client.ask({ method: methods.listRoots }, signal)),
        }),
  };
}

function formRequest({ fields, ...question }: FormQuestion): InputRequest {
  const required = fields.filter((field) => field.isRequired).map(({ name }) => name);
  const requestedSchema: JsonObject = {
    type: "object",
    properties: Object.fromEntries(fields.map((field) => [field.name, schemaOf(field)])),
    ...(required.length === 0 ? {} : { required }),
  };
  const wrong = question.problems.map(({ field, message }) => `Not accepted: ${field} ${message}`);
  return {
    method: methods.elicit,
    params: { mode: "form", message: [sentenceOf(question), ...wrong].join("\n"), requestedSchema },
  };
}

function urlRequest({ url, ...question }: UrlQuestion): InputRequest {
  const elicitationId = `${question.callId}-${question.number}`;
  return {
    method: methods.elicit,
    params: { mode: "url", message: sentenceOf(question), url, elicitationId },
  };
}

/** Who asks, for what, and in which words; then what to be careful about. */
function sentenceOf({ server, tool, message, warnings }: Omit<FormQuestion | UrlQuestion, "fields">): string {
  const lines = [`Server \`${server}\` asks, for \`${tool}\`: ${message}`];
  return [...lines, ...warnings.map((warning) => `Careful: ${warning}.`)].join("\n");
}

function schemaOf(field: FormField): JsonObject {
  const common: JsonObject = {
    title: field.label,
    ...(field.description === null ? {} : { description: field.description }),
    ...(field.default === null ? {} : { default: field.default as JsonValue }),
  };
  switch (field.kind) {
    case "text":
      return {
        type: "string",
        ...common,
        ...present({ format: field.format, minLength: field.minLength, maxLength: field.maxLength }),
      };
    case "number":
      return {
        type: field.isInteger ? "integer" : "number",
        ...common,
        ...present({ minimum: field.minimum, maximum: field.maximum }),
      };
    case "boolean":
      return { type: "boolean", ...common };
    case "choice":
      return { type: "string", ...common, ...choicesOf(field.choices, "oneOf") };
    case "choices":
      return {
        type: "array",
        ...common,
        ...present({ minItems: field.minItems, maxItems: field.maxItems }),
        items: choicesOf(field.choices, "anyOf"),
      };
  }
}

/** Plain values where they are shown as they are. */
function choicesOf(choices: readonly Choice[], titled: "oneOf" | "anyOf"): JsonObject {
  if (choices.every(({ value, label }) => value === label))
    return { type: "string", enum: choices.map(({ value }) => value) };
  return { [titled]: choices.map(({ value, label }) => ({ const: value, title: label })) };
}

function present(members: Readonly<Record<string, string | number | null>>): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null));
}

/** @throws PortcullisError `input_refused` for what is no answer. */
function readAnswer(result: JsonObject): InputAnswer {
  const action = ownProperty(result, "action");
  const content = ownProperty(result, "content");
  if (action === "accept") return { action, by: BY, ...(isJsonObject(content) ? { content } : {}) };
  if (action === "decline" || action === "cancel") return { action, by: BY };
  throw noAnswer();
}

function samplingOf(client: AskedClient): Sampling {
  return {
    // Which one it is chooses the client.
    models: [BY],
    async sample(request, signal) {
      const result = await client.ask(sampleRequest(request), signal);
      const content = ownProperty(result, "content");
      const texts = (Array.isArray(content) ? content : [content])
        .map((block: unknown) => (isJsonObject(block) ? ownProperty(block, "text") : undefined))
        .filter((text) => typeof text === "string");
      if (texts.length === 0) throw noAnswer();
      const model = ownProperty(result, "model");
      const stopReason = ownProperty(result, "stopReason");
      return {
        text: texts.join("\n"),
        ...(typeof model === "string" ? { model } : {}),
        ...(typeof stopReason === "string" ? { stopReason } : {}),
      };
    },
  };
}

function sampleRequest({ messages, systemPrompt, temperature, ...request }: SampleRequest): InputRequest {
  return {
    method: methods.sample,
    params: {
      messages: messages.flatMap(cleanMessage),
      maxTokens: request.maxTokens,
      ...(systemPrompt === null ? {} : { systemPrompt: cleanForModel(systemPrompt) }),
      ...(temperature === null ? {} : { temperature }),
      ...(request.stopSequences.length === 0 ? {} : { stopSequences: [...request.stopSequences] }),
    },
  };
}

/** A message without what is hidden in its texts; nothing of tools, because sampling with tools is declared to nobody. */
function cleanMessage(message: JsonObject): JsonObject[] {
  const content = ownProperty(message, "content");
  const blocks = (Array.isArray(content) ? content : [content]).filter(isJsonObject).flatMap(cleanBlock);
  const [only, ...more] = blocks;
  if (only === undefined) return [];
  return [{ role: message["role"] ?? "user", content: more.length === 0 ? only : blocks }];
}

function cleanBlock(block: JsonObject): JsonObject[] {
  const { type, text, data, mimeType } = block;
  if (type === "text" && typeof text === "string") return [{ type, text: cleanForModel(text) }];
  const isMedia = (type === "image" || type === "audio") && typeof data === "string";
  return isMedia && typeof mimeType === "string" ? [{ type, data, mimeType }] : [];
}

function readRoots(result: JsonObject): readonly Root[] {
  const roots = ownProperty(result, "roots");
  if (!Array.isArray(roots)) throw noAnswer();
  return roots.filter(isJsonObject).flatMap((root) => {
    const uri = ownProperty(root, "uri");
    const name = ownProperty(root, "name");
    if (typeof uri !== "string" || !uri.startsWith("file:")) return [];
    return [typeof name === "string" ? { path: uri, name } : { path: uri }];
  });
}

function noAnswer(): PortcullisError {
  return new PortcullisError("input_refused", "what the client answered is no answer to what was asked");
}

/**
 * Resources, prompts and completions for agents, the same in both eras. Source: server/resources, server/prompts,
 * server/utilities/completion.
 */
import { linkAbort } from "../base/abort.ts";
import { isJsonObject, ownProperty, type JsonObject } from "../base/json.ts";
import { errorCodes, PortcullisError, toPortcullisError } from "../errors.ts";
import type { CallOptions, Turn } from "../host/api.ts";
import type { ReadOutcome, Watch } from "../host/read-outcome.ts";
import { rpcCodes } from "../protocol/codes.ts";
import type { CompletionParams } from "../protocol/completion.ts";
import type { Era } from "../protocol/revisions.ts";
import {
  callOptions,
  failure,
  listPage,
  scanOf,
  type CallContext,
  type McpAnswer,
  type McpMethodsDeps,
} from "./mcp-answer.ts";
import {
  notFoundCode,
  toCompleteResult,
  toGetPromptResult,
  toReadError,
  toReadResourceResult,
} from "./read-result.ts";

/** None of them rejects, but `watch`. */
export interface ReadingMethods {
  listResources(params: JsonObject): Promise<McpAnswer>;
  listResourceTemplates(params: JsonObject): Promise<McpAnswer>;
  listPrompts(params: JsonObject): Promise<McpAnswer>;
  readResource(params: JsonObject, context: CallContext): Promise<McpAnswer>;
  getPrompt(params: JsonObject, context: CallContext): Promise<McpAnswer>;
  complete(params: JsonObject, context: CallContext): Promise<McpAnswer>;
  /** Hears of changes of a resource. @throws PortcullisError as of `Host.watch`. */
  watch(uri: string, onUpdated: () => void, signal: AbortSignal): Promise<Watch>;
}

/** How long a server is waited for that is to tell of changes: the client waits for the acknowledgement. */
const WATCH_PATIENCE_MS = 5_000;

export function createReadingMethods({ host, offers, clock, onError }: McpMethodsDeps): ReadingMethods {
  /** @param uri of what is read, where the result is about one. */
  const run = async <Result extends ReadOutcome>(
    params: JsonObject,
    context: CallContext,
    read: (turn: Turn, options: CallOptions) => Promise<Result>,
    form: (outcome: Result) => JsonObject,
    uri?: string,
  ): Promise<McpAnswer> => {
    const turn = host.turn({ conversation: context.conversation, signal: context.signal });
    try {
      const outcome = await read(turn, callOptions(host, params, context));
      return outcome.outcome === "completed"
        ? { ok: true, result: form(outcome) }
        : { ok: false, error: toReadError(outcome, context.era, uri) };
    } catch (cause) {
      return misuse(cause, context.era, onError, uri);
    } finally {
      await turn.close();
    }
  };

  return {
    listResources: (params) => listPage(offers.resources, "resources", params),
    listResourceTemplates: (params) => listPage(offers.resourceTemplates, "resourceTemplates", params),
    listPrompts: (params) => listPage(offers.prompts, "prompts", params),

    async readResource(params, context) {
      const uri = ownProperty(params, "uri");
      if (typeof uri !== "string") return failure(rpcCodes.invalidParams, "uri must be a string");
      return run(
        params,
        context,
        (turn, options) => turn.read(uri, options),
        (outcome) => toReadResourceResult(uri, outcome, scanOf(host, outcome)),
        uri,
      );
    },

    async getPrompt(params, context) {
      const name = ownProperty(params, "name");
      const args = ownProperty(params, "arguments") ?? {};
      if (typeof name !== "string") return failure(rpcCodes.invalidParams, "name must be a string");
      if (!isJsonObject(args)) return failure(rpcCodes.invalidParams, "arguments must be an object");
      return run(
        params,
        context,
        (turn, options) => turn.prompt(name, args, options),
        (outcome) => toGetPromptResult(outcome, scanOf(host, outcome)),
      );
    },

    async complete(params, context) {
      const read = readCompletionParams(params);
      if (typeof read === "string") return failure(rpcCodes.invalidParams, read);
      // It may not be answered by a question.
      const unasked = { ...context, client: undefined };
      return run(params, unasked, (turn, options) => turn.complete(read, options), toCompleteResult);
    },

    async watch(uri, onUpdated, signal) {
      const link = linkAbort(signal);
      const late = new PortcullisError("timed_out", "the server did not answer in time");
      const patience = clock.timer(WATCH_PATIENCE_MS, () => link.abort(late));
      try {
        return await host.watch(uri, onUpdated, { signal: link.signal });
      } finally {
        patience.cancel();
        link.unlink();
      }
    },
  };
}

/** What was asked in a way that can be of no server; everything else that is thrown is a fault of ours. */
function misuse(cause: unknown, era: Era, onError: (error: unknown) => void, uri?: string): McpAnswer {
  const { code, message } = toPortcullisError(cause);
  if (code === "unknown_server" || code === "usage") {
    return uri === undefined
      ? failure(rpcCodes.invalidParams, message)
      : failure(notFoundCode(era), message, { uri });
  }
  onError(cause);
  return failure(rpcCodes.internalError, errorCodes[code].help);
}

/** @returns what is wrong with them, as a text. */
function readCompletionParams(params: JsonObject): CompletionParams | string {
  const ref = ownProperty(params, "ref");
  const argument = ownProperty(params, "argument");
  const name = isJsonObject(argument) ? ownProperty(argument, "name") : undefined;
  const value = isJsonObject(argument) ? ownProperty(argument, "value") : undefined;
  if (typeof name !== "string" || typeof value !== "string")
    return "argument must have a name and a value, both strings";
  const context = ownProperty(params, "context");
  const settled = isJsonObject(context) ? ownProperty(context, "arguments") : undefined;
  const common = {
    argument: { name, value },
    ...(isJsonObject(settled) ? { context: { arguments: textsOf(settled) } } : {}),
  };
  const type = isJsonObject(ref) ? ownProperty(ref, "type") : undefined;
  const target = isJsonObject(ref) ? ownProperty(ref, type === "ref/prompt" ? "name" : "uri") : undefined;
  if (typeof target !== "string" || (type !== "ref/prompt" && type !== "ref/resource"))
    return "ref must be a ref/prompt with a name or a ref/resource with a uri";
  return type === "ref/prompt"
    ? { ref: { type, name: target }, ...common }
    : { ref: { type, uri: target }, ...common };
}

function textsOf(values: JsonObject): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}

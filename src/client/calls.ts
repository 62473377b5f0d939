/** The typed requests of a client: params in, result as its type promises it out. */
import type { JsonObject } from "../base/json.ts";
import type { Completion, CompletionParams } from "../protocol/completion.ts";
import { methods } from "../protocol/methods.ts";
import type { CallToolResult, GetPromptResult, LoggingLevel, ReadResourceResult } from "../protocol/types.ts";
import type { Core } from "./core.ts";
import type { LegOptions } from "./leg.ts";
import type { RequestOptions } from "./options.ts";
import { rpcCodeOf } from "./remote-error.ts";
import { readCallToolResult, readCompletion, readPromptResult, readResourceResult } from "./results.ts";

export interface Calls {
  /** Resolves also where the tool reports an error of its own (`isError`). */
  callTool(name: string, args: JsonObject, options?: RequestOptions): Promise<CallToolResult>;
  readResource(uri: string, options?: RequestOptions): Promise<ReadResourceResult>;
  getPrompt(
    name: string,
    args: Readonly<Record<string, string>>,
    options?: RequestOptions,
  ): Promise<GetPromptResult>;
  /** Empty where the server offers no completions. */
  complete(params: CompletionParams, options?: RequestOptions): Promise<Completion>;
  /** Legacy: tells the server. Modern: asks for logs on every later request. Does nothing where the server has no logs. */
  setLogLevel(level: LoggingLevel, options?: RequestOptions): Promise<void>;
  /** One question that any living server answers: `ping` or `server/discover`. An error is an answer. @returns milliseconds. */
  heartbeat(signal?: AbortSignal): Promise<number>;
}

export function createCalls(
  core: Core,
  request: (method: string, params: JsonObject | undefined, options?: LegOptions) => Promise<JsonObject>,
): Calls {
  const offers = (capability: "completions" | "logging"): boolean => {
    const facts = core.facts();
    return !facts.areCapabilitiesKnown || facts.capabilities[capability] !== undefined;
  };

  return {
    async callTool(name, args, options) {
      return readCallToolResult(await request(methods.callTool, { name, arguments: args }, options));
    },
    async readResource(uri, options) {
      return readResourceResult(await request(methods.readResource, { uri }, options));
    },
    async getPrompt(name, args, options) {
      return readPromptResult(await request(methods.getPrompt, { name, arguments: { ...args } }, options));
    },
    async complete(params, options) {
      if (!offers("completions")) return { values: [] };
      return readCompletion(await request(methods.complete, { ...params } as unknown as JsonObject, options));
    },
    async setLogLevel(level, options) {
      if (!offers("logging")) return;
      core.logLevel = level;
      if (core.facts().era === "legacy") await request(methods.setLogLevel, { level }, options);
    },
    async heartbeat(signal) {
      const method = core.facts().era === "legacy" ? methods.ping : methods.discover;
      const startedMs = core.clock.monotonic();
      try {
        await request(method, undefined, signal === undefined ? {} : { signal });
      } catch (error) {
        if (rpcCodeOf(error) === undefined) throw error;
      }
      return core.clock.monotonic() - startedMs;
    },
  };
}

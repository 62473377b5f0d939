/** What a server may ask of us, both eras: elicitation, sampling, roots. Shapes only; open, like everything in `protocol/`. */
import type { JsonObject } from "../base/json.ts";
import type { AudioContent, ImageContent, TextContent } from "./types.ts";

export interface ElicitFormParams {
  readonly mode?: "form";
  readonly message: string;
  /** A flat object schema of strings, numbers, integers, booleans and enums. Untrusted. */
  readonly requestedSchema: JsonObject;
}

export interface ElicitUrlParams {
  readonly mode: "url";
  readonly message: string;
  readonly url: string;
  /** 2025-11-25 only. Opaque. */
  readonly elicitationId?: string;
}

export interface ElicitResult {
  readonly action: "accept" | "decline" | "cancel";
  /** Only with `accept` of a form. */
  readonly content?: JsonObject;
}

export interface SamplingParams {
  readonly messages: readonly JsonObject[];
  readonly maxTokens: number;
  readonly systemPrompt?: string;
  readonly modelPreferences?: JsonObject;
  readonly includeContext?: "none" | "thisServer" | "allServers";
  readonly temperature?: number;
  readonly stopSequences?: readonly string[];
  readonly tools?: readonly JsonObject[];
  readonly toolChoice?: JsonObject;
}

export interface SamplingResult {
  readonly role: "assistant" | "user";
  readonly content: TextContent | ImageContent | AudioContent | JsonObject | readonly JsonObject[];
  readonly model: string;
  readonly stopReason?: string;
}

interface Root {
  readonly uri: string;
  readonly name?: string;
}

export interface RootsResult {
  readonly roots: readonly Root[];
}

/** One entry of `inputRequests`. */
export interface InputRequest {
  readonly method: string;
  readonly params?: JsonObject;
}

export type InputRequests = Readonly<Record<string, InputRequest>>;
export type InputResponses = Readonly<Record<string, JsonObject>>;

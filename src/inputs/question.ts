/**
 * What a person (or the library's callback) is shown when a server asks for something, and what they can answer. Everything a
 * server wrote is cleaned, clipped and kept apart from our own words; nothing here has been fetched or opened.
 */
import type { JsonObject } from "../base/json.ts";
import type { Finding, Principal } from "../vocabulary.ts";
import type { FormField } from "./form.ts";

/** Whom a question comes from, and what it belongs to. */
export interface QuestionSource {
  readonly server: string;
  /** What the server was asked to do: the exposed name of the tool, or the resource or prompt. */
  readonly tool: string;
  readonly callId: string;
  readonly principal: Principal;
  /** 1, 2, 3, … within the call, and how many are answered at most. */
  readonly number: number;
  readonly max: number;
}

interface Asked extends QuestionSource {
  /** What the server says. Its links are written so that nothing makes them clickable. */
  readonly message: string;
  /** What to be careful about, in our words. */
  readonly warnings: readonly string[];
  /** What the scan found in the server's words. A model is not shown a question with one of high severity. */
  readonly findings: readonly Finding[];
}

export interface FormQuestion extends Asked {
  readonly kind: "form";
  readonly fields: readonly FormField[];
  /** What was wrong with the answer given before, by field; empty the first time. */
  readonly problems: readonly { readonly field: string; readonly message: string }[];
}

export interface UrlQuestion extends Asked {
  readonly kind: "url";
  /** The whole address, ASCII. */
  readonly url: string;
  /** Host and port as they are reached, ASCII. */
  readonly host: string;
  /** The host as browsers may write it, where that is another text; `null` where it is the same. */
  readonly unicodeHost: string | null;
}

/** A server wants a model's answer: what would be sent to the model. */
export interface SampleQuestion extends Asked {
  readonly kind: "sample";
  /** MCP messages as the server wrote them. */
  readonly messages: readonly JsonObject[];
  readonly systemPrompt: string | null;
  readonly maxTokens: number;
  readonly model: string;
}

/** The model's answer, before the server gets it. */
export interface SampledQuestion extends Asked {
  readonly kind: "sampled";
  readonly text: string;
  readonly model: string;
}

/** A server wants to know which folders it may work on. */
export interface RootsQuestion extends Asked {
  readonly kind: "roots";
  readonly roots: readonly { readonly uri: string; readonly name?: string }[];
}

export type InputQuestion = FormQuestion | UrlQuestion | SampleQuestion | SampledQuestion | RootsQuestion;

/** `decline`: no. `cancel`: not now, without a decision. */
export type InputAnswer =
  | {
      readonly action: "accept";
      /**
       * For a form, by field; what is left out keeps its default, `null` leaves the field out. For `sample`, `messages` and
       * `systemPrompt` replace those shown; for `sampled`, `text` does.
       */
      readonly content?: JsonObject;
      readonly by?: Principal;
    }
  | { readonly action: "decline" | "cancel"; readonly by?: Principal };

/** Answers a question. `signal` ends when the answer is no longer wanted. One that throws refuses. */
export type InputCallback = (question: InputQuestion, signal: AbortSignal) => Promise<InputAnswer>;

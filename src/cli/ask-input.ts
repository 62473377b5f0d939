/**
 * Asks the person at the terminal what a server wants to know during a call: field by field, with what is preset, and once more
 * as a whole before it is sent. An address is shown, and never opened or looked up.
 */
import type { JsonObject } from "../base/json.ts";
import { defaultOf } from "../inputs/form-answer.ts";
import type { FormField } from "../inputs/form.ts";
import type { FormQuestion, InputAnswer, InputCallback, InputQuestion } from "../inputs/question.ts";
import { fieldPrompt, readFieldLine, showValue } from "./field-line.ts";
import type { Output } from "./output.ts";
import { askLine } from "./prompt.ts";

/** Asks for one line. */
type Ask = (question: string) => Promise<string>;

const BY = "local";

/** @param ask the terminal's by default. */
export function answerInputAtTerminal(
  { say }: Pick<Output, "say">,
  ask: typeof askLine = askLine,
): InputCallback {
  return async (question, signal) => {
    say(`\n${describe(question)}`);
    const line: Ask = (text) => ask(text, signal);
    switch (question.kind) {
      case "form":
        return fillIn(question, line, say);
      case "url":
        return consent(line, "Will you open it yourself, now? [y]es, [d]ecline, anything else for not now: ");
      case "sample":
      case "sampled":
      case "roots":
        return consent(line, "Agree? [y]es, [d]ecline, anything else for not now: ");
    }
  };
}

async function fillIn(question: FormQuestion, ask: Ask, say: Output["say"]): Promise<InputAnswer> {
  const content: JsonObject = {};
  for (;;) {
    for (const field of question.fields) {
      const left = await fillField(field, content, ask, say);
      if (left !== null) return { action: left, by: BY };
    }
    say(`To be sent to \`${question.server}\`:\n${summary(question.fields, content)}`);
    const end = await ask("Send it? [y]es, [e]dit, [d]ecline, anything else for not now: ");
    if (/^e(dit)?$/iu.test(end)) continue;
    const answer = await consent(() => Promise.resolve(end), "");
    return answer.action === "accept" ? { ...answer, content } : answer;
  }
}

/** @returns how the person left the form; `null`: they stayed. */
async function fillField(
  field: FormField,
  content: JsonObject,
  ask: Ask,
  say: Output["say"],
): Promise<"decline" | "cancel" | null> {
  for (;;) {
    const given = Object.hasOwn(content, field.name) ? content[field.name] : defaultOf(field);
    const read = readFieldLine(field, await ask(fieldPrompt(field, given ?? undefined)));
    if (read.kind === "left") return read.action;
    if (read.kind === "wrong") say(`  ${read.message}`);
    else {
      if (read.value !== undefined) content[field.name] = read.value;
      return null;
    }
  }
}

function summary(fields: readonly FormField[], content: JsonObject): string {
  const lines = fields.map((field) => {
    const value = Object.hasOwn(content, field.name) ? content[field.name] : defaultOf(field);
    return `  ${field.label}: ${value === undefined || value === null ? "(nothing)" : showValue(field, value)}`;
  });
  return lines.join("\n");
}

async function consent(ask: Ask, text: string): Promise<InputAnswer> {
  const line = await ask(text);
  if (/^y(es)?$/iu.test(line)) return { action: "accept", by: BY };
  return { action: /^(d(ecline)?|:decline)$/iu.test(line) ? "decline" : "cancel", by: BY };
}

/** Who asks, during what, and in whose words. */
function describe(question: InputQuestion): string {
  const { server, tool, callId, number, max, message, warnings } = question;
  const quoted = message === "" ? [] : ["It says:", ...message.split("\n").map((line) => `  | ${line}`)];
  const careful = warnings.map((warning) => `  ! ${warning}`);
  const head = `\`${server}\` asks ${WHAT[question.kind]} (during ${tool}, call ${callId}, question ${number} of at most ${max}).`;
  return [head, ...quoted, ...details(question), ...careful, ...hints(question)].join("\n");
}

const WHAT = {
  form: "you something",
  url: "you to go to an address",
  sample: "to have a model answer this",
  sampled: "for this answer of a model",
  roots: "which folders it may work on",
} as const satisfies Record<InputQuestion["kind"], string>;

function details(question: InputQuestion): readonly string[] {
  switch (question.kind) {
    case "form":
      return question.problems.map(
        ({ field, message }) => `  ${field === "" ? "the form" : field}: ${message}`,
      );
    case "url":
      return [
        `  host:    ${question.host}${question.unicodeHost === null ? "" : `   (also written ${question.unicodeHost})`}`,
        `  address: ${question.url}`,
      ];
    case "sample":
      return question.messages.map((message) => `  ${JSON.stringify(message).slice(0, 2_000)}`);
    case "sampled":
      return [`  ${question.text}`];
    case "roots":
      return question.roots.map(({ uri }) => `  ${uri}`);
  }
}

function hints(question: InputQuestion): readonly string[] {
  if (question.kind === "url") return ["Nobody has opened it or looked at it for you."];
  if (question.kind !== "form") return [];
  return ["Enter keeps what is in brackets, `-` leaves a field out, `:decline` or `:cancel` ends it."];
}

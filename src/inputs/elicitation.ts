/** Forms and addresses that a server asks a person for (client/elicitation). */
import type { ElicitFormParams, ElicitResult, ElicitUrlParams } from "../protocol/input-requests.ts";
import { rpcCodes } from "../protocol/codes.ts";
import type { Turn } from "./desk.ts";
import { checkFormAnswer } from "./form-answer.ts";
import { readForm, type FormField } from "./form.ts";
import type { FormQuestion } from "./question.ts";
import { refusal } from "./refusal.ts";
import { namesSecret } from "./sensitive.ts";
import { judgeUrl, type UrlRules } from "./url.ts";
import { messageOf, scanWords, warningsOf } from "./words.ts";

const NO_SECRETS = "never type a password, a key or a card number here: no server may ask for one in a form";

/** @param attempts how often an answer that does not fit may be corrected. @throws PortcullisError `input_refused`. */
export async function askForm(turn: Turn, params: ElicitFormParams, attempts: number): Promise<ElicitResult> {
  const form = readForm(params.requestedSchema);
  const findings = scanWords(
    [params.message, ...form.fields.flatMap((field) => [field.label, field.description, ...labelsOf(field)])],
    "elicitation",
  );
  turn.fit(
    form.fields.map(({ name }) => name),
    findings,
  );
  const texts = [params.message, ...form.fields.map(({ description }) => description ?? "")];
  const shown = {
    ...turn.source,
    kind: "form" as const,
    message: messageOf(params.message),
    warnings: [...(texts.some(namesSecret) ? [NO_SECRETS] : []), ...warningsOf(findings)],
    findings,
    fields: form.fields,
  };
  let problems: FormQuestion["problems"] = [];
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const answer = await turn.show({ ...shown, problems });
    if (answer.action !== "accept") {
      await turn.end(answer);
      return { action: answer.action };
    }
    const checked = checkFormAnswer(form, answer.content ?? {});
    if (checked.ok) {
      await turn.end(answer);
      return { action: "accept", content: checked.content };
    }
    ({ problems } = checked);
  }
  throw refusal("no answer that was given fits the form", rpcCodes.internalError);
}

/**
 * Shows an address. Accepting says that the person goes there, not that anything is done there; nobody here opens, fetches or
 * looks up anything. @throws PortcullisError `input_refused`.
 */
export async function askUrl(turn: Turn, params: ElicitUrlParams, rules: UrlRules): Promise<ElicitResult> {
  const judged = judgeUrl(params.url, rules);
  const findings = scanWords([params.message], "elicitation");
  turn.fit([judged.host], findings);
  const answer = await turn.show({
    ...turn.source,
    ...judged,
    warnings: [...judged.warnings, ...warningsOf(findings)],
    findings,
    kind: "url",
    message: messageOf(params.message),
  });
  const { elicitationId } = params;
  const isAwaited = answer.action === "accept" && typeof elicitationId === "string";
  await turn.end(answer, isAwaited ? elicitationId : undefined);
  return { action: answer.action };
}

function labelsOf(field: FormField): readonly string[] {
  return field.kind === "choice" || field.kind === "choices" ? field.choices.map(({ label }) => label) : [];
}

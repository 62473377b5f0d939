/**
 * What a person sees before they answer, where the operator named a tool that shows it: for example the record that would be
 * deleted. The tool is called like any other, governed and recorded; only one that reads (L0) is called at all.
 */
import { fillTemplate } from "../approvals/template.ts";
import { isJsonObject, type JsonObject } from "../base/json.ts";
import { renderForPerson } from "../results/person.ts";
import type { ToolTarget } from "./api.ts";
import type { Outcome } from "./outcome.ts";
import type { Prepared } from "./prepare.ts";

/** A call of a tool by name, through the spine. */
export type CallThrough = (target: ToolTarget, args: JsonObject) => Promise<Outcome>;

const MAX_CHARACTERS = 4_000;

/** @returns what the tool showed, or why it showed nothing; `null` where the rule names none. */
export async function previewOf(
  { server, policy, arguments: args }: Prepared,
  callThrough: CallThrough,
): Promise<string | null> {
  const { preview } = policy;
  if (preview === null) return null;
  const { value, missing } = fillTemplate(preview.args, { arguments: args });
  if (missing.length > 0 || !isJsonObject(value))
    return `no preview: there is no \`${missing[0] ?? "arguments"}\``;
  const outcome = await callThrough({ server: server.name, tool: preview.tool }, value);
  if (outcome.outcome !== "completed" || outcome.grade !== "L0") return `no preview: ${outcome.message}`;
  const text = renderForPerson(outcome.content, outcome.structured);
  return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text;
}

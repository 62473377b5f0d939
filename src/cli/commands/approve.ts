import { PortcullisError } from "../../errors.ts";
import { approve } from "../../operations/approvals.ts";
import type { CommandRun } from "../main.ts";
import { renderAnswers } from "../render/approval.ts";
import { given, runVerb } from "../verb.ts";

export const run: CommandRun<{ without?: string; confirm?: string; grant?: string }> = async (
  context,
  [id],
  options,
) =>
  runVerb(
    context,
    approve,
    given({ id, without: parseNumbers(options.without), confirm: options.confirm, grant: options.grant }),
    renderAnswers,
  );

function parseNumbers(text: string | undefined): number[] | undefined {
  if (text === undefined) return undefined;
  const numbers = text.split(",").map((part) => Number(part.trim()));
  if (numbers.every((number) => Number.isInteger(number) && number > 0)) return numbers;
  throw new PortcullisError("usage", `--without takes numbers such as 1,3; got \`${text}\``);
}

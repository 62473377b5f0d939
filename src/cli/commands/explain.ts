import { explain } from "../../operations/explain.ts";
import type { CommandRun } from "../main.ts";
import { renderExplanation } from "../render/explanation.ts";
import { readJsonWord, runVerb } from "../verb.ts";

export const run: CommandRun<object> = async (context, [server, tool, json]) =>
  runVerb(
    context,
    explain,
    { server, tool, arguments: await readJsonWord(json, context.signal) },
    renderExplanation,
  );

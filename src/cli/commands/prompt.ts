import { getPrompt } from "../../operations/get-prompt.ts";
import type { CommandRun } from "../main.ts";
import { renderRead } from "../render/outcome.ts";
import { readJsonWord, runOutcomeVerb } from "../verb.ts";

export const run: CommandRun<object> = async (context, [server, name, json]) =>
  runOutcomeVerb(
    context,
    getPrompt,
    { server, name, arguments: await readJsonWord(json, context.signal) },
    renderRead,
  );

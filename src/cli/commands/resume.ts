import { resume } from "../../operations/pause.ts";
import type { CommandRun } from "../main.ts";
import { runVerb, serverOrAll } from "../verb.ts";

export const run: CommandRun<{ all?: boolean }> = async (context, words, options) =>
  runVerb(context, resume, serverOrAll(words, options, "resume"), ({ resumed }) => `resumed: ${resumed}`);

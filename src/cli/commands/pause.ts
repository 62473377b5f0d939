import { pause } from "../../operations/pause.ts";
import type { CommandRun } from "../main.ts";
import { runVerb, serverOrAll } from "../verb.ts";

export const run: CommandRun<{ all?: boolean }> = async (context, words, options) =>
  runVerb(
    context,
    pause,
    serverOrAll(words, options, "pause"),
    ({ paused }) => `paused: ${paused}; nothing is sent until \`portcullis resume ${words[0] ?? "--all"}\``,
  );

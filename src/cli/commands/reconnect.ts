import { reconnect } from "../../operations/pause.ts";
import type { CommandRun } from "../main.ts";
import { runVerb, serverOrAll } from "../verb.ts";

export const run: CommandRun<{ all?: boolean }> = async (context, words, options) =>
  runVerb(
    context,
    reconnect,
    serverOrAll(words, options, "reconnect"),
    ({ reconnecting }) => `connecting anew: ${reconnecting}`,
  );

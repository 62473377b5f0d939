import type { CommandRun } from "../main.ts";
import { trustFound } from "../workspace.ts";

export const run: CommandRun<object> = async ({ globals, output }) => {
  const trusted = await trustFound(globals);
  output.result({ trusted: trusted?.file ?? null }, (document) =>
    document.trusted === null
      ? "a file named with --config needs no trust"
      : `trusted as it is now: ${document.trusted}`,
  );
  return 0;
};

import type { CommandRun } from "../main.ts";
import { trustFound } from "../workspace.ts";

export const run: CommandRun<object> = async ({ globals, output }) => {
  output.result({ trusted: await trustFound(globals, output) }, (document) =>
    document.trusted === null
      ? "a file named with --config needs no trust"
      : `trusted as it is now: ${document.trusted}`,
  );
  return 0;
};

/** `--help` for programs. */
import type { Command } from "commander";
import type { CommandRow } from "./command-table.ts";

/** What each exit code of `errorCodes` means, in a few words. */
const EXIT_CODES: Readonly<Record<number, string>> = {
  0: "done",
  1: "the tool reported an error",
  2: "usage or configuration",
  3: "refused",
  4: "arguments invalid",
  5: "server unavailable, timed out, incompatible",
  6: "authorization needed",
  70: "internal",
  130: "cancelled",
};

/** For the end of `--help`, two lines of it. */
export const EXIT_CODES_TEXT = `
Exit codes: ${describe([0, 1, 2, 3, 4])}
            ${describe([5, 6, 70, 130])}`;

function describe(codes: readonly number[]): string {
  return codes.map((code) => `${code} ${EXIT_CODES[code] ?? ""}`).join(" · ");
}

interface OptionHelp {
  readonly flags: string;
  readonly description: string;
}

interface CommandHelp {
  readonly usage: string;
  readonly summary: string;
  readonly example: string | null;
  readonly options: readonly OptionHelp[];
}

type HelpDocument =
  | { readonly command: CommandHelp }
  | {
      readonly summary: string;
      /** They stand before or behind the command. */
      readonly options: readonly OptionHelp[];
      readonly commands: readonly CommandHelp[];
      readonly exitCodes: Readonly<Record<number, string>>;
    };

/** What `--json --help` prints of the program, or of one of its commands. */
export function helpDocument(command: Command, rows: readonly CommandRow[]): HelpDocument {
  const row = rows.find(({ usage }) => usage.split(" ", 1)[0] === command.name());
  if (row !== undefined && command.parent !== null) return { command: toHelp(row) };
  return {
    summary: command.description(),
    options: command.options.map(({ flags, description }) => ({ flags, description })),
    commands: rows.map(toHelp),
    exitCodes: EXIT_CODES,
  };
}

function toHelp({ usage, summary, example, options = [] }: CommandRow): CommandHelp {
  return {
    usage,
    summary,
    example: example ?? null,
    options: options.map(([flags, description]) => ({ flags, description })),
  };
}

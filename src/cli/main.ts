/**
 * The command line: parses, finds the command, loads its module, prints its result, answers with an exit code.
 * Nothing else is loaded for `--help`.
 */
import { Command, CommanderError, Option } from "commander";
import { errorCodes, PortcullisError, toPortcullisError } from "../errors.ts";
import { printJson } from "../text/json-text.ts";
import { VERSION } from "../version.ts";
import { commands } from "./command-table.ts";
import { EXIT_CODES_TEXT, helpDocument } from "./help-document.ts";
import { listenForInterruption } from "./interruption.ts";
import { createOutput, type Output, type Streams } from "./output.ts";
import type { GlobalOptions } from "./workspace.ts";

/** What a command gets: its parsed words and options, and the way to print. */
export interface CommandContext {
  readonly globals: GlobalOptions;
  readonly output: Output;
  /** Aborted by Ctrl-C, SIGTERM, and the end of the terminal. */
  readonly signal: AbortSignal;
}

/** @returns the exit code. */
export type CommandRun<Options> = (
  context: CommandContext,
  words: readonly string[],
  options: Options,
) => Promise<number>;

/** Runs one command line and sets the exit code of the process. */
export async function main(words: readonly string[]): Promise<void> {
  // A diagnostic report of Node.js would hold the whole environment.
  process.report.excludeEnv = true;
  const streams: Streams = {
    stdout: process.stdout,
    stderr: process.stderr,
    isInteractive: process.stdin.isTTY && process.stderr.isTTY,
  };
  watchStreams(streams);
  process.exitCode = await runCli(words, streams);
}

/** To the end of the process: what could not be written is told late. */
function watchStreams(streams: Streams): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    // The shell's pipe was closed (`| head`): the rest is not wanted.
    if (error.code === "EPIPE") return;
    const { exitCode: lost } = errorCodes.internal;
    streams.stderr.write(
      `portcullis: the output could not be written (${error.code}); what was done is in \`portcullis activity\`\n`,
    );
    process.once("exit", () => void (process.exitCode = lost));
  });
  // Nobody listens to talk: the result and the exit code say what there is to say.
  process.stderr.on("error", () => undefined);
}

/** Runs one command line. @returns the exit code. */
export async function runCli(words: readonly string[], streams: Streams): Promise<number> {
  const interruption = listenForInterruption(streams);
  let exitCode = 0;
  // What follows `--` belongs to somebody else.
  const isJson = (words.includes("--") ? words.slice(0, words.indexOf("--")) : words).includes("--json");
  const program = buildProgram(streams, interruption.signal, isJson, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync([...words], { from: "user" });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError && (error.exitCode === 0 || !isJson))
      return error.exitCode === 0 ? 0 : 2;
    return createOutput(streams, isJson).fail(
      error instanceof CommanderError
        ? new PortcullisError(
            "usage",
            error.code === "commander.help" ? "name a command" : error.message.replace(/^error: /u, ""),
          )
        : toPortcullisError(error),
    );
  } finally {
    interruption.stop();
  }
}

function buildProgram(
  streams: Streams,
  signal: AbortSignal,
  isJson: boolean,
  done: (exitCode: number) => void,
): Command {
  const program = new Command("portcullis")
    .description("The layer between an agent and MCP servers that nobody vetted.")
    .version(isJson ? printJson({ version: VERSION }) : VERSION)
    .option("--config <file>", "the configuration (default: ./portcullis.json, then the user's)")
    .option("--state <dir>", "where state lives (default: the user's state directory)")
    .option("--json", "standard output is exactly one JSON document", false)
    .showSuggestionAfterError()
    .showHelpAfterError("Add --help to see how it is used.")
    .configureOutput({
      writeOut: (text) => void streams.stdout.write(text),
      // With `--json` an error is told by its document, and as talk once: `Output.fail`.
      writeErr: (text) => void (isJson ? undefined : streams.stderr.write(text)),
    })
    .exitOverride();
  if (isJson)
    program.configureHelp({ formatHelp: (command) => `${printJson(helpDocument(command, commands))}\n` });
  else program.addHelpText("after", EXIT_CODES_TEXT);
  for (const row of commands) {
    const command = program.command(row.usage).description(row.summary).exitOverride();
    for (const [flags, description] of row.options ?? []) {
      const option = new Option(flags, description);
      // `NAME=VALUE` may be given again and again.
      if (/<name.value>/.test(flags))
        option.argParser((value: string, before: readonly string[] | undefined) => [
          ...(before ?? []),
          value,
        ]);
      command.addOption(option);
    }
    if (!isJson) {
      if (row.example !== undefined) command.addHelpText("after", `\nExample: portcullis ${row.example}`);
      command.addHelpText("after", "\n--config, --state and --json work here too: see `portcullis --help`.");
    }
    // The global options may stand behind the command as well.
    command.addOption(new Option("--json").hideHelp());
    command.addOption(new Option("--config <file>").hideHelp());
    command.addOption(new Option("--state <dir>").hideHelp());
    command.action(async (...given: unknown[]) => {
      const options = command.opts<Partial<GlobalOptions>>();
      const globals = { ...program.opts<GlobalOptions>(), ...options };
      const output = createOutput(streams, globals.json);
      const arguments_ = given
        .slice(0, command.registeredArguments.length)
        .flat()
        .filter((word) => word !== undefined);
      try {
        const { run } = await row.load();
        done(await run({ globals, output, signal }, arguments_ as string[], options as never));
      } catch (error) {
        done(output.fail(toPortcullisError(error)));
      }
    });
  }
  return program;
}

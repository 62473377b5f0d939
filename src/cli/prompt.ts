/** Questions at the terminal. Only asked where a person is there to answer (`Output.isInteractive`). */
import { createInterface } from "node:readline/promises";
import { abortReason } from "../base/abort.ts";
import { PortcullisError } from "../errors.ts";

/** A terminal that is gone cannot be set back either; the signal that tells of it ends the question. */
const endsOtherwise = (): void => undefined;

/**
 * @returns what was typed, without white space around; nothing where the input ended (Ctrl-D).
 * @throws the signal's reason; PortcullisError `cancelled` on Ctrl-C, which also ends the command.
 */
export async function askLine(question: string, signal?: AbortSignal): Promise<string> {
  // Asked on standard error: standard output belongs to the result.
  const reader = createInterface({ input: process.stdin, output: process.stderr });
  reader.on("error", endsOtherwise);
  const interrupted = new AbortController();
  // While a line is read the terminal sends no signal for Ctrl-C.
  reader.on("SIGINT", () => {
    interrupted.abort();
    process.emit("SIGINT", "SIGINT");
  });
  const ended = new Promise<string>((resolve) => reader.once("close", () => resolve("")));
  try {
    const until = signal === undefined ? interrupted.signal : AbortSignal.any([signal, interrupted.signal]);
    const line = await Promise.race([reader.question(question, { signal: until }), ended]);
    return line.trim();
  } catch (error) {
    if (interrupted.signal.aborted) throw new PortcullisError("cancelled", "interrupted", { cause: error });
    throw signal?.aborted === true ? abortReason(signal) : error;
  } finally {
    reader.close();
  }
}

/** What is typed or piped in, line by line, without white space around, until `signal` or the end of the input. */
export async function* readLines(prompt: string, signal: AbortSignal): AsyncGenerator<string> {
  const reader = createInterface({ input: process.stdin, output: process.stderr, prompt });
  reader.on("error", endsOtherwise);
  const close = (): void => reader.close();
  signal.addEventListener("abort", close, { once: true });
  try {
    if (signal.aborted) return;
    reader.prompt();
    for await (const line of reader) {
      yield line.trim();
      reader.prompt();
    }
  } finally {
    signal.removeEventListener("abort", close);
    reader.close();
  }
}

/** Anything but a clear yes is no. */
export async function askYesOrNo(question: string, signal?: AbortSignal): Promise<boolean> {
  return /^y(es)?$/iu.test(await askLine(`${question} [y/N] `, signal));
}

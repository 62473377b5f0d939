/** Questions at the terminal. Only asked where a person is there to answer (`Output.isInteractive`). */
import { createInterface } from "node:readline/promises";

/** @returns what was typed, without white space around. @throws the signal's reason. */
export async function askLine(question: string, signal?: AbortSignal): Promise<string> {
  // Asked on standard error: standard output belongs to the result.
  const reader = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const line =
      signal === undefined ? await reader.question(question) : await reader.question(question, { signal });
    return line.trim();
  } finally {
    reader.close();
  }
}

/** Anything but a clear yes is no. */
export async function askYesOrNo(question: string, signal?: AbortSignal): Promise<boolean> {
  return /^y(es)?$/iu.test(await askLine(`${question} [y/N] `, signal));
}

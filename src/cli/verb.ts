/** The shape of most commands: load, trust, run one operation, print. */
import { addAbortSignal } from "node:stream";
import { abortReason } from "../base/abort.ts";
import { errorCodes, PortcullisError, type ErrorCode } from "../errors.ts";
import type { Operation } from "../operations/operation.ts";
import { findInexact } from "../base/exact-json.ts";
import { isJsonObject, parseJson, type JsonObject } from "../base/json.ts";
import { decodeUtf8 } from "../base/utf8.ts";
import { systemClock } from "../base/clock.ts";
import type { Config } from "../config/compiled.ts";
import { parseDuration } from "../config/duration.ts";
import type { CommandContext } from "./main.ts";
import { openRunner } from "./runner.ts";
import { loadTrusted } from "./workspace.ts";

/** Runs `operation` and prints its answer. @returns what `exitCode` says of it (default 0); errors are thrown. */
export async function runVerb<Output>(
  context: CommandContext,
  operation: Pick<Operation, "name" | "isLive"> & { run: (...given: never[]) => Promise<Output> },
  input: unknown,
  render: (document: Output) => string,
  exitCode: (document: Output) => number = () => 0,
): Promise<number> {
  return runVerbOn(
    await loadTrusted(context.globals, context.output, context.signal),
    context,
    operation,
    input,
    render,
    exitCode,
  );
}

/** Like `runVerb`, where the configuration was looked at before. */
export async function runVerbOn<Output>(
  config: Config,
  context: CommandContext,
  operation: Parameters<typeof runVerb<Output>>[1],
  input: unknown,
  render: (document: Output) => string,
  exitCode: (document: Output) => number = () => 0,
): Promise<number> {
  const runner = await openRunner(config, operation.isLive, context.output);
  try {
    const document = await runner.run<Output>(
      operation as unknown as Operation<never, Output>,
      input,
      context.signal,
    );
    context.output.result(document, render);
    return exitCode(document);
  } finally {
    await runner.close();
  }
}

/** Like `runVerb`, for what ends in an outcome: its code is the exit code. */
export async function runOutcomeVerb<Output extends { readonly code: ErrorCode | null }>(
  context: CommandContext,
  operation: Parameters<typeof runVerb<Output>>[1],
  input: unknown,
  render: (document: Output) => string,
): Promise<number> {
  return runVerb(context, operation, input, render, ({ code }) =>
    code === null ? 0 : errorCodes[code].exitCode,
  );
}

/** Arguments given as JSON on the command line, or with `-` on standard input. @throws PortcullisError `usage`, `invalid_arguments`. */
export async function readJsonWord(word: string | undefined, signal: AbortSignal): Promise<JsonObject> {
  if (word === undefined) return {};
  const text = word === "-" ? await readStandardInput(signal) : word;
  const value = parseJson(text);
  if (isJsonObject(value)) {
    const inexact = findInexact(text, value);
    if (inexact !== undefined) throw new PortcullisError("invalid_arguments", inexact);
    return value;
  }
  throw new PortcullisError(
    "usage",
    `the arguments must be a JSON object, such as '{"message":"hi"}'; got \`${text.slice(0, 80)}\``,
  );
}

/** `undefined` members are left out, as exact optional types want. */
export function given<T extends object>(members: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as never;
}

async function readStandardInput(signal: AbortSignal): Promise<string> {
  const chunks: Buffer[] = [];
  const input = addAbortSignal(signal, process.stdin);
  try {
    for await (const chunk of input) chunks.push(chunk as Buffer);
  } catch (error) {
    throw signal.aborted ? abortReason(signal) : error;
  }
  const { text, hasInvalidUtf8 } = decodeUtf8(Buffer.concat(chunks));
  // It would be sent otherwise than it was written.
  if (hasInvalidUtf8) throw new PortcullisError("usage", "what came on standard input is not UTF-8");
  return text;
}

/** When `--since 7d` began, epoch milliseconds. @throws PortcullisError `usage`. */
export function sinceToMs(since: string | undefined): number | undefined {
  if (since === undefined) return undefined;
  const durationMs = parseDuration(since);
  if (durationMs === null)
    throw new PortcullisError(
      "usage",
      `--since is a duration such as 7d or 12h; got \`${since.slice(0, 80)}\``,
    );
  return systemClock.now() - durationMs;
}

/** The number of `--limit`. @throws PortcullisError `usage`. */
export function limitOf(limit: string | undefined): number | undefined {
  if (limit === undefined) return undefined;
  if (/^[1-9]\d{0,8}$/u.test(limit)) return Number(limit);
  throw new PortcullisError("usage", `--limit is a whole number from 1; got \`${limit.slice(0, 80)}\``);
}

/** The one server of a command that takes a name or `--all`. @throws PortcullisError `usage` where it is neither or both. */
export function serverOrAll(
  words: readonly string[],
  options: { readonly all?: boolean },
  command: string,
): { server?: string } {
  const [server] = words;
  if ((server === undefined) === (options.all !== true)) {
    throw new PortcullisError("usage", `\`${command}\` takes the name of a server, or --all`);
  }
  return server === undefined ? {} : { server };
}

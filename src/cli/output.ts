/**
 * What the CLI prints. With `--json` standard output is exactly one JSON document; talk goes to standard error. Everything
 * that came from a server has been cleaned before it gets here; `line` makes sure once more that no control character
 * reaches the terminal.
 */
import { errorCodes, type PortcullisError } from "../errors.ts";
import { cleanForPerson } from "../text/clean.ts";
import { printJson } from "../text/json-text.ts";

export interface Streams {
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
  /** True where a person can be asked. */
  readonly isInteractive: boolean;
}

export interface Output {
  readonly isJson: boolean;
  readonly isInteractive: boolean;
  /** The result: the JSON document with `--json`, otherwise the text that `render` makes of it. */
  result<Document>(document: Document, render: (document: Document) => string): void;
  /** Talk to the person, on standard error. */
  say(text: string): void;
  /** An error as the end of a command; after a result it is told on standard error only. @returns the exit code. */
  fail(error: PortcullisError): number;
}

export function createOutput(streams: Streams, isJson: boolean): Output {
  const say = (text: string): void => {
    streams.stderr.write(`${cleanForPerson(text)}\n`);
  };
  let hasResult = false;
  return {
    isJson,
    isInteractive: streams.isInteractive,
    result(document, render) {
      hasResult = true;
      streams.stdout.write(isJson ? `${printJson(document)}\n` : `${cleanForPerson(render(document))}\n`);
    },
    say,
    fail(error) {
      const row = errorCodes[error.code];
      if (isJson && !hasResult) {
        const document = { error: { code: error.code, message: error.message, help: row.help } };
        streams.stdout.write(`${printJson(document)}\n`);
      }
      say(`portcullis: ${error.message}\n${row.help}`);
      return row.exitCode;
    },
  };
}

/** `2026-11-30T14:02:11Z` as `14:02:11` today, with the date otherwise; UTC is said. */
export function shortTime(iso: string | number, nowMs: number): string {
  const time = new Date(iso).toISOString();
  const day = time.slice(0, 10);
  return day === new Date(nowMs).toISOString().slice(0, 10)
    ? time.slice(11, 19)
    : `${day} ${time.slice(11, 16)}`;
}

/**
 * What is wrong with a configuration, and where. Every problem is reported, not the first one; a message names the key
 * and the fix and never holds a secret.
 */
import { PortcullisError } from "../errors.ts";
import type { ConfigProblem } from "./compiled.ts";

/** Where a value stands in the raw configuration. */
export type ConfigPath = readonly (string | number)[];

/** A problem before its line is known. */
export interface RawProblem {
  readonly path: ConfigPath;
  /** Whether the key is wrong or what it holds: decides which of the two is pointed at. */
  readonly at: "key" | "value";
  readonly message: string;
  readonly code: "config_invalid" | "config_not_yet";
}

/** 1-based line and column (UTF-16 code units) of a place in the file; `null` for an object given in code. */
export type Positions = (
  path: ConfigPath,
  at: RawProblem["at"],
) => { readonly line: number; readonly column: number } | null;

/** A problem of what `path` holds. */
export function wrongValue(path: ConfigPath, message: string): RawProblem {
  return { path, at: "value", message, code: "config_invalid" };
}

/** A problem of the key at the end of `path`. */
export function wrongKey(path: ConfigPath, message: string): RawProblem {
  return { path, at: "key", message, code: "config_invalid" };
}

/** `mcpServers.github.tools["search_*"].grade`; keys that are no plain names are quoted, so control characters show. */
export function formatPath(path: ConfigPath): string {
  let text = "";
  for (const part of path) {
    if (typeof part === "number") text += `[${part}]`;
    else if (/^[A-Za-z_$][\w$-]{0,63}$/.test(part)) text += text === "" ? part : `.${part}`;
    else text += `[${JSON.stringify(part.length > 80 ? `${part.slice(0, 80)}…` : part)}]`;
  }
  return text;
}

/** The problem with its place in the file. */
export function placeProblem(problem: RawProblem, file: string | null, positions: Positions): ConfigProblem {
  const place = positions(problem.path, problem.at);
  return Object.freeze({
    file,
    line: place?.line ?? null,
    column: place?.column ?? null,
    path: formatPath(problem.path),
    message: problem.message,
  });
}

/** `file:line:column: path: message`, without the parts that are not known. */
export function formatProblem(problem: ConfigProblem): string {
  const place = [problem.file, problem.line, problem.column].filter((part) => part !== null).join(":");
  return [place, problem.path, problem.message].filter((part) => part !== "").join(": ");
}

/** Problems that an error message spells out; all of them are in its `data.problems`. */
const MAX_PROBLEMS_IN_MESSAGE = 50;

/**
 * The error for `problems` (at least one): `data.problems` holds all of them, the message one line each.
 *
 * @param code `config_not_yet` only where nothing else is wrong.
 */
export function configError(code: RawProblem["code"], problems: readonly ConfigProblem[]): PortcullisError {
  const lines = problems.slice(0, MAX_PROBLEMS_IN_MESSAGE).map(formatProblem);
  if (problems.length > lines.length) lines.push(`and ${problems.length - lines.length} more`);
  return new PortcullisError(code, lines.join("\n"), { data: { problems } });
}

/** The error for what was found (at least one problem), sorted by its place in the file. */
export function problemsError(
  found: readonly RawProblem[],
  file: string | null,
  positions: Positions,
): PortcullisError {
  const isNotYet = found.every((problem) => problem.code === "config_not_yet");
  const problems = found.map((problem) => placeProblem(problem, file, positions));
  problems.sort((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0));
  return configError(isNotYet ? "config_not_yet" : "config_invalid", problems);
}

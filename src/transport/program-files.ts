/**
 * Which files of this machine a command needs to start at all, so that a sandbox can show it those and nothing else: the
 * program, the interpreter that its `#!` line names, the libraries installed beside them, the script that it is given, and
 * the packages that this script can import. POSIX only.
 */
import { accessSync, constants, openSync, readSync, closeSync, realpathSync, statSync } from "node:fs";
import { basename, delimiter, dirname, join, resolve } from "node:path";

export interface ProgramFiles {
  /** Absolute path of the program; `undefined` where there is none. */
  readonly program: string | undefined;
  /** Absolute paths of files and folders, as named and as they really are. */
  readonly needed: readonly string[];
}

/** Programs whose first plain argument is a script. */
const INTERPRETER =
  /^(?:node|deno|bun|tsx|python[\d.]*|pypy[\d.]*|ruby|perl|php[\d.]*|java|bash|sh|dash|zsh)$/;
/** A script of a script of a script: deeper than any that is meant. */
const MAX_INTERPRETERS = 4;

/** The executable file that `command` means: itself where it holds a `/`, otherwise the first in `path` of that name. */
export function findProgram(command: string, path: string, cwd: string): string | undefined {
  if (command.includes("/")) {
    const file = resolve(cwd, command);
    return isExecutable(file) ? file : undefined;
  }
  return path
    .split(delimiter)
    .filter((folder) => folder.startsWith("/"))
    .map((folder) => join(folder, command))
    .find(isExecutable);
}

/** What has to be readable to start `command` with `args`. Reads the file system; names only what is there. */
export function listProgramFiles(command: {
  readonly command: string;
  readonly args: readonly string[];
  readonly path: string;
  readonly cwd: string;
}): ProgramFiles {
  const program = findProgram(command.command, command.path, command.cwd);
  if (program === undefined) return { program, needed: [] };
  const needed = new Set<string>();
  let file: string | undefined = program;
  let args: readonly string[] = command.args;
  for (let depth = 0; file !== undefined && depth < MAX_INTERPRETERS; depth += 1) {
    const line = readInterpreterLine(file);
    if (line === undefined) break;
    // A script: its interpreter is given its path first.
    addScript(needed, file);
    args = [...line.slice(1), file, ...args];
    file = findProgram(line[0] ?? "", command.path, command.cwd);
  }
  if (file !== undefined) {
    addInstalled(needed, file);
    if (INTERPRETER.test(basename(file))) {
      const script = args.find((arg) => !arg.startsWith("-") && isFile(resolve(command.cwd, arg)));
      if (script !== undefined) addScript(needed, resolve(command.cwd, script));
    }
  }
  return { program, needed: [...needed] };
}

/** A program and what is installed with it: `PREFIX/bin/x` reads `PREFIX/lib`, a Python environment its `pyvenv.cfg`. */
function addInstalled(needed: Set<string>, program: string): void {
  for (const file of bothNames(program)) {
    needed.add(file);
    const prefix = dirname(dirname(file));
    for (const name of ["lib", "lib64", "pyvenv.cfg"]) addIfThere(needed, join(prefix, name));
  }
}

/** A script, and what it can import by name: every `node_modules` above it, and the `package.json` that says what it is. */
function addScript(needed: Set<string>, script: string): void {
  for (const file of bothNames(script)) {
    needed.add(file);
    let hasPackage = false;
    for (let folder = dirname(file); ; folder = dirname(folder)) {
      if (basename(folder) !== "node_modules") addIfThere(needed, join(folder, "node_modules"));
      if (!hasPackage) hasPackage = addIfThere(needed, join(folder, "package.json"));
      if (folder === dirname(folder)) break;
    }
  }
}

/** As named, and where the links lead. */
function bothNames(file: string): readonly string[] {
  const real = realPathOf(file);
  return real === undefined || real === file ? [file] : [file, real];
}

function addIfThere(needed: Set<string>, path: string): boolean {
  if (realPathOf(path) === undefined) return false;
  for (const name of bothNames(path)) needed.add(name);
  return true;
}

const INTERPRETER_LINE_BYTES = 256;

/** The words of a `#!` line, `env` taken out of it; `undefined` for a program of its own. */
function readInterpreterLine(file: string): readonly string[] | undefined {
  const start = Buffer.alloc(INTERPRETER_LINE_BYTES);
  let length = 0;
  try {
    const handle = openSync(file, "r");
    try {
      length = readSync(handle, start, 0, INTERPRETER_LINE_BYTES, 0);
    } finally {
      closeSync(handle);
    }
  } catch {
    return undefined;
  }
  const [line = ""] = start.toString("latin1", 0, length).split("\n", 1);
  if (!line.startsWith("#!")) return undefined;
  const words = line
    .slice(2)
    .trim()
    .split(/[ \t\r]+/);
  if (basename(words[0] ?? "") !== "env") return words;
  return words.slice(words[1] === "-S" ? 2 : 1);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** Where the links of `path` lead; `undefined` where it is not there. */
export function realPathOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

/**
 * The environment of a child process: PATH, HOME, the few names that its operating system needs, and what its entry names.
 * Nothing else of the host's environment ever reaches it, whether the entry names something or not. Pure.
 */
import path from "node:path";

const POSIX_NAMES: readonly string[] = [
  "PATH",
  "HOME",
  "USER",
  "LOGNAME",
  "SHELL",
  "TERM",
  "TMPDIR",
  "TZ",
  "LANG",
  "LC_ALL",
  "LC_CTYPE",
];

/** Without these many programs of Windows do not even start. */
const WINDOWS_NAMES: readonly string[] = [
  "PATH",
  "PATHEXT",
  "COMSPEC",
  "SYSTEMROOT",
  "SYSTEMDRIVE",
  "WINDIR",
  "TEMP",
  "TMP",
  "HOMEDRIVE",
  "HOMEPATH",
  "USERPROFILE",
  "USERNAME",
  "APPDATA",
  "LOCALAPPDATA",
  "PROGRAMDATA",
  "PROGRAMFILES",
  "PROGRAMFILES(X86)",
  "PROCESSOR_ARCHITECTURE",
  "NUMBER_OF_PROCESSORS",
  "OS",
];

/** The names that pass from the host to a child on `platform`; on Windows upper and lower case are the same. */
export function passedNames(platform: NodeJS.Platform): readonly string[] {
  if (platform === "win32") return WINDOWS_NAMES;
  return platform === "darwin" ? [...POSIX_NAMES, "__CF_USER_TEXT_ENCODING"] : POSIX_NAMES;
}

export interface ChildEnvironmentOptions {
  /** The environment of this process. */
  readonly host: Readonly<Record<string, string | undefined>>;
  /** What the entry names, resolved; it wins. */
  readonly entry: Readonly<Record<string, string>>;
  readonly platform: NodeJS.Platform;
  /** The command as it is started: the folder of an absolute one is appended to PATH, so that its `#!` line finds its neighbours. */
  readonly command?: string;
}

/** The whole environment of a child. Values that hold exported shell functions (`() {…`) are left out. */
export function childEnvironment(options: ChildEnvironmentOptions): Record<string, string> {
  const isWindows = options.platform === "win32";
  const fold = (name: string): string => (isWindows ? name.toUpperCase() : name);
  const passed = new Set(passedNames(options.platform));
  const environment = new Map<string, { name: string; value: string }>();
  for (const [name, value] of Object.entries(options.host)) {
    if (value === undefined || !passed.has(fold(name)) || value.startsWith("()")) continue;
    environment.set(fold(name), { name, value });
  }
  for (const [name, value] of Object.entries(options.entry)) environment.set(fold(name), { name, value });
  const search = environment.get("PATH");
  const folder = commandFolder(options.command, isWindows);
  if (folder !== null) {
    const separator = isWindows ? ";" : ":";
    const folders = search === undefined || search.value === "" ? [] : search.value.split(separator);
    if (!folders.includes(folder)) {
      environment.set("PATH", { name: search?.name ?? "PATH", value: [...folders, folder].join(separator) });
    }
  }
  return Object.fromEntries([...environment.values()].map(({ name, value }) => [name, value]));
}

function commandFolder(command: string | undefined, isWindows: boolean): string | null {
  const rules = isWindows ? path.win32 : path.posix;
  return command !== undefined && rules.isAbsolute(command) ? rules.dirname(command) : null;
}

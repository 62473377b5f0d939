/** Paths as configured: `~` is the home folder, what is relative belongs to the folder of the configuration file. Pure. */
import path from "node:path";

/** What decides the meaning of a path. */
export interface PathFacts {
  /** Folder of the configuration file; absolute. */
  readonly baseDir: string;
  readonly homeDir: string;
  readonly platform: NodeJS.Platform;
}

/** The path rules of `platform`. */
export function pathRules(platform: NodeJS.Platform): path.PlatformPath {
  return platform === "win32" ? path.win32 : path.posix;
}

/** The absolute path that `text` means. */
export function resolveConfigPath(text: string, facts: PathFacts): string {
  const rules = pathRules(facts.platform);
  return rules.resolve(facts.baseDir, expandHome(text, facts));
}

/** `~` and `~/…` with the home folder in place of the tilde; anything else as it is. */
function expandHome(text: string, facts: Pick<PathFacts, "homeDir" | "platform">): string {
  if (text === "~") return facts.homeDir;
  const isHome = text.startsWith("~/") || (facts.platform === "win32" && text.startsWith("~\\"));
  return isHome ? pathRules(facts.platform).join(facts.homeDir, text.slice(2)) : text;
}

/** Whether `text` starts at a root or at home, so that no other folder decides what it means. */
export function isRootedPath(text: string, platform: NodeJS.Platform): boolean {
  return pathRules(platform).isAbsolute(text) || text === "~" || /^~[/\\]/.test(text);
}

/**
 * A command as it is started: one with a path separator is a file and becomes absolute (`./node_modules/.bin/x` belongs to the
 * folder of the configuration file), a bare name is left for PATH. References inside are kept.
 */
export function resolveCommand(command: string, facts: PathFacts): string {
  const isFile =
    command.includes("/") || (facts.platform === "win32" && command.includes("\\")) || command === "~";
  if (!isFile || command.startsWith("${")) return command;
  return command.includes("${") && isRootedPath(command, facts.platform)
    ? expandHome(command, facts)
    : resolveConfigPath(command, facts);
}

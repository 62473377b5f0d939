/** Folders where desktop programs keep their settings, by operating system. */
import type { HostFacts } from "../locate.ts";
import { pathRules } from "../paths.ts";

/** `~/Library/Application Support`, `%APPDATA%`, or `$XDG_CONFIG_HOME` (`~/.config`). */
export function appDataDir(facts: HostFacts): string {
  const rules = pathRules(facts.platform);
  const variable = (name: string): string | undefined => {
    const value = Object.hasOwn(facts.env, name) ? facts.env[name] : undefined;
    return value !== undefined && rules.isAbsolute(value) ? value : undefined;
  };
  switch (facts.platform) {
    case "darwin":
      return rules.join(facts.homeDir, "Library", "Application Support");
    case "win32":
      return variable("APPDATA") ?? rules.join(facts.homeDir, "AppData", "Roaming");
    default:
      return variable("XDG_CONFIG_HOME") ?? rules.join(facts.homeDir, ".config");
  }
}

/** A path below the home folder. */
export function homePath(facts: HostFacts, ...parts: readonly string[]): string {
  return pathRules(facts.platform).join(facts.homeDir, ...parts);
}

/** A path below the current folder. */
export function projectPath(facts: HostFacts, ...parts: readonly string[]): string {
  return pathRules(facts.platform).join(facts.cwd, ...parts);
}

/** A path below the folder that a variable names, or below `fallback` where it is not set. */
export function variablePath(
  facts: HostFacts,
  name: string,
  fallback: string,
  ...parts: readonly string[]
): string {
  const rules = pathRules(facts.platform);
  const value = Object.hasOwn(facts.env, name) ? facts.env[name] : undefined;
  return rules.join(value !== undefined && rules.isAbsolute(value) ? value : fallback, ...parts);
}

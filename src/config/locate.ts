/**
 * Where the configuration is looked for, and where state lives. State is never inside a checkout: a repository must not be
 * able to bring pins, approvals or trust along.
 */
import { createHash } from "node:crypto";
import { realpath, stat } from "node:fs/promises";
import { PortcullisError } from "../errors.ts";
import { describeFileError, describeNoFile } from "./file-kind.ts";
import { pathRules } from "./paths.ts";

/** What of the world decides where things are; all given, nothing is read from the process. */
export interface HostFacts {
  /** Absolute. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Absolute. */
  readonly homeDir: string;
  readonly platform: NodeJS.Platform;
}

const CONFIG_FILE_NAME = "portcullis.json";

/** The user's configuration directory: `$XDG_CONFIG_HOME`, or what the operating system says. */
export function userConfigDir(facts: HostFacts): string {
  const rules = pathRules(facts.platform);
  const given = absoluteVariable(facts, "XDG_CONFIG_HOME");
  if (given !== null) return rules.join(given, "portcullis");
  switch (facts.platform) {
    case "win32":
      return rules.join(
        absoluteVariable(facts, "APPDATA") ?? rules.join(facts.homeDir, "AppData", "Roaming"),
        "portcullis",
      );
    case "darwin":
      return rules.join(facts.homeDir, "Library", "Application Support", "portcullis");
    default:
      return rules.join(facts.homeDir, ".config", "portcullis");
  }
}

/** The user's state directory: `$XDG_STATE_HOME`, or what the operating system says. */
export function userStateDir(facts: HostFacts): string {
  const rules = pathRules(facts.platform);
  const given = absoluteVariable(facts, "XDG_STATE_HOME");
  if (given !== null) return rules.join(given, "portcullis");
  switch (facts.platform) {
    case "win32":
      return rules.join(
        absoluteVariable(facts, "LOCALAPPDATA") ?? rules.join(facts.homeDir, "AppData", "Local"),
        "portcullis",
        "state",
      );
    case "darwin":
      return rules.join(facts.homeDir, "Library", "Application Support", "portcullis", "state");
    default:
      return rules.join(facts.homeDir, ".local", "state", "portcullis");
  }
}

/** The XDG specification: relative paths in these variables are ignored. */
function absoluteVariable(facts: HostFacts, name: string): string | null {
  const value = Object.hasOwn(facts.env, name) ? facts.env[name] : undefined;
  return value !== undefined && value !== "" && pathRules(facts.platform).isAbsolute(value) ? value : null;
}

/** The state folder of one configuration file (its real path): readable at the front, unique by its hash. */
export function stateDirFor(configFile: string, facts: HostFacts): string {
  const rules = pathRules(facts.platform);
  const hash = createHash("sha256").update(configFile).digest("hex").slice(0, 16);
  const folder = rules
    .basename(rules.dirname(configFile))
    .replaceAll(/[^A-Za-z0-9._-]+/g, "-")
    .replaceAll(/^[.-]+/g, "")
    .slice(0, 40);
  return rules.join(userStateDir(facts), `${folder === "" ? "config" : folder}-${hash}`);
}

export interface LocatedConfig {
  /** Absolute; links are resolved, so that one file has one state. */
  readonly file: string;
  /** Found by searching and not named by the caller: then it has to be trusted first. */
  readonly isDiscovered: boolean;
}

/**
 * The configuration file: `file` where given, else `./portcullis.json`, else the one in the user's configuration directory.
 *
 * @throws PortcullisError `config_not_found` that names the places looked at, or says what is there instead of a file.
 */
export async function locateConfig(file: string | undefined, facts: HostFacts): Promise<LocatedConfig> {
  const rules = pathRules(facts.platform);
  const candidates =
    file === undefined
      ? [rules.join(facts.cwd, CONFIG_FILE_NAME), rules.join(userConfigDir(facts), CONFIG_FILE_NAME)]
      : [rules.resolve(facts.cwd, file)];
  for (const candidate of candidates) {
    try {
      const real = await realpath(candidate);
      const stats = await stat(real);
      const noFile = describeNoFile(stats);
      if (noFile === undefined) return { file: real, isDiscovered: file === undefined };
      const inIt = stats.isDirectory()
        ? `: name the file in it, \`${rules.join(candidate, CONFIG_FILE_NAME)}\``
        : "";
      throw new PortcullisError("config_not_found", `\`${candidate}\` ${noFile}${inIt}`);
    } catch (error) {
      if (error instanceof PortcullisError) throw error;
      const code = error instanceof Error && "code" in error ? error.code : undefined;
      if (code === "ENOENT" || code === "ENOTDIR") continue;
      throw new PortcullisError("config_not_found", `\`${candidate}\` ${describeFileError(error)}`, {
        cause: error,
      });
    }
  }
  const places = candidates.map((candidate) => `\`${candidate}\``).join(" or ");
  throw new PortcullisError("config_not_found", `there is no configuration at ${places}`, {
    data: { candidates },
  });
}

/**
 * The checkout that `folder` lies in: the nearest folder at or above it with a `.git`. The home folder does not count, because
 * people keep their dotfiles in git and everything lies below it.
 */
export async function findCheckout(
  folder: string,
  facts: Pick<HostFacts, "homeDir" | "platform">,
): Promise<string | null> {
  const rules = pathRules(facts.platform);
  for (let at = rules.resolve(folder); ; at = rules.dirname(at)) {
    if (at !== rules.resolve(facts.homeDir) && (await exists(rules.join(at, ".git")))) return at;
    if (rules.dirname(at) === at) return null;
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch {
    return false;
  }
}

/**
 * The way from the world to a compiled configuration: find the file, read it once, parse, check, compile. The bytes that are
 * hashed for trust are the bytes that are compiled.
 */
import { createHash } from "node:crypto";
import { PortcullisError } from "../errors.ts";
import { compileConfig } from "./compile.ts";
import type { Config } from "./compiled.ts";
import { describeFileError, describeNoFile, openForReading } from "./file-kind.ts";
import { MAX_CONFIG_BYTES, parseConfigBytes } from "./jsonc.ts";
import { findCheckout, locateConfig, stateDirFor, type HostFacts } from "./locate.ts";
import { pathRules } from "./paths.ts";
import {
  configError,
  formatPath,
  formatProblem,
  placeProblem,
  wrongValue,
  type Positions,
} from "./problems.ts";
import type { TrustNeeded } from "./trust.ts";

export interface LoadOptions extends HostFacts {
  /** `--config`: naming the file is consent. */
  readonly file?: string;
  /** `--state`: wins over `store` and the user's state directory. */
  readonly stateDir?: string;
}

export interface LoadedConfig {
  readonly config: Config;
  /** For a discovered file: what has to be trusted (`ensureTrusted`) before anything in it is used; `null` for a named one. */
  readonly trustNeeded: TrustNeeded | null;
}

/**
 * Finds, reads and compiles the configuration.
 *
 * @throws PortcullisError `config_not_found`, `config_invalid`, `config_not_yet`; the latter two with every problem in
 * `data.problems`.
 */
export async function loadConfig(options: LoadOptions): Promise<LoadedConfig> {
  const located = await locateConfig(options.file, options);
  return loadLocated(located.file, located.isDiscovered, options);
}

/** Reads and compiles `file` (a real path), as `loadConfig` does after the search: also for reloading. */
export async function loadLocated(
  file: string,
  isDiscovered: boolean,
  options: LoadOptions,
): Promise<LoadedConfig> {
  const rules = pathRules(options.platform);
  const { bytes, isWritableByAll } = await readConfigFile(file);
  const digest = digestBytes(bytes);
  const parsed = parseConfigBytes(bytes);
  if (parsed.problems.length > 0) {
    const problems = parsed.problems.map(({ line, column, path, message }) => ({
      file,
      line,
      column,
      path: formatPath(path),
      message,
    }));
    throw configError("config_invalid", problems);
  }
  const userDir = stateDirFor(file, options);
  const stateDir = options.stateDir === undefined ? userDir : rules.resolve(options.cwd, options.stateDir);
  const config = compileConfig(parsed.value, {
    file,
    baseDir: rules.dirname(file),
    homeDir: options.homeDir,
    platform: options.platform,
    stateDir,
    isStateDirGiven: options.stateDir !== undefined,
    digest,
    positions: parsed.positions,
  });
  if (options.stateDir === undefined) await refuseStateInCheckout(config, options, parsed.positions);
  const withModes = isWritableByAll ? warnWritable(config) : config;
  const trustNeeded = isDiscovered
    ? { file, digest, stateDir: options.stateDir === undefined ? userDir : stateDir }
    : null;
  return { config: withModes, trustNeeded };
}

/** Hex SHA-256 of a file's bytes: what trust and `config_changed` compare. */
export function digestBytes(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/**
 * The bytes of a configuration file; at most one byte more than the cap is read.
 *
 * @throws PortcullisError `config_not_found` where it is not there, is no file or cannot be read.
 */
export async function readConfigFile(
  file: string,
): Promise<{ bytes: Uint8Array; isWritableByAll: boolean; mode: number }> {
  try {
    const handle = await openForReading(file);
    try {
      const stats = await handle.stat();
      const noFile = describeNoFile(stats);
      if (noFile !== undefined) throw new PortcullisError("config_not_found", `\`${file}\` ${noFile}`);
      const buffer = Buffer.alloc(Math.min(stats.size, MAX_CONFIG_BYTES) + 1);
      let length = 0;
      while (length < buffer.length) {
        const { bytesRead } = await handle.read(buffer, length, buffer.length - length, length);
        if (bytesRead === 0) break;
        length += bytesRead;
      }
      const mode = stats.mode & 0o777;
      return { bytes: buffer.subarray(0, length), isWritableByAll: (mode & 0o002) !== 0, mode };
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (error instanceof PortcullisError) throw error;
    throw new PortcullisError("config_not_found", `\`${file}\` ${describeFileError(error)}`, {
      cause: error,
    });
  }
}

/** A folder that `store` or a variable names must not lie in a checkout: what is checked out could bring its own state. */
async function refuseStateInCheckout(
  config: Config,
  options: LoadOptions,
  positions: Positions,
): Promise<void> {
  const checkout = await findCheckout(config.stateDir, options);
  if (checkout === null) return;
  const message = `state would lie in \`${config.stateDir}\`, inside the checkout \`${checkout}\`: name a folder outside, or use \`--state\``;
  const problem = placeProblem(wrongValue(["store"], message), config.file, positions);
  throw new PortcullisError("config_invalid", formatProblem(problem), { data: { problems: [problem] } });
}

function warnWritable(config: Config): Config {
  const warning = placeProblem(
    wrongValue([], "everybody on this machine can change this file: run `chmod o-w` on it"),
    config.file,
    () => ({ line: 1, column: 1 }),
  );
  return Object.freeze({ ...config, warnings: Object.freeze([warning, ...config.warnings]) });
}

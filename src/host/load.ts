/** The configuration of a host, in any of the forms that `openHost` takes. */
import type { JsonObject } from "../base/json.ts";
import { compileConfig } from "../config/compile.ts";
import type { Config } from "../config/compiled.ts";
import { loadConfig } from "../config/load.ts";
import { stateDirFor } from "../config/locate.ts";
import { thisProcess } from "../config/this-process.ts";

/**
 * Naming a file, and giving an object, are consent: neither is asked about.
 *
 * @throws PortcullisError `config_not_found`, `config_invalid`, `config_not_yet`.
 */
export async function loadGiven(
  given: Config | string | JsonObject,
  stateDir: string | undefined,
): Promise<Config> {
  if (isCompiled(given)) return given;
  const facts = thisProcess();
  const state = stateDir === undefined ? {} : { stateDir };
  if (typeof given === "string") return (await loadConfig({ ...facts, file: given, ...state })).config;
  return compileConfig(given, {
    ...facts,
    file: null,
    baseDir: facts.cwd,
    // Without a file the working directory says which state it is.
    stateDir: stateDir ?? stateDirFor(facts.cwd, facts),
    isStateDirGiven: stateDir !== undefined,
  });
}

function isCompiled(given: Config | string | JsonObject): given is Config {
  return typeof given === "object" && given["servers"] instanceof Map;
}

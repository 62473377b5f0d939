/** The configuration of a host, in any of the forms that `openHost` takes. */
import { isJsonObject, type JsonObject } from "../base/json.ts";
import { compileConfig } from "../config/compile.ts";
import type { Config } from "../config/compiled.ts";
import { loadConfig } from "../config/load.ts";
import { stateDirFor } from "../config/locate.ts";
import { thisProcess } from "../config/this-process.ts";
import { PortcullisError } from "../errors.ts";

/**
 * Naming a file, and giving an object, are consent: neither is asked about.
 *
 * @throws PortcullisError `config_not_found`, `config_invalid`, `config_not_yet`, `usage` for what is none of these forms.
 */
export async function loadGiven(
  given: Config | string | JsonObject,
  stateDir: string | undefined,
): Promise<Config> {
  if (typeof given !== "string" && !isJsonObject(given))
    throw new PortcullisError(
      "usage",
      "`config` must be the path of a file, the object that it would hold, or a compiled configuration",
    );
  if (stateDir !== undefined && (typeof stateDir !== "string" || stateDir === ""))
    throw new PortcullisError("usage", "`stateDir` must be the path of a folder");
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

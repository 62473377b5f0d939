/** What compiling needs to know of the world, as a value: compiling itself reads nothing. */
import type { PathFacts } from "./paths.ts";
import { wrongKey, wrongValue, type ConfigPath, type Positions, type RawProblem } from "./problems.ts";

export interface ConfigFacts extends PathFacts {
  /** Absolute path of the file, or `null` for an object given in code. */
  readonly file: string | null;
  /** Where state lives unless `store` names a folder; absolute. */
  readonly stateDir: string;
  /** `--state` was given: it wins over `store`. Default false. */
  readonly isStateDirGiven?: boolean;
  /** Hex SHA-256 of the file's bytes. Default: that of the canonical JSON. */
  readonly digest?: string;
  /** Places in the file. Default: none are known. */
  readonly positions?: Positions;
}

/** Collects what is wrong (stops everything) and what is worth saying (stops nothing) while a configuration is compiled. */
export interface Notes {
  wrong(path: ConfigPath, message: string): void;
  wrongKey(path: ConfigPath, message: string): void;
  warn(path: ConfigPath, message: string): void;
  readonly problems: readonly RawProblem[];
  readonly warnings: readonly RawProblem[];
}

export function createNotes(): Notes {
  const problems: RawProblem[] = [];
  const warnings: RawProblem[] = [];
  return {
    wrong: (path, message) => void problems.push(wrongValue(path, message)),
    wrongKey: (path, message) => void problems.push(wrongKey(path, message)),
    warn: (path, message) => void warnings.push(wrongValue(path, message)),
    problems,
    warnings,
  };
}

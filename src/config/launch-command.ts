/**
 * What a command line starts: a program of one's own, or a package that a runner fetches first. A package without an exact
 * version must not be started: what it does could change overnight. Pure; when in doubt it says so.
 */
import type { LaunchedPackage } from "./compiled.ts";
import { parsePackageSpec } from "./package-spec.ts";
import { runners, type Runner } from "./runners.ts";
import { maskSecret } from "./secret-shape.ts";

export type LaunchVerdict =
  | { readonly kind: "program" }
  /** `reason` says why it may not be started; `null`: every version is exact. */
  | { readonly kind: "package"; readonly package: LaunchedPackage; readonly reason: string | null }
  | { readonly kind: "unclear"; readonly reason: string };

const PROGRAM: LaunchVerdict = { kind: "program" };

/** Classifies `command` with `args`, both as written. */
export function classifyLaunch(command: string, args: readonly string[]): LaunchVerdict {
  return classify(command, args, 0);
}

/** @param from index in `args` where the arguments of `command` begin. */
function classify(command: string, args: readonly string[], from: number): LaunchVerdict {
  const name = programName(command);
  if (name === "env") return classifyEnv(args, from);
  if (name === "cmd") return classifyCmd(args, from);
  if (SHELLS.includes(name)) return classifyShell(name, args.slice(from));
  if (name === "deno") return classifyDeno(args, from);
  for (const runner of runners.get(name) ?? []) {
    const subcommand = runner.subcommands.find((words) =>
      words.every((word, at) => args[from + at] === word),
    );
    if (subcommand !== undefined) return readRunner(name, runner, args, from + subcommand.length);
  }
  return PROGRAM;
}

/** `/usr/bin/npx`, `npx.cmd` and `NPX` are all `npx`. */
export function programName(command: string): string {
  const file = command.slice(Math.max(command.lastIndexOf("/"), command.lastIndexOf("\\")) + 1);
  return file.toLowerCase().replace(/\.(?:cmd|exe|bat|ps1)$/, "");
}

function classifyEnv(args: readonly string[], from: number): LaunchVerdict {
  let at = from;
  while (args[at] === "-i" || /^[A-Za-z_]\w*=/.test(args[at] ?? "")) at += 1;
  const command = args[at];
  if (command === undefined) return PROGRAM;
  if (command.startsWith("-")) return { kind: "unclear", reason: `\`env ${command}\` hides what is started` };
  return classify(command, args, at + 1);
}

function classifyCmd(args: readonly string[], from: number): LaunchVerdict {
  let at = from;
  while (/^\/[a-z]$/i.test(args[at] ?? "")) at += 1;
  const command = args[at];
  return command === undefined ? PROGRAM : classify(command, args, at + 1);
}

const SHELLS: readonly string[] = ["sh", "bash", "zsh", "dash", "ksh", "fish", "powershell", "pwsh"];

function classifyShell(shell: string, args: readonly string[]): LaunchVerdict {
  if (!args.some((arg) => /^-(?:[a-z]*c|command|encodedcommand)$/i.test(arg))) return PROGRAM;
  const words = new Set(args.join(" ").split(/[^A-Za-z0-9]+/));
  const runner = [...runners.keys()].find((name) => words.has(name));
  if (runner === undefined) return PROGRAM;
  return { kind: "unclear", reason: `a line for \`${shell}\` hides what \`${runner}\` fetches` };
}

/** Deno fetches what its script argument names: `npm:name@1.2.3`, `jsr:@scope/name@1.2.3`, `https://…`. */
function classifyDeno(args: readonly string[], from: number): LaunchVerdict {
  const at = args.findIndex((arg, index) => index >= from && /^(?:npm|jsr|https?):/.test(arg));
  const script = args[at];
  if (script === undefined) return PROGRAM;
  if (/^https?:/.test(script)) return { kind: "unclear", reason: "`deno` fetches a script from an address" };
  const parts = script.replace(/^(?:npm|jsr):\/?/, "").split("/");
  const spec = parts.slice(0, parts[0]?.startsWith("@") === true ? 2 : 1).join("/");
  return toVerdict("deno", "npm", [spec], at + 1);
}

function readRunner(name: string, runner: Runner, args: readonly string[], from: number): LaunchVerdict {
  const specs: string[] = [];
  const extras: string[] = [];
  let isLocal = false;
  let at = from;
  for (; at < args.length; at += 1) {
    const arg = args[at] ?? "";
    if (arg === "--") {
      at += 1;
      break;
    }
    if (!arg.startsWith("-")) break;
    const [option, attached] = splitOption(arg, runner);
    if (runner.flags.includes(option)) continue;
    if (runner.localFlags.includes(option)) {
      isLocal = true;
      continue;
    }
    const target = targetOf(runner, option, specs, extras);
    if (target === null && attached !== null && option.startsWith("--")) continue;
    if (target === null)
      return { kind: "unclear", reason: `\`${name}\` is given \`${option}\`, which hides the package` };
    if (attached === null) at += 1;
    const value = attached ?? args[at] ?? "";
    // `--with a,b` names two packages; a comma inside `name[a,b]` does not count.
    target.push(...(target === extras ? value.split(/,(?![^[]*\])/) : [value]));
  }
  if (isLocal) return PROGRAM;
  const first = args[at];
  if (specs.length === 0 && first !== undefined && runner.firstIsPackage) specs.push(first);
  if (!runner.firstIsPackage && first !== undefined && /^https?:/.test(first)) {
    return { kind: "unclear", reason: `\`${name}\` fetches a script from an address` };
  }
  if (specs.length === 0 && extras.length === 0) {
    return runner.firstIsPackage ? { kind: "unclear", reason: `\`${name}\` is given no package` } : PROGRAM;
  }
  return toVerdict(name, runner.ecosystem, [...specs, ...extras], Math.min(at + 1, args.length));
}

/** The list that an option's value belongs to; values that say nothing go to a list that is thrown away. */
function targetOf(runner: Runner, option: string, specs: string[], extras: string[]): string[] | null {
  if (runner.packageOptions.includes(option)) return specs;
  if (runner.extraOptions.includes(option)) return extras;
  return runner.valueOptions.includes(option) ? [] : null;
}

/** `--name=value` and `-ename` in two; `-it` is two flags in one and counts as a flag. */
function splitOption(arg: string, runner: Runner): readonly [string, string | null] {
  const equals = arg.indexOf("=");
  if (arg.startsWith("--")) return equals < 0 ? [arg, null] : [arg.slice(0, equals), arg.slice(equals + 1)];
  if (arg.length <= 2) return [arg, null];
  const letters = arg.slice(1).split("");
  if (letters.every((letter) => runner.flags.includes(`-${letter}`))) return [`-${letters[0] ?? ""}`, null];
  const short = arg.slice(0, 2);
  const takesValue = targetOf(runner, short, [], []) !== null;
  return takesValue ? [short, arg.slice(equals === 2 ? 3 : 2)] : [arg, null];
}

function toVerdict(
  runner: string,
  ecosystem: LaunchedPackage["ecosystem"],
  specs: readonly string[],
  argsFrom: number,
): LaunchVerdict {
  const parsed = specs.map((spec) => parsePackageSpec(ecosystem, spec));
  const main = parsed.find((spec) => spec.kind !== "local");
  if (main === undefined) return PROGRAM;
  const open = parsed.find((spec) => spec.kind === "open");
  const version = main.kind === "exact" && open === undefined ? main.version : null;
  return {
    kind: "package",
    package: { ecosystem, runner, name: maskSecret(main.name), version, argsFrom },
    reason:
      open === undefined
        ? null
        : maskSecret(`\`${runner}\` would fetch \`${open.name}\`, and ${open.reason}`),
  };
}

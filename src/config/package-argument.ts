/**
 * Where in a command line the one npm package stands that a runner fetches, and which of its programs is started: what a lock
 * needs to know. Pure; a line that says more than that (a second package, an option that changes what runs) is not guessed at.
 */
import type { LaunchedPackage } from "./compiled.ts";
import { programName } from "./launch-command.ts";
import { parsePackageSpec } from "./package-spec.ts";

export type PackageArgument =
  | {
      readonly kind: "found";
      /** Index in the arguments. */
      readonly index: number;
      /** What stands in that argument before the package: `--package=`, or nothing. */
      readonly prefix: string;
      /** The package as written, for example `name@^1`. */
      readonly spec: string;
      /** The program of the package that is named; `null`: its only or main one. */
      readonly program: string | null;
      readonly registry: string | null;
    }
  | { readonly kind: "unclear"; readonly reason: string };

/** Words that stand between the runner and its options. */
const SUBCOMMANDS: Readonly<Record<string, readonly string[]>> = {
  npm: ["exec", "x"],
  pnpm: ["dlx"],
  yarn: ["dlx"],
  bun: ["x"],
};
const RUNNERS: readonly string[] = ["npx", "npm", "pnpx", "pnpm", "yarn", "bunx", "bun"];
/** Options that say how it is fetched and not what runs. */
const HARMLESS = /^(?:-y|--yes|-q|--quiet|-s|--silent|--verbose|--prefer-offline|--prefer-online|--offline)$/;
const HARMLESS_TOO = /^--(?:ignore-existing|ignore-scripts|no-audit|no-fund|no-update-notifier|no-progress)$/;

/** @param command and `args` as written; `launched` as `classifyLaunch` found it. */
export function findPackageArgument(
  command: string,
  args: readonly string[],
  launched: LaunchedPackage,
): PackageArgument {
  const runner = programName(command);
  if (runner !== launched.runner || !RUNNERS.includes(runner)) {
    return { kind: "unclear", reason: `write \`npx\` itself as the \`command\`, not \`${command}\`` };
  }
  const found: { index: number; prefix: string; spec: string }[] = [];
  let registry: string | null = null;
  let index = SUBCOMMANDS[runner]?.includes(args[0] ?? "") === true ? 1 : 0;
  for (; index < args.length; index += 1) {
    const arg = args[index] ?? "";
    if (arg === "--") {
      index += 1;
      break;
    }
    if (!arg.startsWith("-")) break;
    if (HARMLESS.test(arg) || HARMLESS_TOO.test(arg)) continue;
    const [, option, attached] = /^(--?[a-z-]+)(?:=(.*))?$/.exec(arg) ?? [];
    const isPackage = option === "-p" || option === "--package";
    if (!isPackage && option !== "--registry")
      return { kind: "unclear", reason: `\`${arg}\` changes how it is started: leave it out` };
    if (attached === undefined) index += 1;
    const value = attached ?? args[index] ?? "";
    if (isPackage) found.push({ index, prefix: attached === undefined ? "" : `${option}=`, spec: value });
    else registry = value;
  }
  const word = args[index];
  const isFirstPackage = found.length === 0;
  if (isFirstPackage && word !== undefined) found.push({ index, prefix: "", spec: word });
  const [one, another] = found;
  if (one === undefined) return { kind: "unclear", reason: "no package is named" };
  if (another !== undefined)
    return { kind: "unclear", reason: "several packages are named: one can be locked" };
  if (!isFirstPackage && word === undefined)
    return { kind: "unclear", reason: "no program of the package is named" };
  const parsed = parsePackageSpec("npm", one.spec);
  const isByName = parsed.kind !== "local" && /^(?:@[^/@:]+\/)?[^/@:]+(?:@[^/:]*)?$/.test(one.spec);
  if (!isByName || one.spec.includes("${") || registry?.includes("${") === true) {
    return {
      kind: "unclear",
      reason: "it is named by an address, a folder or a reference, not by name and version",
    };
  }
  return { kind: "found", ...one, program: isFirstPackage ? null : (word ?? null), registry };
}

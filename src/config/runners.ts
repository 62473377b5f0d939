/**
 * The programs that fetch a package and start it, and enough of their command lines to find that package. Options that are
 * not listed could take a value or not, so they leave the package unknown: then nothing is started.
 */
import type { LaunchedPackage } from "./compiled.ts";

export interface Runner {
  readonly ecosystem: LaunchedPackage["ecosystem"];
  /** What must follow the program's name: one of these sequences; `[]` where nothing has to. */
  readonly subcommands: readonly (readonly string[])[];
  /** Options whose value is the package. */
  readonly packageOptions: readonly string[];
  /** Options whose value is one more package that is fetched along. */
  readonly extraOptions: readonly string[];
  /** Options with a value that says nothing about packages. */
  readonly valueOptions: readonly string[];
  /** Options without a value. */
  readonly flags: readonly string[];
  /** Flags that forbid fetching: only what is installed is started. */
  readonly localFlags: readonly string[];
  /** False where, without `packageOptions`, the first plain argument is a program or script and no package. */
  readonly firstIsPackage: boolean;
}

const npmFlags = [
  "-y",
  "--yes",
  "-q",
  "--quiet",
  "-s",
  "--silent",
  "--verbose",
  "--prefer-offline",
  "--offline",
  "--prefer-online",
  "--ignore-existing",
  "--ignore-scripts",
  "--no-audit",
  "--no-fund",
  "--no-update-notifier",
  "--no-progress",
];
const npmValues = [
  "-w",
  "--workspace",
  "--registry",
  "--prefix",
  "--cache",
  "--userconfig",
  "--globalconfig",
  "--loglevel",
  "--node-options",
];
const npm = {
  ecosystem: "npm",
  packageOptions: ["-p", "--package"],
  extraOptions: [],
  valueOptions: npmValues,
  flags: npmFlags,
  localFlags: ["--no-install", "--no"],
  firstIsPackage: true,
} as const;

const uvValues = [
  "-p",
  "--python",
  "-i",
  "--index",
  "--index-url",
  "--extra-index-url",
  "--default-index",
  "-f",
  "--find-links",
  "--cache-dir",
  "--directory",
  "--project",
  "--config-file",
  "--env-file",
  "--prerelease",
  "--resolution",
  "--link-mode",
  "--exclude-newer",
  "--color",
  "--allow-insecure-host",
  "--keyring-provider",
  "--index-strategy",
  "--python-platform",
  "--with-editable",
  "--group",
  "--extra",
  "--python-preference",
  "--refresh-package",
];
const uvFlags = [
  "-q",
  "--quiet",
  "-v",
  "--verbose",
  "-n",
  "--no-cache",
  "--offline",
  "--isolated",
  "--native-tls",
  "--no-config",
  "--refresh",
  "--reinstall",
  "--no-progress",
  "--no-index",
  "--no-build",
  "--no-env-file",
  "--no-project",
  "--frozen",
  "--locked",
  "--no-sync",
  "--no-dev",
  "--all-extras",
  "--active",
  "--no-python-downloads",
  "--managed-python",
  "--system-certs",
];
const uv = {
  ecosystem: "pypi",
  packageOptions: ["--from"],
  extraOptions: ["-w", "--with"],
  valueOptions: uvValues,
  flags: uvFlags,
  localFlags: [],
  firstIsPackage: true,
} as const;

const dockerValues = [
  "-e",
  "--env",
  "--env-file",
  "-v",
  "--volume",
  "--mount",
  "--name",
  "--network",
  "--net",
  "-p",
  "--publish",
  "-u",
  "--user",
  "-w",
  "--workdir",
  "--entrypoint",
  "--cap-add",
  "--cap-drop",
  "--security-opt",
  "-m",
  "--memory",
  "--memory-swap",
  "--cpus",
  "-c",
  "--cpu-shares",
  "--platform",
  "--pull",
  "--add-host",
  "-l",
  "--label",
  "--tmpfs",
  "--gpus",
  "--dns",
  "-h",
  "--hostname",
  "--ipc",
  "--pid",
  "--pids-limit",
  "--restart",
  "--runtime",
  "--shm-size",
  "--stop-signal",
  "--stop-timeout",
  "--ulimit",
  "--log-driver",
  "--log-opt",
  "--device",
  "--group-add",
  "--ip",
  "--userns",
  "--volumes-from",
  "--expose",
  "--label-file",
  "--cidfile",
  "--network-alias",
  "--secret",
];
const docker: Runner = {
  ecosystem: "oci",
  subcommands: [["run"], ["container", "run"]],
  packageOptions: [],
  extraOptions: [],
  valueOptions: dockerValues,
  flags: [
    "-i",
    "--interactive",
    "-t",
    "--tty",
    "--rm",
    "--init",
    "-d",
    "--detach",
    "-P",
    "--publish-all",
    "-q",
    "--quiet",
    "--read-only",
    "--privileged",
    "--no-healthcheck",
  ],
  localFlags: [],
  firstIsPackage: true,
};

/** By the program's name without folder and extension. */
export const runners: ReadonlyMap<string, readonly Runner[]> = new Map<string, readonly Runner[]>([
  ["npx", [{ ...npm, subcommands: [[]] }]],
  ["npm", [{ ...npm, subcommands: [["exec"], ["x"]] }]],
  ["pnpx", [{ ...npm, subcommands: [[]] }]],
  ["pnpm", [{ ...npm, subcommands: [["dlx"]] }]],
  ["yarn", [{ ...npm, subcommands: [["dlx"]] }]],
  ["bunx", [{ ...npm, subcommands: [[]], flags: [...npmFlags, "--bun", "-b"] }]],
  ["bun", [{ ...npm, subcommands: [["x"]], flags: [...npmFlags, "--bun", "-b"] }]],
  ["uvx", [{ ...uv, subcommands: [[]] }]],
  [
    "uv",
    [
      { ...uv, subcommands: [["tool", "run"]] },
      {
        ...uv,
        subcommands: [["run"]],
        packageOptions: [],
        valueOptions: [...uvValues, "--package"],
        flags: [...uvFlags, "-m", "--module", "-s", "--script"],
        firstIsPackage: false,
      },
    ],
  ],
  [
    "pipx",
    [
      {
        ...uv,
        subcommands: [["run"]],
        packageOptions: ["--spec"],
        extraOptions: ["--with"],
        valueOptions: ["--python", "--pip-args", "-i", "--index-url"],
        flags: [
          "-q",
          "--quiet",
          "-v",
          "--verbose",
          "--no-cache",
          "--path",
          "--pypackages",
          "--system-site-packages",
        ],
      },
    ],
  ],
  ["docker", [docker]],
  ["podman", [docker]],
  ["nerdctl", [docker]],
]);

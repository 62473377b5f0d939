/**
 * Installs one exact npm package with a lock file and without scripts, through npm itself: resolving, registries, proxies and
 * checks of integrity are npm's work. Nothing of the package runs.
 */
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../base/clock.ts";
import { isJsonObject, ownProperty, parseJson, type JsonObject } from "../base/json.ts";
import { makeFolder } from "../base/make-folder.ts";
import { childEnvironment } from "../config/child-env.ts";
import type { HostFacts } from "../config/locate.ts";
import { PortcullisError } from "../errors.ts";
import { runProgram } from "../transport/run-program.ts";
import type { LockedPackage, LockRecord } from "./lock-record.ts";
import { hashTree } from "./lock-tree.ts";

export interface InstallOptions {
  readonly name: string;
  /** What npm is asked for: an exact version, a range, a tag, or empty for the newest. */
  readonly wanted: string;
  readonly registry: string | null;
  /** The program that is named; `null`: the only or main one of the package. */
  readonly program: string | null;
  /** A folder that does not exist yet. */
  readonly dir: string;
  readonly facts: HostFacts;
  readonly clock: Clock;
  readonly redact: (text: string) => string;
  readonly signal: AbortSignal;
}

/** What of a lock record the installation itself knows. */
export type Installed = Pick<
  LockRecord,
  "version" | "integrity" | "lockHash" | "treeHash" | "program" | "packages" | "scriptsNotRun"
>;

const INSTALL_MS = 600_000;
/** What npm is told besides PATH and HOME: its own settings and the way to the network. */
const NPM_VARIABLE =
  /^(?:npm_config_.*|https?_proxy|no_proxy|node_extra_ca_certs|ssl_cert_file|ssl_cert_dir)$/i;

const NPM_ARGUMENTS = [
  "install",
  "--ignore-scripts",
  "--no-audit",
  "--no-fund",
  "--no-update-notifier",
  "--save-exact",
  "--omit=dev",
  "--package-lock",
  "--lockfile-version=3",
  "--bin-links",
  "--no-dry-run",
  "--no-package-lock-only",
  "--no-global",
  "--loglevel=error",
] as const;

/** @throws PortcullisError `spawn_failed` (no npm), `server_unavailable` (npm could not), `server_blocked` (not to be locked). */
export async function installPackage(options: InstallOptions): Promise<Installed> {
  const { name, wanted, dir } = options;
  makeFolder(dir, 0o700);
  const manifest = {
    name: "portcullis-locked",
    private: true,
    dependencies: { [name]: wanted === "" ? "latest" : wanted },
  };
  await writeFile(join(dir, "package.json"), JSON.stringify(manifest, null, 2), { mode: 0o600 });
  await runNpm(options);
  const bytes = await readFile(join(dir, "package-lock.json"));
  const lock = parseJson(bytes.toString("utf8"));
  const entries = isJsonObject(lock) && isJsonObject(lock["packages"]) ? lock["packages"] : {};
  const packages = readPackages(entries);
  const main = entries[`node_modules/${name}`];
  const own = packages.find(({ path }) => path === `node_modules/${name}`);
  if (own?.integrity == null || !isJsonObject(main))
    throw refused(`npm did not install \`${name}\` by name and version`);
  return {
    version: own.version,
    integrity: own.integrity,
    lockHash: createHash("sha256").update(bytes).digest("hex"),
    treeHash: await hashTree(dir),
    program: chooseProgram(name, main, options.program),
    packages,
    scriptsNotRun: Object.entries(entries)
      .filter(([, entry]) => isJsonObject(entry) && entry["hasInstallScript"] === true)
      .map(([path]) => path.replace(/^.*node_modules\//, "")),
  };
}

async function runNpm({ dir, registry, facts, clock, redact, signal }: InstallOptions): Promise<void> {
  const entry = Object.fromEntries(
    Object.entries(facts.env).filter((pair): pair is [string, string] => {
      const [variable, value] = pair;
      return value !== undefined && NPM_VARIABLE.test(variable);
    }),
  );
  const env = childEnvironment({ host: facts.env, entry, platform: facts.platform });
  const args = [...NPM_ARGUMENTS, ...(registry === null ? [] : [`--registry=${registry}`])];
  const command = { command: "npm", args, env, cwd: dir };
  const { code, stderr } = await runProgram(command, { clock, timeoutMs: INSTALL_MS, signal });
  if (code === 0) return;
  const lines = stderr.split("\n").filter((line) => !/^npm (?:error|ERR!) A complete log/.test(line));
  const said = redact(lines.join("\n").trim()).slice(0, 1_000);
  throw new PortcullisError("server_unavailable", `npm could not install it: ${said}`, {
    data: { exitCode: code },
  });
}

/** Every package of the tree; refused where one has no integrity, because nothing would hold it to its bytes. */
function readPackages(entries: JsonObject): readonly LockedPackage[] {
  const packages: LockedPackage[] = [];
  for (const [path, entry] of Object.entries(entries)) {
    if (path === "" || !isJsonObject(entry)) continue;
    const version = ownProperty(entry, "version");
    const integrity = ownProperty(entry, "integrity");
    const isInside = entry["inBundle"] === true;
    if (typeof version !== "string" || (typeof integrity !== "string" && !isInside)) {
      const name = path.replace(/^.*node_modules\//, "");
      throw refused(`\`${name}\` is fetched from an address or a folder, and nothing holds it to its bytes`);
    }
    packages.push({ path, version, integrity: typeof integrity === "string" ? integrity : null });
  }
  return packages;
}

/** The program that the runner would have started: the named one, the only one, or the one called like the package. */
function chooseProgram(name: string, main: JsonObject, named: string | null): string {
  const bin = ownProperty(main, "bin");
  const programs = isJsonObject(bin) ? bin : {};
  const names = Object.keys(programs);
  const plain = name.replace(/^@[^/]+\//, "");
  const [only] = new Set(Object.values(programs)).size === 1 ? names : [];
  const chosen = named ?? (Object.hasOwn(programs, plain) ? plain : only);
  if (chosen !== undefined && Object.hasOwn(programs, chosen) && /^[\w.-]+$/.test(chosen)) return chosen;
  const known = names.length === 0 ? "it has none" : `it has ${names.map((one) => `\`${one}\``).join(", ")}`;
  throw refused(
    named === null
      ? `\`${name}\` does not say which of its programs is meant (${known}): write \`-p ${name} PROGRAM\``
      : `\`${name}\` has no program \`${named}\` (${known})`,
  );
}

function refused(reason: string): PortcullisError {
  return new PortcullisError("server_blocked", `it cannot be locked: ${reason}`, { data: { reason } });
}

/**
 * Runs a local server in bubblewrap: it sees the operating system's programs, what its own command needs to start, and what its
 * entry names; it has its own /tmp, its own process table and no network unless that was given to it. State and configuration of
 * Portcullis stay out of its reach whatever the entry names. Linux only; elsewhere the server is refused, never run bare.
 *
 * Invariants: every path is bound as it really is, so that a link cannot lead out; what is hidden comes after what is shown;
 * the environment is inherited, so that no secret of it comes to stand in a command line.
 */
import { lstatSync, readlinkSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { PortcullisError } from "../errors.ts";
import { fromSpawnError } from "./process-error.ts";
import { spawnFactsOf, type ProcessCommand } from "./process.ts";
import { listProgramFiles, realPathOf } from "./program-files.ts";

export interface SandboxRules {
  /** Absolute paths that it may read, and that it may write. */
  readonly read: readonly string[];
  readonly write: readonly string[];
  /** The whole network of this machine, or none: bubblewrap does not tell hosts apart. */
  readonly hasNetwork: boolean;
  /** Absolute paths that it must neither see nor change, whatever the others name. */
  readonly hidden: readonly string[];
}

/** Programs and libraries of the operating system. */
const SYSTEM = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store"] as const;
/** Of /etc only what programs look up; never keys, passwords or what other programs keep there. */
const ETC = [
  "/etc/ld.so.cache",
  "/etc/ld.so.conf",
  "/etc/ld.so.conf.d",
  "/etc/alternatives",
  "/etc/localtime",
  "/etc/timezone",
  "/etc/os-release",
  "/etc/passwd",
  "/etc/group",
  "/etc/nsswitch.conf",
  "/etc/services",
  "/etc/protocols",
  "/etc/mime.types",
  "/etc/ssl/certs",
  "/etc/ssl/openssl.cnf",
  "/etc/ca-certificates.conf",
  "/etc/crypto-policies",
  "/etc/pki/ca-trust/extracted",
  "/etc/pki/tls/certs",
  "/etc/pki/tls/cert.pem",
  "/etc/pki/tls/openssl.cnf",
] as const;
const ETC_OF_NETWORK = ["/etc/hosts", "/etc/host.conf", "/etc/resolv.conf", "/etc/gai.conf"] as const;

/** One step of the building of its file system, in the words of bubblewrap. */
interface Mount {
  readonly at: string;
  readonly words: readonly string[];
}

/**
 * The command that runs `command` in the sandbox.
 *
 * @param bubblewrap absolute path of `bwrap`.
 * @param server its name, for messages.
 * @throws PortcullisError `spawn_failed` where the command is not there; `server_blocked` where the rules name what is not there
 * or what no server may have.
 */
export function sandboxed(
  command: ProcessCommand,
  rules: SandboxRules,
  bubblewrap: string,
  server: string,
): ProcessCommand {
  const path = command.env["PATH"] ?? "";
  const { program, needed } = listProgramFiles({ ...command, path });
  if (program === undefined)
    throw fromSpawnError(Object.assign(new Error("no such program"), { code: "ENOENT" }), {
      ...spawnFactsOf(command),
    });
  const hidden = [...new Set(rules.hidden.map(realPlace))];
  const read = rules.read.map((place) => requirePlace(place, "read", server));
  const write = rules.write.map((place) => requirePlace(place, "write", server));
  refuseReserved([...read, ...write], hidden, server);
  for (const place of write) refuseCovering(place, hidden, server);
  const home = command.env["HOME"] ?? "";
  const given = inOrder([
    ...read.map((place) => bind("--ro-bind", place)),
    ...write.map((place) => bind("--bind", place)),
  ]);
  const isGiven = (place: string): boolean => given.some(({ at }) => covers(at, place));
  const own = outermost(needed.filter((place) => !SYSTEM.some((folder) => covers(folder, place))));
  const isHidden = (place: string): boolean => hidden.some((other) => covers(other, place));
  const open = own.filter((place) => !isHidden(place) && !isGiven(place));
  const shown = inOrder([...given, ...open.map(readOnly)]);
  const isInReach = (place: string): boolean => shown.some(({ at }) => covers(at, place));
  const masks = inOrder(
    hidden.filter((place) => isInReach(place) && realPathOf(place) !== undefined).map(mask),
  );
  // What is started may itself lie in the state directory (a locked package): shown again, and nothing beside it.
  const again = inOrder(own.filter(isHidden).map(readOnly));
  const all = [...shown, ...again];
  const isShown = (place: string): boolean => all.some(({ at }) => covers(at, place));
  const root = shown.filter(({ at }) => at === "/");
  const words = [
    "--unshare-all",
    ...(rules.hasNetwork ? ["--share-net"] : []),
    "--die-with-parent",
    "--cap-drop",
    "ALL",
    ...root.flatMap(({ words: mount }) => mount),
    ...(root.length === 0 ? systemMounts(rules.hasNetwork) : []),
    "--proc",
    "/proc",
    "--dev",
    "/dev",
    "--tmpfs",
    "/tmp",
    ...(/^\/./.test(home) && home !== "/tmp" && !isGiven(home) ? ["--tmpfs", home] : []),
    ...shown.filter(({ at }) => at !== "/").flatMap(({ words: mount }) => mount),
    ...masks.flatMap(({ words: mount }) => mount),
    ...again.flatMap(({ words: mount }) => mount),
    ...(isShown(command.cwd) ? [] : ["--dir", command.cwd]),
    ...(root.length === 0 ? ["--remount-ro", "/"] : []),
    "--chdir",
    command.cwd,
  ];
  return {
    command: bubblewrap,
    args: [...words, "--", program, ...command.args],
    env: { ...command.env, TMPDIR: "/tmp" },
    // Where bubblewrap itself is started; what it starts is in `--chdir`.
    cwd: "/",
  };
}

function systemMounts(hasNetwork: boolean): readonly string[] {
  const etc = [...ETC, ...(hasNetwork ? ETC_OF_NETWORK : [])];
  return [
    ...SYSTEM.flatMap((place) => {
      const stat = lstatSync(place, { throwIfNoEntry: false });
      if (stat === undefined) return [];
      return stat.isSymbolicLink() ? ["--symlink", readlinkSync(place), place] : ["--ro-bind", place, place];
    }),
    ...etc.flatMap((place) => {
      const real = realPathOf(place);
      return real === undefined ? [] : ["--ro-bind", real, place];
    }),
  ];
}

function bind(how: "--ro-bind" | "--bind", place: string): Mount {
  return { at: place, words: [how, place, place] };
}

/** What the links lead to, under the name that it is used by: bubblewrap makes the folders on the way. */
function readOnly(place: string): Mount {
  return { at: place, words: ["--ro-bind", realPathOf(place) ?? place, place] };
}

function mask(place: string): Mount {
  const isFolder = statSync(place).isDirectory();
  return { at: place, words: isFolder ? ["--tmpfs", place] : ["--ro-bind", "/dev/null", place] };
}

/** Without those that lie in another of them. */
function outermost(places: readonly string[]): readonly string[] {
  return places.filter((place) => !places.some((other) => other !== place && covers(other, place)));
}

/** Outer folders first, so that what lies inside is mounted on them; of two for one place the later one counts. */
function inOrder(mounts: readonly Mount[]): readonly Mount[] {
  return [...mounts].sort((a, b) => depthOf(a.at) - depthOf(b.at));
}

function depthOf(place: string): number {
  return place === "/" ? 0 : place.split("/").length;
}

/** Whether `outer` is `place` or a folder that it lies in. */
export function covers(outer: string, place: string): boolean {
  return outer === place || place.startsWith(outer === "/" ? "/" : `${outer}/`);
}

/** The real path, also of what is not there yet. */
function realPlace(place: string): string {
  const real = realPathOf(place);
  if (real !== undefined || dirname(place) === place) return real ?? place;
  return join(realPlace(dirname(place)), basename(place));
}

function requirePlace(place: string, key: "read" | "write", server: string): string {
  const real = realPathOf(place);
  if (real !== undefined) return real;
  throw blocked(
    server,
    `\`sandbox.${key}\` names \`${place}\`, which is not there`,
    "make it, or correct it",
  );
}

/** Folders that the sandbox makes itself, and those of Portcullis. */
function refuseReserved(places: readonly string[], hidden: readonly string[], server: string): void {
  for (const place of places) {
    if (["/proc", "/dev", "/sys"].some((reserved) => covers(reserved, place)))
      throw blocked(server, `\`sandbox\` names \`${place}\`, which shows the machine itself`, "remove it");
    if (hidden.some((other) => covers(other, place)))
      throw blocked(server, `\`sandbox\` names \`${place}\`, which belongs to Portcullis`, "remove it");
  }
}

/** Whoever may write around a file can put another one in its place, from outside of any mount over it. */
function refuseCovering(place: string, hidden: readonly string[], server: string): void {
  const inside = hidden.find((other) => covers(place, other));
  if (inside === undefined) return;
  throw blocked(
    server,
    `\`sandbox.write\` names \`${place}\`, and \`${inside}\`, which decides what is allowed, lies in it`,
    "name a folder that does not hold it",
  );
}

function blocked(server: string, reason: string, fix: string): PortcullisError {
  return new PortcullisError("server_blocked", `\`${server}\` is blocked: ${reason}; ${fix}`, {
    data: { reason, fix },
  });
}

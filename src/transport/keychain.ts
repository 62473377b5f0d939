/**
 * Entries of the operating system's keychain, read with the tool that the system has for it: `security` on macOS, `secret-tool`
 * (libsecret) on Linux. Without a shell; the value comes over a pipe and stands in no argument.
 */
import type { Clock } from "../base/clock.ts";
import { PortcullisError } from "../errors.ts";
import { runProgram } from "./run-program.ts";

export interface KeychainOptions {
  readonly platform: NodeJS.Platform;
  /** The complete environment of the tool: it needs PATH, HOME and the way to the session's keychain. */
  readonly env: Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
}

/** A person may have to unlock the keychain. */
const KEYCHAIN_MS = 60_000;
/** `security`: the specified item could not be found (errSecItemNotFound, as the exit code shows it). */
const MACOS_NOT_FOUND = 44;

/** What the tool needs besides PATH and HOME to find the keychain of this session. */
export const KEYCHAIN_VARIABLES = ["DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "DISPLAY"] as const;

/**
 * The entry `name` of the service `portcullis`.
 *
 * @returns `undefined` where there is none.
 * @throws PortcullisError `secret_unresolved` where there is no keychain that can be asked; `timed_out`; the signal's reason.
 */
export async function readKeychain(name: string, options: KeychainOptions): Promise<string | undefined> {
  const { platform, env, clock, signal } = options;
  const [command, ...args] = toolFor(platform, name);
  let result: Awaited<ReturnType<typeof runProgram>>;
  try {
    result = await runProgram(
      { command, args, env, cwd: "/" },
      { clock, timeoutMs: KEYCHAIN_MS, maxOutputBytes: 65_536, signal },
    );
  } catch (error) {
    if (!(error instanceof PortcullisError) || error.code !== "spawn_failed") throw error;
    const fix = platform === "linux" ? " (Debian and Ubuntu: `apt install libsecret-tools`)" : "";
    throw new PortcullisError("secret_unresolved", `the keychain needs \`${command}\`: install it${fix}`, {
      cause: error,
    });
  }
  const value = result.stdout.replace(/\r?\n$/, "");
  if (result.code === 0 && value !== "") return value;
  // Found nothing: `secret-tool` says nothing and answers 1; what it says otherwise is about the keychain itself.
  const isMissing =
    platform === "darwin" ? result.code === MACOS_NOT_FOUND : result.stderr.trim() === "" && value === "";
  if (isMissing) return undefined;
  throw new PortcullisError(
    "secret_unresolved",
    `the keychain cannot be read: \`${command}\` ended with code ${result.code ?? "unknown"}; is the session's keychain there, and unlocked?`,
    { data: { command, exitCode: result.code } },
  );
}

function toolFor(platform: NodeJS.Platform, name: string): readonly [string, ...string[]] {
  switch (platform) {
    case "darwin":
      return ["/usr/bin/security", "find-generic-password", "-s", "portcullis", "-a", name, "-w"];
    case "linux":
    case "freebsd":
    case "openbsd":
      return ["secret-tool", "lookup", "service", "portcullis", "name", name];
    default:
      throw new PortcullisError(
        "secret_unresolved",
        `there is no keychain on ${platform} in this version: write \`\${env:NAME}\` or \`\${file:PATH}\``,
      );
  }
}

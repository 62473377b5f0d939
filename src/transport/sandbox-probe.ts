/**
 * Whether a sandbox can be had on this machine: bubblewrap has to be installed, and the kernel (or the container around us) has
 * to let it make namespaces. Tried by doing it, because there is no other way to know.
 */
import type { Clock } from "../base/clock.ts";
import { PortcullisError } from "../errors.ts";
import { findProgram } from "./program-files.ts";
import { runProgram } from "./run-program.ts";

export type SandboxProbe =
  | { readonly ok: true; /** Absolute path of `bwrap`. */ readonly bubblewrap: string }
  | { readonly ok: false; readonly reason: string; readonly fix: string };

const PROBE_MS = 10_000;

/**
 * Looks for bubblewrap in `path` and makes an empty sandbox with it (about 10 ms). A failure is an answer, not an error.
 *
 * @throws the signal's reason.
 */
export async function probeSandbox(options: {
  readonly path: string;
  readonly platform: NodeJS.Platform;
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
}): Promise<SandboxProbe> {
  const { path, platform, clock, signal } = options;
  if (platform !== "linux") {
    const reason = `there is no sandbox on ${platform} in this version`;
    return {
      ok: false,
      reason,
      fix: "remove `sandbox`, or run the server in a container (`docker run --network none …`)",
    };
  }
  const bubblewrap = findProgram("bwrap", path, "/");
  if (bubblewrap === undefined) {
    return {
      ok: false,
      reason: "`bwrap` was not found in PATH",
      fix: "install bubblewrap (Debian and Ubuntu: `apt install bubblewrap`), or remove `sandbox`",
    };
  }
  const args = ["--ro-bind", "/", "/", "--unshare-all", "--cap-drop", "ALL", "--", bubblewrap, "--version"];
  const command = { command: bubblewrap, args, env: { PATH: path }, cwd: "/" };
  const failed = (why: string): SandboxProbe => ({
    ok: false,
    reason: `\`${bubblewrap}\` cannot make a sandbox here: ${why}`,
    fix: "let this user make user namespaces (in a container: allow them to it), or remove `sandbox`",
  });
  try {
    const { code, stderr } = await runProgram(command, { clock, timeoutMs: PROBE_MS, signal });
    return code === 0 ? { ok: true, bubblewrap } : failed(stderr.trim().slice(0, 300));
  } catch (error) {
    if (signal?.aborted === true || !(error instanceof PortcullisError)) throw error;
    return failed(error.message);
  }
}

/**
 * Opens one address in the user's browser, without a shell: the address is one argument of a program that the operating system
 * brings along, and nothing reads it as a command (SEC-07, SEC-10, SEC-11). https only, or http on loopback.
 */
import { spawn } from "node:child_process";
import { win32 } from "node:path";
import { untilAborted } from "../base/abort.ts";
import type { Clock } from "../base/clock.ts";
import { isLoopbackName } from "../config/compile-remote.ts";
import { PortcullisError } from "../errors.ts";

export interface BrowserFacts {
  readonly platform: NodeJS.Platform;
  /** `SystemRoot` on Windows: the opener is named whole, so that none of the working directory is found first. */
  readonly systemRoot?: string;
}

/** Program and arguments that open `url`. @throws PortcullisError `egress_denied` for any address that a browser is not opened for. */
export function openerFor(
  url: URL,
  facts: BrowserFacts,
): { readonly command: string; readonly args: readonly string[] } {
  const isSafe = url.protocol === "https:" || (url.protocol === "http:" && isLoopbackName(url.hostname));
  if (!isSafe || url.username !== "" || url.password !== "")
    throw new PortcullisError(
      "egress_denied",
      `no browser is opened for \`${url.protocol}\` at \`${url.host}\``,
    );
  switch (facts.platform) {
    case "darwin":
      return { command: "/usr/bin/open", args: [url.href] };
    case "win32": {
      const root = facts.systemRoot ?? "C:\\Windows";
      return {
        command: win32.join(root, "System32", "rundll32.exe"),
        args: ["url.dll,FileProtocolHandler", url.href],
      };
    }
    default:
      return { command: "xdg-open", args: [url.href] };
  }
}

/** An opener that still runs after so long has opened something. */
const SETTLED_MS = 3_000;

/**
 * @returns whether a browser seems to have been opened; false where there is none.
 * @throws PortcullisError `egress_denied`; or the signal's reason.
 */
export async function openBrowser(
  url: URL,
  facts: BrowserFacts,
  clock: Clock,
  signal: AbortSignal,
): Promise<boolean> {
  const { command, args } = openerFor(url, facts);
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const child = spawn(command, args, { stdio: "ignore", shell: false, detached: facts.platform !== "win32" });
  const timer = clock.timer(SETTLED_MS, () => resolve(true));
  child.once("error", () => resolve(false));
  child.once("exit", (code) => resolve(code === 0));
  try {
    return await untilAborted(promise, signal);
  } finally {
    timer.cancel();
    // It may be the browser itself: it stays when we go.
    child.unref();
  }
}

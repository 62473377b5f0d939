import { requireServer } from "../../host/core.ts";
import { findLockable } from "../../host/lockable.ts";
import { lock } from "../../operations/lock.ts";
import type { CommandRun } from "../main.ts";
import { given, runVerbOn } from "../verb.ts";
import { loadTrusted } from "../workspace.ts";

type Locked = Awaited<ReturnType<typeof lock.run>>;

export const run: CommandRun<{ forget?: boolean }> = async (context, [server = ""], options) => {
  const config = await loadTrusted(context.globals, context.output, context.signal);
  if (options.forget !== true) {
    findLockable(requireServer(config, server));
    context.output.say("installing, without scripts; npm resolves and checks what it fetches …");
  }
  return runVerbOn(config, context, lock, { server, ...given({ forget: options.forget }) }, render);
};

function render(done: Locked): string {
  if (!("version" in done))
    return done.forgotten
      ? `the lock of ${done.server} is taken back, and what was installed for it removed`
      : `${done.server} was not locked`;
  const lines = [
    `${done.server} is locked to ${done.package} ${done.version} (${done.packages} packages), and started from there from now on`,
    `  integrity  ${done.integrity}`,
    `  lock file  sha256 ${done.lockHash}`,
    `  installed  sha256 ${done.treeHash}`,
  ];
  if (done.hasChangedConfig) lines.push("  the exact version was written into the configuration");
  if (done.scriptsNotRun.length > 0) {
    lines.push(
      `  not run: the install scripts of ${done.scriptsNotRun.join(", ")}; if it does not start, it needs what they build`,
    );
  }
  return lines.join("\n");
}

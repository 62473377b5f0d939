/** Tests that need a real sandbox: skipped and counted aloud where none can be made, and a failure in CI. */
import { describe, it } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { probeSandbox } from "../../src/transport/sandbox-probe.ts";

const probe = await probeSandbox({
  path: process.env["PATH"] ?? "",
  platform: process.platform,
  clock: systemClock,
});

/** `describe` where a sandbox can be made. */
export function describeSandbox(name: string, options: { timeout: number }, body: () => void): void {
  if (probe.ok) describe(name, options, body);
  else if (process.env["CI"] === undefined)
    describe.skip(`${name}: not run, ${probe.reason}; ${probe.fix}`, options, body);
  else {
    const { reason } = probe;
    describe(name, options, () => {
      it("has a sandbox in CI", () => {
        throw new Error(reason);
      });
    });
  }
}

import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { onProcessExit } from "../../../src/base/process-exit.ts";

const none = (): void => undefined;

it("is one listener of the process for all, and gone with the last of them", () => {
  const before = process.listenerCount("exit");
  const leave = [onProcessExit(none), onProcessExit(none)];
  expect(process.listenerCount("exit")).toBe(before + 1);
  leave[0]?.();
  leave[0]?.();
  expect(process.listenerCount("exit")).toBe(before + 1);
  leave[1]?.();
  expect(process.listenerCount("exit")).toBe(before);
});

it("does everything that is left to do, the last first, also after something that fails", () => {
  const module = fileURLToPath(new URL("../../../src/base/process-exit.ts", import.meta.url));
  const script = `import { onProcessExit } from ${JSON.stringify(module)};
    onProcessExit(() => console.log("one"));
    onProcessExit(() => console.log("taken off"))();
    onProcessExit(() => { throw new Error("no"); });
    onProcessExit(() => console.log("two"));
    process.exit(3);`;
  const { stdout, status } = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
    encoding: "utf8",
  });
  expect([stdout, status]).toEqual(["two\none\n", 3]);
});

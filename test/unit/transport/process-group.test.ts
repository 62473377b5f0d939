import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { endGroup, isGroupGone, listGroup, signalGroup } from "../../../src/transport/process-group.ts";
import { readProcessStat } from "../../../src/transport/process-start.ts";

describe("a process group", () => {
  it("never signals our own group, everybody, or what is no group", () => {
    for (const group of [0, 1, -1, Number.NaN, 1.5]) expect(signalGroup(group, 0)).toBe(false);
  });

  it("is listed, ended, and then gone", async () => {
    const child = spawn("sh", ["-c", "sleep 60 & sleep 60 & wait"], { detached: true, stdio: "ignore" });
    const group = child.pid ?? 0;
    await expect.poll(async () => (await listGroup(group))?.length).toBe(3);
    expect(await isGroupGone(group)).toBe(false);
    const exited = once(child, "exit");
    await endGroup(group, "SIGKILL");
    await exited;
    await expect.poll(() => isGroupGone(group)).toBe(true);
  });

  it("counts as gone when only a zombie is left", async () => {
    // A parent in another group that never looks after its child: `exec` hands the child of the shell to `sleep`.
    const script = "setsid sh -c 'echo $$; exit 0' & exec sleep 60";
    const parent = spawn("sh", ["-c", script], { stdio: ["ignore", "pipe", "ignore"], detached: true });
    const [chunk] = (await once(parent.stdout, "data")) as [Buffer];
    const zombie = Number(chunk.toString());
    await expect.poll(() => readProcessStat(zombie)?.state).toBe("Z");
    expect(signalGroup(zombie, 0)).toBe(true);
    expect(await isGroupGone(zombie)).toBe(true);
    const exited = once(parent, "close");
    await endGroup(parent.pid ?? 0, "SIGKILL");
    await exited;
  });
});

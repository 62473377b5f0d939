import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { createProcLiveness, parseProcStat } from "../../../src/store/liveness.ts";
import { openTestStore, tempDir } from "./temp-state.ts";

const holder = fileURLToPath(new URL("../../fault/store-holder.mjs", import.meta.url));

describe("/proc/PID/stat", () => {
  it.each([
    ["1 (node) S 0 1 1 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 4242 1 1", { state: "S", startTicks: "4242" }],
    ["7 (a) b) (c) Z 0 1 1 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 9 1", { state: "Z", startTicks: "9" }],
    ["7 (short) S 0", undefined],
    ["", undefined],
  ])("%j", (text, expected) => expect(parseProcStat(text)).toEqual(expected));
});

describe.runIf(process.platform === "linux")("liveness by /proc", () => {
  const liveness = createProcLiveness();
  const self = { id: "x", leaseUntil: 0, ...(liveness?.self ?? { pid: 0, processStart: "", machine: "" }) };

  it("lets pid and start time decide on this machine, whatever the lease says", () => {
    expect(liveness?.isAlive(self, 1)).toBe(true);
    expect(liveness?.isAlive({ ...self, processStart: "1" }, 1)).toBe(false);
    expect(liveness?.isAlive({ ...self, pid: 4_194_400 }, 1)).toBe(false);
    expect(liveness?.isAlive({ ...self, pid: 4_194_400, leaseUntil: 100 }, 1)).toBe(false);
  });

  it("lets the lease decide on another machine", () => {
    expect(liveness?.isAlive({ ...self, machine: "elsewhere", leaseUntil: 10 }, 9)).toBe(true);
    expect(liveness?.isAlive({ ...self, machine: "elsewhere", leaseUntil: 10 }, 10)).toBe(false);
  });

  it("is not there without /proc", () => {
    expect(createProcLiveness(tempDir())).toBeUndefined();
  });

  it("takes what it cannot read for alive", () => {
    const proc = tempDir();
    const fields = `${process.pid} (node) S ${"0 ".repeat(18)}4242 1 1`;
    for (const folder of ["sys/kernel/random", "self/ns", String(process.pid), "77/stat", "78", "80"])
      mkdirSync(join(proc, folder), { recursive: true });
    writeFileSync(join(proc, String(process.pid), "stat"), fields);
    writeFileSync(join(proc, "sys/kernel/random/boot_id"), "boot\n");
    symlinkSync("pid:[1]", join(proc, "self/ns/pid"));
    writeFileSync(join(proc, "78/stat"), "nonsense");
    writeFileSync(join(proc, "80/stat"), `80 (zombie) Z ${"0 ".repeat(18)}1 1 1`);
    const fake = createProcLiveness(proc);
    const machine = fake?.self.machine ?? "";
    expect(fake?.self).toMatchObject({
      processStart: "4242",
      machine: expect.stringMatching(/ boot pid:\[1\]$/),
    });
    const other = { id: "x", processStart: "1", machine, leaseUntil: 0 };
    // A directory in place of the file, and a file in another form.
    expect(fake?.isAlive({ ...other, pid: 77 }, 1)).toBe(true);
    expect(fake?.isAlive({ ...other, pid: 78 }, 1)).toBe(true);
    expect(fake?.isAlive({ ...other, pid: 79 }, 1)).toBe(false);
    // Ended, and not yet waited for by its parent.
    expect(fake?.isAlive({ ...other, pid: 80 }, 1)).toBe(false);
  });
});

describe.each(["proc", "lock"] as const)("instances, told by %s", (kind) => {
  it("are dead when their process was killed, and alive while it lives", async () => {
    const dir = tempDir();
    const store = await openTestStore({ dir, liveness: kind });
    const child = fork(holder, [dir, kind], { stdio: "ignore" });
    const exit = once(child, "exit");
    const [{ id }] = (await once(child, "message")) as [{ id: string }];
    await store.clock.advance(3_600_000);
    expect((await store.instances.list()).map((instance) => instance.id)).toContain(id);
    expect(await store.instances.listDead()).toEqual([]);
    child.kill("SIGKILL");
    await exit;
    expect((await store.instances.listDead()).map((instance) => instance.id)).toEqual([id]);
    await store.instances.remove(id);
    expect((await store.instances.list()).map((instance) => instance.id)).toEqual([store.instances.self.id]);
    if (kind === "lock")
      expect(readdirSync(join(dir, "instances"))).toEqual([`${store.instances.self.id}.lock`]);
  });

  it("never take a process that stands still for dead", async () => {
    const dir = tempDir();
    const store = await openTestStore({ dir, liveness: kind });
    const child = fork(holder, [dir, kind], { stdio: "ignore" });
    const exit = once(child, "exit");
    await once(child, "message");
    child.kill("SIGSTOP");
    await store.clock.advance(3_600_000);
    expect(await store.instances.listDead()).toEqual([]);
    child.kill("SIGKILL");
    await exit;
  });
});

describe("an instance", () => {
  it("renews its lease, and comes back where somebody removed it", async () => {
    const dir = tempDir();
    const store = await openTestStore({ dir });
    const first = store.instances.self.leaseUntil;
    await store.clock.advance(16_000);
    expect(store.instances.self.leaseUntil).toBe(first + 15_000);
    await store.instances.remove(store.instances.self.id);
    expect(await store.instances.list()).toEqual([]);
    await store.clock.advance(16_000);
    expect(await store.instances.list()).toEqual([store.instances.self]);
  });

  it("whose lock file is no file name stands for nobody", async () => {
    const dir = tempDir();
    const store = await openTestStore({ dir, liveness: "lock" });
    writeFileSync(join(dir, "victim"), "");
    await store.instances.remove("../victim");
    expect(readdirSync(dir)).toContain("victim");
  });
});

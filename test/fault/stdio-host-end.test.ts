/** The end of the host itself: by its exit, and by SIGKILL with the reaper of the next host. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { systemRandom } from "../../src/base/random.ts";
import { openSqliteStore } from "../../src/store/sqlite.ts";
import type { Store } from "../../src/store/store.ts";
import { processStartOf } from "../../src/transport/process-start.ts";
import { reapLeftovers } from "../../src/transport/reaper.ts";
import { isLiving, livingMembers } from "../support/process-group.ts";
import { QUICK } from "../support/stdio-session.ts";

const file = fileURLToPath(new URL("stdio-hosts/runs-a-server.ts", import.meta.url));

async function startHost(
  args: readonly string[],
): Promise<{ host: ChildProcess; launcher: number; grandchild: number }> {
  const host = spawn(process.execPath, [file, ...args], { stdio: ["pipe", "pipe", "inherit"] });
  if (host.stdout === null) throw new Error("no stdout");
  const lines = createInterface({ input: host.stdout });
  const [line] = (await once(lines, "line")) as [string];
  lines.close();
  const { pids } = JSON.parse(line) as { pids: [number, number] };
  return { host, launcher: pids[0], grandchild: pids[1] };
}

async function kill(host: ChildProcess): Promise<void> {
  host.kill("SIGKILL");
  await once(host, "exit");
}

describe("a host that exits", () => {
  it("kills the groups of its servers in its last moment", async () => {
    const { host, launcher, grandchild } = await startHost([]);
    expect(livingMembers(launcher)).toEqual([launcher, grandchild].toSorted((one, other) => one - other));
    host.stdin?.write("exit\n");
    await once(host, "exit");
    await expect.poll(() => livingMembers(launcher)).toEqual([]);
    expect(isLiving(grandchild)).toBe(false);
  });
});

describe("a host that was killed", () => {
  let dir: string;
  let store: Store;
  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), "reaper-"));
    store = await openSqliteStore({ dir, role: "cli", clock: systemClock, random: systemRandom });
  });
  afterEach(async () => {
    await store.close();
    rmSync(dir, { recursive: true });
  });

  const reap = async () => {
    const dead = new Set((await store.instances.listDead()).map((instance) => instance.id));
    return reapLeftovers({
      documents: store.documents,
      isInstanceAlive: (id) => !dead.has(id),
      clock: systemClock,
      graces: QUICK,
    });
  };

  it("leaves servers that the next one ends, and only then", async () => {
    const { host, launcher, grandchild } = await startHost([dir]);
    const early = await reap();
    expect(early.spared.map(({ reason }) => reason)).toEqual(["its host lives"]);
    expect(isLiving(grandchild)).toBe(true);

    await kill(host);
    expect(isLiving(grandchild)).toBe(true);
    const report = await reap();
    expect(report.ended.map((child) => child.pid)).toEqual([launcher]);
    expect(livingMembers(launcher)).toEqual([]);
    expect(isLiving(grandchild)).toBe(false);
    expect(await store.documents.list("children")).toEqual([]);
  });

  it("leaves a grandchild whose launcher is gone already: it is ended too", async () => {
    const { host, launcher, grandchild } = await startHost([dir]);
    await kill(host);
    process.kill(launcher, "SIGKILL");
    await expect.poll(() => isLiving(launcher)).toBe(false);
    expect(isLiving(grandchild)).toBe(true);
    expect((await reap()).ended.map((child) => child.pid)).toEqual([launcher]);
    expect(isLiving(grandchild)).toBe(false);
  });

  it("never touches a process that has only the same number, nor what it cannot judge", async () => {
    const bystander = spawn("sleep", ["60"], { detached: true, stdio: "ignore" });
    const pid = bystander.pid ?? 0;
    const start = processStartOf(pid) ?? "";
    const write = (key: string, more: object): Promise<unknown> =>
      store.documents.put("children", key, {
        instance: "gone",
        pid,
        command: "x",
        processStart: start,
        ...more,
      });
    await write("reused", { processStart: start.replace(/\d+$/, (ticks) => String(Number(ticks) - 1)) });
    await write("other-boot", { processStart: `0000:${start}` });
    await write("unknown", { processStart: null });
    await write("rubbish", { pid: -1 });
    await write("group-zero", { pid: 0 });
    await write("init", { pid: 1 });
    try {
      const report = await reapLeftovers({
        documents: store.documents,
        isInstanceAlive: () => false,
        clock: systemClock,
      });
      expect(report.ended).toEqual([]);
      expect(report.forgotten).toHaveLength(1);
      expect(report.spared).toHaveLength(2);
      expect(isLiving(pid)).toBe(true);
      expect((await store.documents.list("children")).map((document) => document.key)).toEqual([
        "other-boot",
        "unknown",
      ]);
    } finally {
      bystander.kill("SIGKILL");
      await once(bystander, "exit");
    }
  });
});

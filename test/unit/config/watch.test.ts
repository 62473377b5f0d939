import { mkdir, mkdtemp, realpath, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createManualClock, type ManualClock } from "../../../src/base/manual-clock.ts";
import { loadConfig, type LoadOptions } from "../../../src/config/load.ts";
import { watchConfig, type ConfigChange } from "../../../src/config/watch.ts";

let folder = "";
let file = "";
let load: LoadOptions;
let clock: ManualClock;
let controller: AbortController;
let changes: ConfigChange[];
let watching: Promise<void>;

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "portcullis-watch-")));
  await mkdir(join(folder, "repo"));
  file = join(folder, "repo/portcullis.json");
  await writeFile(file, '{ "log": { "level": "info" } }');
  load = { cwd: join(folder, "repo"), env: {}, homeDir: join(folder, "home"), platform: "linux" };
  clock = createManualClock();
  controller = new AbortController();
  changes = [];
});
afterEach(async () => {
  controller.abort();
  await watching;
  await rm(folder, { recursive: true });
});

async function start(more: { onChange?: (change: ConfigChange) => void } = {}): Promise<void> {
  const current = await loadConfig(load);
  watching = watchConfig({
    current,
    load,
    clock,
    signal: controller.signal,
    onChange: (change) => void changes.push(change),
    ...more,
  });
}

/** Lets file system events come in and the file be read, until `isDone`; the manual clock moves only by `stepMs`. */
async function until(isDone: () => boolean, stepMs: number): Promise<void> {
  for (let turn = 0; turn < 300 && !isDone(); turn += 1) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    await clock.advance(stepMs);
  }
}

const level = (change: ConfigChange | undefined): string | undefined =>
  change?.type === "changed" ? change.loaded.config.log.level : change?.error.code;

describe("watchConfig", () => {
  it("gives the new configuration after a write, by event, and says that it has to be trusted again", async () => {
    await start();
    await writeFile(file, '{ "log": { "level": "debug" } }');
    await until(() => changes.length > 0, 100);
    expect(changes.map(level)).toEqual(["debug"]);
    expect(changes[0]?.type === "changed" && changes[0].loaded.trustNeeded).toMatchObject({ file });
  });

  it("sees an atomic replacement, and the one after it", async () => {
    await start();
    for (const next of ["warn", "error"]) {
      await writeFile(`${file}.new`, `{ "log": { "level": "${next}" } }`);
      await rename(`${file}.new`, file);
      await until(() => changes.some((change) => level(change) === next), 100);
    }
    expect(changes.map(level)).toEqual(["warn", "error"]);
  });

  it("tells problems and goes on; the same bytes are told once", async () => {
    await start();
    await writeFile(file, '{ "lgo": 1 }');
    await until(() => changes.length > 0, 100);
    await clock.advance(60_000);
    await writeFile(file, '{ "log": { "level": "info" } }');
    await until(() => changes.length > 1, 100);
    expect(changes.map(level)).toEqual(["config_invalid", "info"]);
  });

  it("forgives a file that is gone for a moment, reports one that stays away, and takes it back", async () => {
    await start();
    await rm(file);
    await until(() => changes.length > 0, 100);
    expect(changes.map(level)).toEqual(["config_not_found"]);
    await writeFile(file, '{ "log": { "level": "warn" } }');
    await until(() => changes.length > 1, 100);
    expect(changes.map(level)).toEqual(["config_not_found", "warn"]);
  });

  it("is not deaf after its folder was replaced", async () => {
    await start();
    await rename(join(folder, "repo"), join(folder, "old"));
    await mkdir(join(folder, "repo"));
    await writeFile(file, '{ "log": { "level": "error" } }');
    await until(() => changes.length > 0, 2_000);
    expect(level(changes.at(-1))).toBe("error");
    await writeFile(file, '{ "log": { "level": "debug" } }');
    await until(() => level(changes.at(-1)) === "debug", 100);
    expect(level(changes.at(-1))).toBe("debug");
  });

  it("says nothing about the same bytes and other files", async () => {
    await start();
    await writeFile(join(folder, "repo/other.json"), "{}");
    await writeFile(file, '{ "log": { "level": "info" } }');
    await writeFile(file, '{ "log": { "level": "warn" } }');
    await until(() => changes.length > 0, 100);
    expect(changes.map(level)).toEqual(["warn"]);
  });

  it("ends with its signal, and with what its listener throws", async () => {
    await start();
    controller.abort();
    await watching;
    expect(clock.pending()).toBe(0);
    controller = new AbortController();
    await start({
      onChange: () => {
        throw new Error("listener failed");
      },
    });
    const ended = watching.catch((error: unknown) => error);
    watching = Promise.resolve();
    await writeFile(file, '{ "log": { "level": "debug" } }');
    let failure: unknown;
    void ended.then((error) => (failure = error));
    await until(() => failure !== undefined, 100);
    expect(failure).toMatchObject({ message: "listener failed" });
    expect(clock.pending()).toBe(0);
  });

  it("has nothing to watch for an object given in code", async () => {
    const current = await loadConfig(load);
    watching = watchConfig({
      current: { ...current, config: { ...current.config, file: null } },
      load,
      clock,
      signal: controller.signal,
      onChange: () => undefined,
    });
    await watching;
    expect(clock.pending()).toBe(0);
  });
});

import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Core } from "../../../src/host/core.ts";
import { createLocks } from "../../../src/host/lock.ts";

let stateDir = "";
beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), "portcullis-lock-"));
});
afterEach(() => rmSync(stateDir, { recursive: true }));

it("takes a lock back in an order that can be cut off anywhere: no record ever names a tree that is gone", async () => {
  const tree = join(stateDir, "packages", "notes", "one");
  mkdirSync(tree, { recursive: true });
  writeFileSync(join(tree, "package.json"), "{}");
  const steps: string[] = [];
  const step = <T>(name: string, answer: T) => {
    steps.push(`${name}, tree ${existsSync(tree) ? "there" : "gone"}`);
    return Promise.resolve(answer);
  };
  let isStored = true;
  const core = {
    config: () => ({ stateDir }),
    store: {
      documents: {
        get: () => Promise.resolve(isStored ? { value: {} } : undefined),
        delete: () => {
          isStored = false;
          return step("forgotten", true);
        },
      },
    },
    audit: { note: () => step("on record", undefined) },
    pool: { drop: () => step("ended", undefined) },
  } as unknown as Core;
  const { unlock } = createLocks(core, () => Promise.reject(new Error("nothing is edited")));
  expect(await unlock("notes", "local")).toBe(true);
  expect(steps).toEqual(["on record, tree there", "forgotten, tree there", "ended, tree there"]);
  expect(existsSync(tree)).toBe(false);

  // What an unlock that was cut off left behind.
  mkdirSync(tree, { recursive: true });
  expect(await unlock("notes", "local")).toBe(false);
  expect(existsSync(tree)).toBe(false);
});

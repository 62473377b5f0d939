import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { systemRandom } from "../../src/base/random.ts";
import { openSqliteStore } from "../../src/store/sqlite.ts";
import { storeContract, type ContractState } from "../../src/testing/index.ts";
import { openPeerStore } from "./store-peer.ts";

async function createState(liveness: "proc" | "lock"): Promise<ContractState & { readonly dir: string }> {
  const dir = await mkdtemp(join(tmpdir(), "portcullis-store-"));
  return {
    dir,
    open: () => openSqliteStore({ dir, role: "test", clock: systemClock, random: systemRandom, liveness }),
    dispose: () => rm(dir, { recursive: true }),
  };
}

async function createSharedState(): Promise<ContractState> {
  const state = await createState("proc");
  return { ...state, openOther: () => openPeerStore(state.dir) };
}

describe("SQLite store, several in one process", () => {
  for (const { name, run } of storeContract(() => createState("proc"))) it(name, run);
});

describe("SQLite store, liveness by lock files", () => {
  for (const { name, run } of storeContract(() => createState("lock"))) it(name, run);
});

describe("SQLite store, shared by two processes", () => {
  for (const { name, run } of storeContract(createSharedState)) it(name, run);
});

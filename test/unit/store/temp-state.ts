/** Stores on directories that are gone after the file. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach } from "vitest";
import { createManualClock, type ManualClock } from "../../../src/base/manual-clock.ts";
import { systemRandom } from "../../../src/base/random.ts";
import { openSqliteStore, type SqliteStoreOptions } from "../../../src/store/sqlite.ts";
import type { Store } from "../../../src/store/store.ts";

const dirs: string[] = [];
const stores: Store[] = [];

afterEach(async () => {
  for (const store of stores.splice(0)) await store.close().catch(() => undefined);
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true, force: true });
});

/** A fresh directory of this test's own. */
export function tempDir(): string {
  const dir = mkdtempSync(join(tmpdir(), "portcullis-unit-"));
  dirs.push(dir);
  return dir;
}

/** A store that is closed after the test; on a manual clock unless told otherwise. */
export async function openTestStore(
  options: Partial<SqliteStoreOptions> = {},
): Promise<Store & { readonly clock: ManualClock }> {
  const clock = createManualClock();
  const store = await openSqliteStore({
    dir: options.dir ?? tempDir(),
    role: "test",
    clock,
    random: systemRandom,
    ...options,
  });
  stores.push(store);
  return { ...store, clock };
}

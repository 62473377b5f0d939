/** A store and an audit on it, on one manual clock; both are gone after the test. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach } from "vitest";
import { createManualClock, type ManualClock } from "../../../src/base/manual-clock.ts";
import { systemRandom } from "../../../src/base/random.ts";
import type { CallClosed, CallOpened } from "../../../src/audit/marks.ts";
import { AUDIT_BATCH_MS, createAudit, type Audit, type AuditOptions } from "../../../src/audit/trail.ts";
import { openSqliteStore } from "../../../src/store/sqlite.ts";
import type { RecordInput, Store } from "../../../src/store/store.ts";

const ends: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

export interface AuditBench {
  readonly dir: string;
  readonly clock: ManualClock;
  readonly store: Store;
  readonly audit: Audit;
  /** What was given to the store, in order. */
  readonly given: RecordInput[];
  readonly faults: unknown[];
  /** The kinds on record for a call, or for all. */
  readonly kinds: (callId?: string) => Promise<string[]>;
}

function tempDir(): string {
  const dir = mkdtempSync(join(tmpdir(), "portcullis-audit-"));
  ends.push(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

export async function openAuditBench(
  options: {
    readonly dir?: string;
    readonly maxBytes?: number;
    readonly redact?: AuditOptions["redact"];
  } = {},
): Promise<AuditBench> {
  const { dir = tempDir(), maxBytes, redact = (value) => value } = options;
  const clock = createManualClock();
  const store = await openSqliteStore({
    dir,
    role: "test",
    batchMs: AUDIT_BATCH_MS,
    clock,
    random: systemRandom,
    ...(maxBytes === undefined ? {} : { maxBytes }),
  });
  ends.push(() => store.close().catch(() => undefined));
  const given: RecordInput[] = [];
  const faults: unknown[] = [];
  const audit = createAudit({
    records: store.records,
    clock,
    redact,
    onRecord: (record) => void given.push(record),
    onFault: (error) => void faults.push(error),
  });
  const kinds = async (callId?: string): Promise<string[]> =>
    (await store.records.query(callId === undefined ? {} : { callId })).map(({ kind }) => kind);
  return { dir, clock, store, audit, given, faults, kinds };
}

export function call(part: Partial<CallOpened> = {}): CallOpened {
  return {
    callId: "call 1",
    principal: "local",
    server: "github",
    tool: "create_issue",
    grade: "L2",
    arguments: { n: 1 },
    ...part,
  };
}

export function outcome(part: Partial<CallClosed> = {}): CallClosed {
  return { outcome: "completed", code: null, effect: "applied", durationMs: 12, attempts: 1, ...part };
}

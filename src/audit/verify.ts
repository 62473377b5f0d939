/** Whether the record of what was done is whole: every chain, and every chain against its anchors. */
import type { ChainVerdict, Store } from "../store/store.ts";
import { checkAnchors, type AnchorProblem } from "./anchor.ts";
import { GAP_KIND } from "./recorder.ts";
import { readPrunedBefore } from "./retention.ts";

export interface AuditVerdict {
  /** Nothing was changed or taken away. Gaps that a full disk left do not count: they are told. */
  readonly ok: boolean;
  readonly chains: number;
  readonly records: number;
  readonly broken: readonly ChainVerdict[];
  readonly anchors: number;
  readonly anchorProblems: readonly AnchorProblem[];
  /** How many records were lost because they could not be written. */
  readonly lost: number;
}

export async function verifyAudit(store: Store): Promise<AuditVerdict> {
  const verdicts = await store.records.verify();
  const broken = verdicts.filter(({ ok }) => !ok);
  const { count, problems } = await checkAnchors(store, await readPrunedBefore(store.records));
  let lost = 0;
  for await (const { body } of store.records.scan({ callId: "", kinds: [GAP_KIND] }))
    lost += Number(body["lost"]) || 0;
  return {
    ok: broken.length === 0 && problems.length === 0,
    chains: verdicts.length,
    records: verdicts.reduce((sum, { length }) => sum + length, 0),
    broken,
    anchors: count,
    anchorProblems: problems,
    lost,
  };
}

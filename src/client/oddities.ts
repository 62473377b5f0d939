/** Counts what was passed over, by kind, and tells of it rarely enough that a flood costs nothing. */

export interface Oddities {
  /** Counts `add` (default 1) of `kind`; `sample` is shown where it is told. */
  note(kind: string, sample?: string, add?: number): void;
  counts(): Readonly<Record<string, number>>;
}

/** How many of a kind are told one by one; after that only when the count has doubled. */
const TOLD_ONE_BY_ONE = 8;
const MAX_KINDS = 200;

export function createOddities(tell: (kind: string, sample: string, total: number) => void): Oddities {
  const totals = new Map<string, number>();
  return {
    note(kind, sample = "", add = 1) {
      const known = totals.has(kind) || totals.size < MAX_KINDS ? kind : "other";
      const before = totals.get(known) ?? 0;
      const total = before + add;
      totals.set(known, total);
      if (before < TOLD_ONE_BY_ONE || Math.floor(Math.log2(total)) > Math.floor(Math.log2(before)))
        tell(known, sample, total);
    },
    counts: () => Object.fromEntries(totals),
  };
}

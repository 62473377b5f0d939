/**
 * Daily anchors: where every chain ended on a day, kept as a document (and fit to be kept elsewhere). A chain that was
 * rewritten from its beginning verifies by itself; it no longer fits its anchors. Each anchor names the digest of the one
 * before, and only chains that moved since are in it.
 */
import type { Clock } from "../base/clock.ts";
import { digestJson, isJsonObject, ownProperty, type JsonObject, type JsonValue } from "../base/json.ts";
import type { ChainHead, Store } from "../store/store.ts";

export interface Anchor {
  /** `2026-01-31`, in UTC: the key of its document. */
  readonly day: string;
  readonly at: number;
  readonly heads: readonly Pick<ChainHead, "writer" | "sequence" | "hash">[];
  /** Digest of the anchor before; `null` for the first. */
  readonly previous: string | null;
}

export interface AnchorProblem {
  readonly day: string;
  /** The chain that does not fit; `null` for the anchor itself. */
  readonly writer: string | null;
  readonly reason: string;
}

type AnchorStore = Pick<Store, "documents" | "records">;

const COLLECTION = "anchors";

/**
 * Writes today's anchor.
 *
 * @returns it, or `undefined` where there is one already.
 */
export async function writeAnchor(
  { documents, records }: AnchorStore,
  clock: Clock,
): Promise<Anchor | undefined> {
  const at = clock.now();
  const day = new Date(at).toISOString().slice(0, 10);
  if ((await documents.get(COLLECTION, day)) !== undefined) return undefined;
  const anchors = await readAnchors({ documents });
  const anchored = new Map(
    anchors.flatMap(({ anchor }) => anchor.heads.map(({ writer, hash }) => [writer, hash])),
  );
  const heads = (await records.heads())
    .filter(({ writer, hash, sequence }) => sequence > 0 && anchored.get(writer) !== hash)
    .map(({ writer, sequence, hash }) => ({ writer, sequence, hash }));
  const anchor: Anchor = { day, at, heads, previous: anchors.at(-1)?.digest ?? null };
  const stored = await documents.put(COLLECTION, day, toJson(anchor), { ifVersion: 0 });
  return stored === undefined ? undefined : anchor;
}

/**
 * Compares every anchor with the chains as they are.
 *
 * @param prunedBeforeMs records before it may be gone by right.
 */
export async function checkAnchors(
  store: AnchorStore,
  prunedBeforeMs: number,
): Promise<{ readonly count: number; readonly problems: readonly AnchorProblem[] }> {
  const anchors = await readAnchors(store);
  const heads = new Map((await store.records.heads()).map((head) => [head.writer, head]));
  const problems: AnchorProblem[] = [];
  let before: (typeof anchors)[number] | undefined;
  for (const current of anchors) {
    const { day, previous, heads: anchored } = current.anchor;
    if (before !== undefined && previous !== before.digest) {
      problems.push({ day, writer: null, reason: "it does not follow the anchor before it" });
    }
    // A chain stands in an anchor because it moved since the one before: its record is not older than that.
    const mayBePruned = (before?.anchor.at ?? 0) < prunedBeforeMs;
    before = current;
    for (const head of anchored) {
      const reason = await compare(store, heads.get(head.writer), head, mayBePruned);
      if (reason !== undefined) problems.push({ day, writer: head.writer, reason });
    }
  }
  return { count: anchors.length, problems };
}

/** Drops anchors that are older than `beforeMs`, all of whose records may be gone. */
export async function pruneAnchors({ documents }: Pick<Store, "documents">, beforeMs: number): Promise<void> {
  for (const { anchor } of await readAnchors({ documents })) {
    if (anchor.at < beforeMs) await documents.delete(COLLECTION, anchor.day);
  }
}

async function compare(
  { records }: AnchorStore,
  head: ChainHead | undefined,
  anchored: Anchor["heads"][number],
  mayBePruned: boolean,
): Promise<string | undefined> {
  if (head === undefined) return mayBePruned ? undefined : "the chain is gone";
  if (head.sequence < anchored.sequence) return "the chain is shorter than it was";
  if (head.prunedTo >= anchored.sequence)
    return mayBePruned ? undefined : "its records were dropped before their time";
  const found = await records.query({ writer: anchored.writer, fromSequence: anchored.sequence, limit: 1 });
  return found[0]?.hash === anchored.hash
    ? undefined
    : `record ${anchored.sequence} is not the one that was anchored`;
}

async function readAnchors({
  documents,
}: Pick<Store, "documents">): Promise<{ anchor: Anchor; digest: string }[]> {
  const found = await documents.list(COLLECTION);
  return found.map(({ key, value }) => ({ anchor: fromJson(key, value), digest: digestJson(value) }));
}

function toJson({ day, at, heads, previous }: Anchor): JsonObject {
  return {
    day,
    at,
    heads: heads.map(({ writer, sequence, hash }) => ({ writer, sequence, hash })),
    previous,
  };
}

/** What is not as it was written cannot fit anything: it is kept as a head that no chain has. */
function fromJson(day: string, value: JsonValue): Anchor {
  const object = isJsonObject(value) ? value : {};
  const at = ownProperty(object, "at");
  const previous = ownProperty(object, "previous");
  const heads = ownProperty(object, "heads");
  return {
    day,
    at: typeof at === "number" ? at : Number.POSITIVE_INFINITY,
    heads: (Array.isArray(heads) ? heads : [{}]).map((head: unknown) => ({
      writer: String(ownProperty(Object(head) as object, "writer")),
      sequence: Number(ownProperty(Object(head) as object, "sequence")),
      hash: String(ownProperty(Object(head) as object, "hash")),
    })),
    previous: typeof previous === "string" ? previous : null,
  };
}

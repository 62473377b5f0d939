/**
 * One list of what agents are offered, in a fixed order, page by page; and whether it changed. The host decides what is on the
 * list; nothing here does.
 *
 * Invariants: reading never waits for a slow server longer than `PATIENCE_MS` (what comes later is told as a change); a
 * storm of events costs one comparison at a time; no comparison at all while nobody listens.
 */
import { createHash } from "node:crypto";
import { linkAbort } from "../base/abort.ts";
import type { Clock, Timer } from "../base/clock.ts";
import { createEmitter } from "../base/emitter.ts";
import { createLifetime } from "../base/lifetime.ts";
import type { Host, Turn } from "../host/api.ts";

interface OfferPage<Item> {
  readonly items: readonly Item[];
  readonly nextCursor?: string;
}

export interface OfferList<Item> {
  /** The page behind `cursor`; `undefined` for a cursor that was not made here. */
  page(cursor: string | undefined): Promise<OfferPage<Item> | undefined>;
  /** Everything. @param patienceMs how long servers that were never listed are waited for. */
  ask(patienceMs: number): Promise<readonly Item[]>;
  /** The list may be another one. */
  mayHaveChanged(): void;
  /** Called when the list has really changed. @returns the end of it. */
  onChanged(listener: () => void): () => void;
  close(): Promise<void>;
}

export interface OfferListOptions<Item> {
  readonly host: Pick<Host, "turn">;
  readonly clock: Clock;
  readonly read: (turn: Turn) => Promise<readonly Item[]>;
  /** What an item is called: unlike all others, and what the list is ordered by. */
  readonly keyOf: (item: Item) => string;
  /** Whenever it was read. */
  readonly onRead?: (items: readonly Item[]) => void;
}

/** How long a list waits for servers that were never listed. */
const PATIENCE_MS = 5_000;
/** Quiet time after an event before the list is compared. */
const SETTLE_MS = 200;
const PAGE_ITEMS = 500;
const PAGE_CHARACTERS = 4 * 1024 * 1024;

export function createOfferList<Item>(options: OfferListOptions<Item>): OfferList<Item> {
  const { host, clock, keyOf } = options;
  const lifetime = createLifetime("gateway list");
  const changes = createEmitter<undefined>();
  let reading: Promise<readonly Item[]> | undefined;
  let toldDigest: string | undefined;
  let timer: Timer | undefined;

  const ask = async (patienceMs: number): Promise<readonly Item[]> => {
    const link = linkAbort(lifetime.signal);
    let patience: Timer | undefined;
    let turn: Turn | undefined;
    try {
      turn = host.turn({ signal: link.signal });
      patience = clock.timer(patienceMs, () => link.abort(new Error("the list does not wait longer")));
      const items = await options.read(turn);
      return [...items].sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
    } finally {
      patience?.cancel();
      link.unlink();
      await turn?.close();
    }
  };

  /** Readers at the same time share one look. */
  const read = async (): Promise<readonly Item[]> => {
    reading ??= ask(PATIENCE_MS).finally(() => {
      reading = undefined;
    });
    const items = await reading;
    options.onRead?.(items);
    toldDigest ??= digestOf(items);
    return items;
  };

  const compare = async (): Promise<void> => {
    const digest = digestOf(await read());
    if (digest === toldDigest || lifetime.isClosed) return;
    toldDigest = digest;
    changes.emit(undefined);
  };

  lifetime.onClose(async () => {
    timer?.cancel();
    await reading?.catch(() => undefined);
  });

  return {
    async page(cursor) {
      const after = cursor === undefined ? "" : keyBehind(cursor);
      return after === undefined ? undefined : cut(await read(), after, keyOf);
    },
    ask,
    mayHaveChanged() {
      if (changes.listenerCount() === 0) toldDigest = undefined;
      else if (timer === undefined && !lifetime.isClosed) {
        timer = clock.timer(SETTLE_MS, () => {
          timer = undefined;
          // The host may close while the list is read: then there is nobody to tell.
          compare().catch(() => undefined);
        });
      }
    },
    onChanged(listener) {
      // What the listener knows is the list as it is now.
      if (changes.listenerCount() === 0 && toldDigest === undefined) void read().catch(() => undefined);
      return changes.on(listener);
    },
    close: () => lifetime.close(),
  };
}

function cut<Item>(items: readonly Item[], after: string, keyOf: (item: Item) => string): OfferPage<Item> {
  const page: Item[] = [];
  let characters = 0;
  for (const item of items) {
    if (keyOf(item) <= after) continue;
    characters += JSON.stringify(item).length;
    const last = page.at(-1);
    if (last !== undefined && (page.length >= PAGE_ITEMS || characters > PAGE_CHARACTERS)) {
      return { items: page, nextCursor: cursorAfter(keyOf(last)) };
    }
    page.push(item);
  }
  return { items: page };
}

/** Room for the longest URI of a list. */
const CURSOR = /^a\.([A-Za-z0-9_-]{1,24000})$/u;

/** A name, not a number: pages stay right when items come and go between them. */
function cursorAfter(key: string): string {
  return `a.${Buffer.from(key, "utf8").toString("base64url")}`;
}

function keyBehind(cursor: string): string | undefined {
  const encoded = CURSOR.exec(cursor)?.[1];
  return encoded === undefined ? undefined : Buffer.from(encoded, "base64url").toString("utf8");
}

function digestOf(items: readonly unknown[]): string {
  const hash = createHash("sha256");
  for (const item of items) hash.update(JSON.stringify(item)).update("\n");
  return hash.digest("base64");
}

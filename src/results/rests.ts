/**
 * What did not fit into a result, kept for a while and read page by page. Each page is a document of its own, sealed, so that
 * reading one costs one; bounded in size and number, gone after an hour. Collection `rests`.
 *
 * A rest belongs to the principal of its call; nobody else can read it, whatever id they guess.
 */
import type { Clock } from "../base/clock.ts";
import { isJsonObject, parseJson } from "../base/json.ts";
import type { Documents } from "../store/store.ts";
import { byteLength, splitAtBytes } from "../text/clean.ts";
import type { Principal } from "../vocabulary.ts";
import type { Rest } from "./intake.ts";
import type { Sealer } from "./sealer.ts";

export interface RestsOptions {
  readonly documents: Pick<Documents, "get" | "put" | "delete">;
  readonly clock: Clock;
  readonly sealer: Sealer;
  /** Default 1 hour. */
  readonly maxAgeMs?: number;
  /** Bytes of one rest, all parts together. Default 32 MiB. */
  readonly maxBytes?: number;
  /** Rests of this process that are kept at a time. Default 100; the oldest goes first. */
  readonly maxRests?: number;
}

interface RestSummary {
  readonly pages: number;
  /** Not everything could be kept. */
  readonly isCut: boolean;
}

interface RestPage {
  readonly text: string;
  /** 1-based. */
  readonly page: number;
  readonly pages: number;
  /** A person has released what was held back. */
  readonly isReleased: boolean;
}

/** A rest as an operator sees it, whoever it belongs to. */
interface RestFront extends RestPage {
  readonly principal: Principal;
}

export interface Rests {
  /** Keeps `rest` under `id` (the call's id). */
  put(id: string, principal: Principal, rest: Rest): Promise<RestSummary>;
  /** One page of the text, raw: to be put through the channels again. `undefined`: gone, not yours, or no such page. */
  readMore(id: string, principal: Principal, page: number): Promise<RestPage | undefined>;
  /** Its first page, for an operator. `undefined`: gone. */
  front(id: string): Promise<RestFront | undefined>;
  /** A person lets its owner read it, whatever was found in it, for as long as it is kept. @returns false where it is gone. */
  release(id: string): Promise<boolean>;
  remove(id: string): Promise<void>;
}

const COLLECTION = "rests";
const HOUR_MS = 3_600_000;
const MIB = 1_048_576;
const MIN_PAGE_BYTES = 1_024;
const MAX_PAGES = 4_096;
const PAGE_MARGIN = 256;
/** Characters that are sealed and committed together: a few milliseconds of work. */
const BATCH = 524_288;
const ID = /^[A-Za-z0-9_-]{1,64}$/;

export function createRests(options: RestsOptions): Rests {
  const { documents, clock, sealer, maxAgeMs = HOUR_MS, maxBytes = 32 * MIB, maxRests = 100 } = options;
  /** Rests that this process wrote, oldest first, with their documents. */
  const written = new Map<string, string[]>();

  const write = async (key: string, value: object): Promise<void> => {
    const sealed = await sealer.seal(JSON.stringify(value), `${COLLECTION} ${key}`);
    await documents.put(COLLECTION, key, sealed, { expiresAt: clock.now() + maxAgeMs, durable: false });
  };
  const read = async (key: string): Promise<Readonly<Record<string, unknown>> | undefined> => {
    const document = await documents.get(COLLECTION, key);
    if (document === undefined || typeof document.value !== "string") return undefined;
    if (document.expiresAt !== null && document.expiresAt <= clock.now()) return undefined;
    const plain = await sealer.open(document.value, `${COLLECTION} ${key}`);
    const value = plain === undefined ? undefined : parseJson(plain);
    return isJsonObject(value) ? value : undefined;
  };
  const remove = async (id: string): Promise<void> => {
    const keys = written.get(id) ?? [];
    written.delete(id);
    await Promise.all(keys.map((key) => documents.delete(COLLECTION, key)));
  };

  const readPage = async (id: string, page: number): Promise<RestFront | undefined> => {
    if (!ID.test(id) || !Number.isInteger(page) || page < 1 || page > MAX_PAGES) return undefined;
    const value = await read(pageKey(id, page));
    if (value === undefined) return undefined;
    const { principal, text, pages } = value;
    if (typeof principal !== "string" || typeof text !== "string" || typeof pages !== "number")
      return undefined;
    const isReleased = (await read(releaseKey(id)))?.["principal"] === principal;
    return { principal, text, page, pages, isReleased };
  };

  return {
    async put(id, principal, rest) {
      if (!ID.test(id)) throw new TypeError(`\`${id}\` is no id of a rest`);
      await remove(id);
      while (written.size >= maxRests) await remove(written.keys().next().value ?? "");
      const keys: string[] = [];
      written.set(id, keys);
      const { pages, isCut } = cutPages(rest.text, Math.max(rest.pageBytes, MIN_PAGE_BYTES), maxBytes);
      let writes: Promise<void>[] = [];
      let writing = 0;
      for (const [at, text] of pages.entries()) {
        const key = pageKey(id, at + 1);
        keys.push(key);
        writes.push(write(key, { principal, text, pages: pages.length }));
        writing += text.length;
        if (writing < BATCH) continue;
        await Promise.all(writes);
        writes = [];
        writing = 0;
      }
      await Promise.all(writes);
      return { pages: pages.length, isCut };
    },

    async readMore(id, principal, page) {
      const found = await readPage(id, page);
      if (found === undefined || found.principal !== principal) return undefined;
      const { principal: _owner, ...shown } = found;
      return shown;
    },

    front: async (id) => readPage(id, 1),

    async release(id) {
      const found = await readPage(id, 1);
      if (found === undefined) return false;
      const key = releaseKey(id);
      written.get(id)?.push(key);
      await write(key, { principal: found.principal });
      return true;
    },

    remove,
  };
}

/** Sealed like the pages, so that nobody without the key can release anything. */
function releaseKey(id: string): string {
  return `${id} released`;
}

function pageKey(id: string, page: number): string {
  return `${id} p${String(page).padStart(5, "0")}`;
}

/** Cuts between grapheme clusters; linear, because each page is cut from a window of its own. */
function cutPages(
  text: string,
  pageBytes: number,
  maxBytes: number,
): { readonly pages: readonly string[]; readonly isCut: boolean } {
  const pages: string[] = [];
  let at = 0;
  let bytes = 0;
  while (at < text.length) {
    if (bytes >= maxBytes || pages.length >= MAX_PAGES) return { pages, isCut: true };
    // A little more than a page can hold, so that its end is looked for and not made by the slice.
    const { head } = splitAtBytes(
      text.slice(at, at + pageBytes + PAGE_MARGIN),
      Math.min(pageBytes, maxBytes - bytes),
    );
    // What is left of the room may be less than one cluster.
    if (head === "") return { pages, isCut: true };
    const page = head;
    pages.push(page);
    at += page.length;
    bytes += byteLength(page);
  }
  return { pages: pages.length === 0 ? [""] : pages, isCut: false };
}

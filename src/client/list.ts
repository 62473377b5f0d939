/**
 * A whole list, page by page. Source: utilities/pagination.
 *
 * Invariants: cursors are opaque (`""` is one like any other); a cursor that comes twice ends the list; at most `maxPages`
 * pages and `maxItems` items; a list that was cut, or of which a later page failed, says so and keeps what it has.
 */
import type { JsonObject, JsonValue } from "../base/json.ts";
import { PortcullisError } from "../errors.ts";
import { rpcCodes } from "../protocol/codes.ts";
import type { CacheScope } from "../protocol/handshake.ts";
import { listMethods, type ListKind } from "../protocol/methods.ts";
import type { ServerCapabilities } from "../protocol/types.ts";
import { cleanPage, type ListItems } from "../wire/list.ts";
import { readFreshness } from "../wire/modern.ts";
import type { Finding } from "../vocabulary.ts";
import { requestError, rpcCodeOf } from "./remote-error.ts";

export interface ListOptions {
  readonly signal?: AbortSignal;
  readonly idleTimeoutMs?: number;
}

export interface ListOutcome<Item> {
  readonly items: readonly Item[];
  /** Every item that was looked at, good and bad, as it came: for whoever judges them by rules of their own. */
  readonly raw: readonly JsonValue[];
  /** About one item where `where` names it, such as `tools/3` (counted in its page); about the list where it is the kind. */
  readonly findings: readonly Finding[];
  /** True where the list was cut or a later page failed: what is missing is not known. */
  readonly isPartial: boolean;
  readonly pages: number;
  /** How long it may be kept: the shortest of its pages; 0 where nothing was said. */
  readonly ttlMs: number;
  /** `private` unless every page said `public`. */
  readonly cacheScope: CacheScope;
}

/** The capability that a kind belongs to. */
const CAPABILITY: Readonly<Record<ListKind, "tools" | "prompts" | "resources">> = {
  tools: "tools",
  prompts: "prompts",
  resources: "resources",
  resourceTemplates: "resources",
};

const MAX_CURSOR_LENGTH = 65_536;
const MAX_FINDINGS = 500;

/** Whether a server said that it has this kind; what was not said is not asked for. */
export function offers(capabilities: ServerCapabilities, kind: ListKind): boolean {
  return capabilities[CAPABILITY[kind]] !== undefined;
}

/** A list of a server that does not offer the kind. */
export function emptyList<Item>(): ListOutcome<Item> {
  return { items: [], raw: [], findings: [], isPartial: false, pages: 0, ttlMs: 0, cacheScope: "private" };
}

/**
 * @param ask sends one page request and resolves with its complete result.
 * @throws what `ask` throws for the first page; `protocol_error` where that is not a list.
 */
export async function listAll<Kind extends ListKind>(
  kind: Kind,
  ask: (method: string, params: JsonObject) => Promise<JsonObject>,
  limits: { readonly maxPages: number; readonly maxItems: number },
): Promise<ListOutcome<ListItems[Kind]>> {
  const method = listMethods[kind];
  const items: ListItems[Kind][] = [];
  const raw: JsonValue[] = [];
  const findings: Finding[] = [];
  const seen = new Set<string>();
  const cursors = new Set<string>();
  let ttlMs = Infinity;
  let isPublic = true;
  let cursor: string | undefined;
  let pages = 0;
  let isPartial = false;

  const cut = (rule: string, message: string): void => {
    isPartial = true;
    findings.push({ rule, severity: "low", where: kind, message });
  };

  for (;;) {
    const answer = await askPage(method, cursor, pages, ask);
    if (answer instanceof PortcullisError) {
      cut("catalog.page-failed", `page ${pages + 1} failed (${answer.code}); the pages before it are used`);
      break;
    }
    const page = cleanPage(kind, answer, { seen, room: limits.maxItems - items.length });
    if (page === undefined) {
      if (pages === 0)
        throw requestError("protocol_error", method, `\`${method}\` was answered without a list`, {
          wasSent: true,
        });
      cut("catalog.page-failed", `page ${pages + 1} is not a list; the pages before it are used`);
      break;
    }
    pages += 1;
    for (const item of page.items) items.push(item);
    for (const item of page.raw) raw.push(item);
    findings.push(...page.findings.slice(0, MAX_FINDINGS - findings.length));
    const freshness = readFreshness(answer);
    ttlMs = Math.min(ttlMs, freshness.ttlMs);
    isPublic &&= freshness.cacheScope === "public";
    cursor = page.nextCursor;
    if (page.findings.some((finding) => finding.rule === "catalog.too-many")) {
      isPartial = true;
      break;
    }
    if (cursor === undefined) break;
    if (cursors.has(cursor)) {
      cut("catalog.cursor-loop", "a cursor came twice; the list was ended there");
      break;
    }
    if (cursor.length > MAX_CURSOR_LENGTH || pages >= limits.maxPages || items.length >= limits.maxItems) {
      cut(
        "catalog.too-many",
        `the list goes on beyond ${pages} pages and ${items.length} items; the rest was left out`,
      );
      break;
    }
    cursors.add(cursor);
  }
  return {
    items,
    raw,
    findings,
    isPartial,
    pages,
    ttlMs: Number.isFinite(ttlMs) ? ttlMs : 0,
    cacheScope: isPublic ? "public" : "private",
  };
}

/** One page, or the error of a later page that the list can do without. */
async function askPage(
  method: string,
  cursor: string | undefined,
  pages: number,
  ask: (method: string, params: JsonObject) => Promise<JsonObject>,
): Promise<JsonObject | PortcullisError> {
  try {
    return await ask(method, cursor === undefined ? {} : { cursor });
  } catch (error) {
    if (pages > 0 && error instanceof PortcullisError && isOfThePage(error)) return error;
    throw error;
  }
}

/** An answer of the server to this page alone; a broken connection or a cancelled caller ends the whole list. */
function isOfThePage(error: PortcullisError): boolean {
  const code = rpcCodeOf(error);
  return code !== undefined && code !== rpcCodes.unsupportedProtocolVersion;
}

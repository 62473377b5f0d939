/**
 * Everything that all servers offer, by connection: one place that knows which tool a name means for whom, and whether it may be
 * used. Catalogs are replaced as a whole; a refresh that was started earlier never overwrites one that was started later.
 */
import { nearestNames } from "./near-names.ts";
import { DEFAULT_NAME_LENGTH, exposeName, splitName, type ToolAddress } from "./naming.ts";
import type { Catalog, Quarantine, QuarantinedItem, ToolEntry } from "./entry.ts";
import { isFresh, NO_CACHE, type CacheHint, type Freshness } from "./freshness.ts";
import type { PinState, PinStatus } from "./pins.ts";
import { connectionId, type ConnectionKey, type Principal } from "../vocabulary.ts";

/** A tool as one principal may use it. */
export interface RegisteredTool {
  readonly entry: ToolEntry;
  readonly exposedName: string;
  readonly key: ConnectionKey;
  readonly pinState: PinState;
  /** Present when the server was first accepted, or accepted since: only then a pattern may grade it below L2. */
  readonly isBaseline: boolean;
}

export type Resolution =
  | { readonly kind: "tool"; readonly tool: RegisteredTool }
  /** It exists, but is held: `changed`, or refused for cause. */
  | {
      readonly kind: "quarantined";
      readonly server: string;
      readonly tool: string;
      readonly quarantine: Quarantine;
      readonly held: RegisteredTool | null;
    }
  /** The server is known but was never listed for this principal: list it and ask again. */
  | { readonly kind: "unlisted"; readonly server: string; readonly tool: string; readonly key: ConnectionKey }
  | { readonly kind: "unknown"; readonly message: string; readonly near: readonly string[] };

interface ListFilter {
  readonly principal: Principal;
  readonly server?: string;
  /** Only what may be called (default), or also what is held. */
  readonly includeHeld?: boolean;
  /** Length of exposed names; default that of the registry. */
  readonly nameLength?: number;
}

export interface ListedTool extends RegisteredTool {
  readonly quarantine: Quarantine | null;
}

export interface RegistryOptions {
  /** The connection that `principal` uses for `server`; `undefined` for a server that is not configured. */
  readonly keyOf: (server: string, principal: Principal) => ConnectionKey | undefined;
  /** Configured servers. */
  readonly servers: () => Iterable<string>;
  /** What the pin book says about a definition. */
  readonly pinStatus: (server: string, tool: string, pin: string) => PinStatus;
  /** Whether findings of high severity in a definition hold the tool until somebody accepts it. Default: yes. */
  readonly holdsSuspicious?: (server: string) => boolean;
  readonly nameLength?: number;
}

export interface Registry {
  /** Starts a refresh; the ticket decides which of two is newer. */
  beginRefresh(key: ConnectionKey): number;
  /** @returns false where a newer refresh was there before, and nothing changed. */
  replace(catalog: Catalog, ticket: number, hint?: CacheHint): boolean;
  /** Puts back what was persisted, only where nothing is there yet. Always stale: the server is asked when it is there. */
  restore(catalog: Catalog): boolean;
  /** A notification said that the lists changed. */
  invalidate(key: ConnectionKey): void;
  isFresh(key: ConnectionKey, now: number): boolean;
  /** What is known of how long the lists may be believed; `undefined` where there are none. */
  freshness(key: ConnectionKey): Freshness | undefined;
  catalog(key: ConnectionKey): Catalog | undefined;
  catalogs(): readonly Catalog[];
  /** Forgets a connection. */
  remove(key: ConnectionKey): void;
  /** By exposed name, or by server and tool. */
  resolve(query: string | ToolAddress, principal: Principal, nameLength?: number): Resolution;
  /** In order of server and name. */
  list(filter: ListFilter): readonly ListedTool[];
}

interface Shelf {
  readonly key: ConnectionKey;
  catalog: Catalog | undefined;
  tools: ReadonlyMap<string, ToolEntry>;
  held: ReadonlyMap<string, QuarantinedItem>;
  hint: CacheHint;
  /** Tickets: of the refresh started last, of the one whose answer is here, and the first that sees the last change. */
  started: number;
  applied: number;
  changedAt: number;
}

/** What is known of one tool's name and state, and of which names it was judged. */
interface Judged {
  readonly index: ReadonlyMap<string, readonly ToolAddress[]>;
  readonly tool: RegisteredTool;
  readonly quarantine: Quarantine | null;
}

export function createRegistry(options: RegistryOptions): Registry {
  const defaultLength = options.nameLength ?? DEFAULT_NAME_LENGTH;
  const shelves = new Map<string, Shelf>();
  /** Exposed name → who is called so, by length; made again after every change. */
  const indexes = new Map<number, ReadonlyMap<string, readonly ToolAddress[]>>();

  const shelfOf = (key: ConnectionKey): Shelf => {
    const id = connectionId(key);
    const known = shelves.get(id);
    if (known !== undefined) return known;
    const shelf: Shelf = {
      key,
      catalog: undefined,
      tools: new Map(),
      held: new Map(),
      hint: NO_CACHE,
      started: 0,
      applied: 0,
      changedAt: 0,
    };
    shelves.set(id, shelf);
    return shelf;
  };

  const put = (shelf: Shelf, catalog: Catalog, hint: CacheHint): void => {
    const held = new Map<string, QuarantinedItem>();
    for (const item of catalog.quarantined) {
      if (item.kind === "tool" && item.name !== null && !held.has(item.name)) held.set(item.name, item);
    }
    shelf.catalog = catalog;
    shelf.tools = new Map(catalog.tools.map((entry) => [entry.name, entry]));
    shelf.held = held;
    shelf.hint = hint;
    indexes.clear();
  };

  const indexOf = (length: number): ReadonlyMap<string, readonly ToolAddress[]> => {
    const known = indexes.get(length);
    if (known !== undefined) return known;
    const index = new Map<string, readonly ToolAddress[]>();
    const seen = new Set<string>();
    for (const { key, tools, held } of shelves.values()) {
      for (const tool of [...tools.keys(), ...held.keys()]) {
        const id = `${key.server} ${tool}`;
        if (seen.has(id)) continue;
        seen.add(id);
        const name = exposeName(key.server, tool, length);
        index.set(name, [...(index.get(name) ?? []), { server: key.server, tool }]);
      }
    }
    indexes.set(length, index);
    return index;
  };

  /** Every call asks for the same again. What findings do is the configuration's, so it is not remembered. */
  const judged = new WeakMap<ToolEntry, Judged>();

  const judge = (entry: ToolEntry, key: ConnectionKey, length: number): Judged => {
    const { state, isBaseline } = options.pinStatus(entry.server, entry.name, entry.pin);
    const index = indexOf(length);
    const known = judged.get(entry);
    if (known?.index === index && known.tool.pinState === state && known.tool.isBaseline === isBaseline)
      return known;
    const exposedName = exposeName(entry.server, entry.name, length);
    const tool = { entry, exposedName, key, pinState: state, isBaseline };
    const made = { index, tool, quarantine: holdOf(tool, length) };
    if (entry.findings.every(({ severity }) => severity !== "high")) judged.set(entry, made);
    return made;
  };

  const holdOf = (tool: RegisteredTool, length: number): Quarantine | null => {
    const twins = indexOf(length).get(tool.exposedName) ?? [];
    if (twins.length > 1) {
      return {
        code: "name_collision",
        reason: `another tool would be called \`${tool.exposedName}\` as well`,
      };
    }
    if (tool.pinState === "changed") {
      return { code: "changed", reason: "its definition is not the one that was seen or accepted before" };
    }
    const alarming =
      tool.pinState === "accepted"
        ? undefined
        : tool.entry.findings.find(({ severity }) => severity === "high");
    if (alarming === undefined || options.holdsSuspicious?.(tool.entry.server) === false) return null;
    return {
      code: "suspicious",
      reason: `its definition ${alarming.message} (${alarming.rule}); look at it before it is used`,
    };
  };

  const addressOf = (query: string | ToolAddress, length: number): ToolAddress | undefined => {
    if (typeof query !== "string") return query;
    const known = indexOf(length).get(query)?.[0];
    if (known !== undefined) return known;
    const address = splitName(query);
    return address !== undefined && exposeName(address.server, address.tool, length) === query
      ? address
      : undefined;
  };

  const unknown = (
    message: string,
    query: string | ToolAddress,
    principal: Principal,
    length: number,
  ): Resolution => {
    const wanted = typeof query === "string" ? query : exposeName(query.server, query.tool, length);
    const names = registry.list({ principal, nameLength: length }).map((tool) => tool.exposedName);
    return { kind: "unknown", message, near: nearestNames(wanted, names) };
  };

  const registry: Registry = {
    beginRefresh(key) {
      const shelf = shelfOf(key);
      shelf.started += 1;
      return shelf.started;
    },
    replace(catalog, ticket, hint = NO_CACHE) {
      const shelf = shelfOf(catalog.key);
      if (ticket <= shelf.applied) return false;
      shelf.applied = ticket;
      put(shelf, catalog, hint);
      return true;
    },
    restore(catalog) {
      const shelf = shelfOf(catalog.key);
      if (shelf.catalog !== undefined) return false;
      put(shelf, catalog, NO_CACHE);
      return true;
    },
    invalidate(key) {
      const shelf = shelfOf(key);
      // An answer that is still on its way may be from before the change.
      shelf.started += 1;
      shelf.changedAt = shelf.started;
    },
    isFresh(key, now) {
      const freshness = registry.freshness(key);
      return freshness !== undefined && isFresh(freshness, now);
    },
    freshness(key) {
      const shelf = shelves.get(connectionId(key));
      if (shelf?.catalog === undefined) return undefined;
      const isInvalidated = shelf.applied <= shelf.changedAt;
      return { receivedAt: shelf.catalog.receivedAt, hint: shelf.hint, isInvalidated };
    },
    catalog: (key) => shelves.get(connectionId(key))?.catalog,
    catalogs: () =>
      [...shelves.values()].flatMap((shelf) => (shelf.catalog === undefined ? [] : [shelf.catalog])),
    remove(key) {
      shelves.delete(connectionId(key));
      indexes.clear();
    },
    resolve(query, principal, nameLength = defaultLength) {
      const address = addressOf(query, nameLength);
      if (address === undefined)
        return unknown("there is no tool of that name", query, principal, nameLength);
      const key = options.keyOf(address.server, principal);
      if (key === undefined) return unknown("there is no server of that name", query, principal, nameLength);
      const shelf = shelves.get(connectionId(key));
      if (shelf?.catalog === undefined) return { kind: "unlisted", ...address, key };
      const entry = shelf.tools.get(address.tool);
      if (entry === undefined) {
        const item = shelf.held.get(address.tool);
        if (item !== undefined)
          return { kind: "quarantined", ...address, quarantine: item.quarantine, held: null };
        return unknown(`server \`${address.server}\` has no such tool`, query, principal, nameLength);
      }
      const { quarantine, tool } = judge(entry, key, nameLength);
      return quarantine === null
        ? { kind: "tool", tool }
        : { kind: "quarantined", ...address, quarantine, held: tool };
    },
    list({ principal, server, includeHeld = false, nameLength = defaultLength }) {
      const listed: ListedTool[] = [];
      const names = server === undefined ? [...options.servers()].sort() : [server];
      for (const name of names) {
        const key = options.keyOf(name, principal);
        const shelf = key === undefined ? undefined : shelves.get(connectionId(key));
        if (key === undefined || shelf === undefined) continue;
        for (const entry of shelf.tools.values()) {
          const { tool, quarantine } = judge(entry, key, nameLength);
          if (quarantine === null || includeHeld) listed.push({ ...tool, quarantine });
        }
      }
      return listed.sort((one, other) => compare(one.entry, other.entry));
    },
  };
  return registry;
}

function compare(one: ToolEntry, other: ToolEntry): number {
  if (one.server !== other.server) return one.server < other.server ? -1 : 1;
  return one.name === other.name ? 0 : one.name < other.name ? -1 : 1;
}

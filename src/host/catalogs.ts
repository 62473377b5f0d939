/**
 * Keeps the registry's catalogs true: lists a server after every start, on change and when its time is up; persists what
 * was listed, so that the next start answers at once without a server.
 *
 * A storm of change notifications costs little: one refresh at a time and one after it, spaced out further while nothing
 * really changes. Nothing polls: what is stale is listed again when somebody uses it (utilities/caching, CCH-07, CCH-08).
 */
import type { Clock } from "../base/clock.ts";
import { isJsonObject, parseJson, type JsonValue } from "../base/json.ts";
import type { Client } from "../client/client.ts";
import type { ServerFacts } from "../client/facts.ts";
import type { ListOutcome } from "../client/list.ts";
import type { ServerConfig } from "../config/compiled.ts";
import { toPortcullisError } from "../errors.ts";
import { readClaim } from "../policy/annotations.ts";
import type { ListKind } from "../protocol/methods.ts";
import type { Era } from "../protocol/revisions.ts";
import { buildCatalogInSlices, type CatalogOptions } from "../registry/catalog.ts";
import type { Catalog, ListName } from "../registry/entry.ts";
import type { PinBook } from "../registry/pin-book.ts";
import type { Registry } from "../registry/registry.ts";
import { readSnapshot, snapshotCatalog } from "../registry/snapshot.ts";
import type { Documents } from "../store/store.ts";
import type { HostEvent } from "../telemetry/events.ts";
import { connectionId, type ConnectionKey, type Finding } from "../vocabulary.ts";
import { createListRefresh, type ListRefresh } from "./list-refresh.ts";
import { redactStrings } from "./redact-strings.ts";
import { readHeaderPlan } from "../wire/header-plan.ts";

export interface CatalogsDeps {
  readonly registry: Registry;
  readonly pins: PinBook;
  readonly documents: Documents;
  readonly sealer: {
    seal(plain: string, purpose: string): string;
    open(sealed: string, purpose: string): string | undefined;
  };
  readonly clock: Clock;
  readonly emit: (event: HostEvent) => void;
  readonly server: (name: string) => ServerConfig | undefined;
  /** Takes known secrets out of a text: a server may put what it was given into its definitions. */
  readonly redact: (text: string) => string;
}

export interface Catalogs {
  /** Lists everything that the server offers and takes it over. @throws what listing the tools throws. */
  refresh(
    key: ConnectionKey,
    client: Pick<Client, "list">,
    facts: ServerFacts,
    signal: AbortSignal,
  ): Promise<void>;
  /** A notification said that lists changed: refreshed soon, in the background. */
  changed(key: ConnectionKey, client: Pick<Client, "list">, facts: ServerFacts): void;
  /** Waits for the reading of lists that were announced as changed, at most 5 s; `undefined` where nothing is to be waited for. */
  settle(key: ConnectionKey, signal: AbortSignal): Promise<void> | undefined;
  /** Somebody is about to use the lists: refreshed soon, in the background, where they are stale. */
  used(key: ConnectionKey, client: Pick<Client, "list">, facts: ServerFacts): void;
  /** Puts back what was persisted. */
  restore(): Promise<void>;
  /** Judges what is there by the configuration as it is now, without asking the server. */
  rebuild(key: ConnectionKey): Promise<void>;
  /** The connection is over and its server no longer configured. */
  forget(key: ConnectionKey): void;
  /** Ends what runs in the background. */
  close(): void;
}

/**
 * Most servers say nothing about time (`ttlMs` absent or 0: stale at once, CCH-03, CCH-05). Listing before each call would cost
 * more than the call, so such a list is believed for as long as this, and where the server tells changes until it does.
 */
const UNTOLD_TTL_MS = 60_000;
const UNREAD_CHANGE = { rule: "catalog.change-unread", severity: "low" } as const;
/** One catalog as kept on disk; a larger one is listed anew after a start. */
const MAX_STORED_CHARACTERS = 8 * 1024 * 1024;

type Lists = Record<ListKind, ListOutcome<unknown>>;

const LIST_KINDS: readonly ListKind[] = ["tools", "resources", "resourceTemplates", "prompts"];

export function createCatalogs(deps: CatalogsDeps): Catalogs {
  const { registry, clock, documents } = deps;
  const refreshes = new Map<string, ListRefresh>();
  /** Of the sessions that were listed last. */
  const eras = new Map<string, Era>();

  const take = async (
    key: ConnectionKey,
    lists: Lists,
    facts: ServerFacts,
    ticket: number,
    signal: AbortSignal,
  ): Promise<boolean> => {
    const previous = registry.catalog(key);
    eras.set(connectionId(key), facts.era);
    const catalog = await buildCatalogInSlices(
      {
        key,
        receivedAt: clock.now(),
        // As they came: what the client left out is held here, by name and with the reason.
        tools: redactStrings(lists.tools.raw, deps.redact),
        resources: redactStrings(lists.resources.raw, deps.redact),
        templates: redactStrings(lists.resourceTemplates.raw, deps.redact),
        prompts: redactStrings(lists.prompts.raw, deps.redact),
        instructions: redactStrings(facts.instructions, deps.redact),
        partial: partialLists(lists),
        findings: LIST_KINDS.flatMap((kind) => lists[kind].findings.filter(({ where }) => where === kind)),
      },
      { ...optionsFor(key), previous },
      signal,
    );
    await deps.pins.observe(catalog, clock.now());
    if (!registry.replace(catalog, ticket, { ttlMs: lists.tools.ttlMs, cacheScope: lists.tools.cacheScope }))
      return false;
    const isSame = previous !== undefined && fingerprint(previous) === fingerprint(catalog);
    if (!isSame) await persist(catalog);
    deps.emit({
      type: "catalog.refreshed",
      at: clock.now(),
      key,
      tools: catalog.tools.length,
      quarantined: catalog.quarantined.length,
    });
    for (const { tool, finding } of listFindings(catalog)) {
      if (!isSame)
        deps.emit({
          type: "finding.raised",
          at: clock.now(),
          server: key.server,
          tool,
          callId: null,
          finding,
        });
    }
    return !isSame;
  };

  const optionsFor = (key: ConnectionKey): CatalogOptions => {
    const server = deps.server(key.server);
    const overrides = new Map(
      server?.tools.flatMap((rule) =>
        rule.isExact && rule.schema !== null ? [[rule.pattern, rule.schema]] : [],
      ),
    );
    return {
      annotationFaults: (annotations) => readClaim(annotations).faults,
      schemaOverride: (tool) => overrides.get(tool) ?? null,
      // Headers mirror arguments over HTTP only, and before the modern era the annotation means nothing.
      ...(server?.launch.kind !== "stdio" && eras.get(connectionId(key)) === "modern"
        ? { planHeaders: readHeaderPlan }
        : {}),
    };
  };

  const persist = async (catalog: Catalog): Promise<void> => {
    const id = connectionId(catalog.key);
    const text = JSON.stringify(snapshotCatalog(catalog));
    if (text.length > MAX_STORED_CHARACTERS) {
      await documents.delete("catalogs", id);
      return;
    }
    await documents.put(
      "catalogs",
      id,
      { sealed: deps.sealer.seal(text, `catalog ${id}`) },
      { durable: false },
    );
  };

  const list = async (client: Pick<Client, "list">, signal: AbortSignal): Promise<Lists> => {
    const tools = await client.list("tools", { signal });
    // A server whose other lists are broken still has tools.
    const rest = async <Kind extends "resources" | "resourceTemplates" | "prompts">(kind: Kind) => {
      try {
        return await client.list(kind, { signal });
      } catch (cause) {
        if (signal.aborted) throw cause;
        const message = `the list of ${kind} could not be had: ${toPortcullisError(cause).message}`.slice(
          0,
          300,
        );
        const finding: Finding = { rule: "catalog.list-failed", severity: "low", where: kind, message };
        return {
          items: [],
          raw: [],
          findings: [finding],
          isPartial: true,
          pages: 0,
          ttlMs: 0,
          cacheScope: "private" as const,
        };
      }
    };
    return {
      tools,
      resources: await rest("resources"),
      resourceTemplates: await rest("resourceTemplates"),
      prompts: await rest("prompts"),
    };
  };

  const refreshOf = (key: ConnectionKey, client: Pick<Client, "list">, facts: ServerFacts): ListRefresh => {
    const id = connectionId(key);
    const known = refreshes.get(id);
    if (known !== undefined) return known;
    const made = createListRefresh(clock, async (signal) => {
      const ticket = registry.beginRefresh(key);
      return take(key, await list(client, signal), facts, ticket, signal);
    });
    refreshes.set(id, made);
    return made;
  };

  const isBelieved = (key: ConnectionKey, facts: ServerFacts): boolean => {
    const nowMs = clock.now();
    const freshness = registry.freshness(key);
    if (freshness === undefined || registry.isFresh(key, nowMs)) return true;
    if (freshness.isInvalidated || freshness.hint.ttlMs > 0) return false;
    const isTold = facts.capabilities.tools?.listChanged === true;
    return isTold || nowMs - freshness.receivedAt < UNTOLD_TTL_MS;
  };

  return {
    async refresh(key, client, facts, signal) {
      stop(connectionId(key));
      const ticket = registry.beginRefresh(key);
      await take(key, await list(client, signal), facts, ticket, signal);
    },
    changed(key, client, facts) {
      registry.invalidate(key);
      refreshOf(key, client, facts).announced();
    },
    settle(key, signal) {
      const settling = refreshes.get(connectionId(key))?.settle(signal);
      return settling?.then((isRead) => {
        if (isRead) return;
        const { rule, severity } = UNREAD_CHANGE;
        const message = `\`${key.server}\` announced a change of its lists that could not be read: what was known before counts`;
        const finding: Finding = { rule, severity, where: "tools", message };
        deps.emit({
          type: "finding.raised",
          at: clock.now(),
          server: key.server,
          tool: null,
          callId: null,
          finding,
        });
      });
    },
    used(key, client, facts) {
      if (isBelieved(key, facts)) return;
      refreshOf(key, client, facts).due();
    },
    async restore() {
      for (const { key: id, value } of await documents.list("catalogs")) {
        const catalog = await fromStored(id, value);
        if (catalog !== undefined) registry.restore(catalog);
      }
    },
    async rebuild(key) {
      const catalog = registry.catalog(key);
      const hint = registry.freshness(key)?.hint;
      const kept = catalog === undefined ? undefined : readSnapshot(snapshotCatalog(catalog), key);
      if (catalog === undefined || hint === undefined || kept === undefined) return;
      const ticket = registry.beginRefresh(key);
      registry.replace(
        await buildCatalogInSlices(kept, { ...optionsFor(key), previous: catalog }),
        ticket,
        hint,
      );
    },
    forget(key) {
      stop(connectionId(key));
      eras.delete(connectionId(key));
      registry.remove(key);
    },
    close() {
      for (const id of refreshes.keys()) stop(id);
    },
  };

  function stop(id: string): void {
    refreshes.get(id)?.stop();
    refreshes.delete(id);
  }

  async function fromStored(id: string, value: JsonValue): Promise<Catalog | undefined> {
    const [server, credential] = id.split(" ");
    const sealed = isJsonObject(value) ? value["sealed"] : undefined;
    if (
      server === undefined ||
      credential === undefined ||
      typeof sealed !== "string" ||
      deps.server(server) === undefined
    )
      return undefined;
    // Sealed with a key that is gone, or changed: the server is asked again.
    const text = deps.sealer.open(sealed, `catalog ${id}`);
    const key = { server, credential };
    const kept = text === undefined ? undefined : readSnapshot(parseJson(text), key);
    return kept === undefined ? undefined : buildCatalogInSlices(kept, optionsFor(key));
  }
}

function partialLists(lists: Lists): ListName[] {
  const names: [ListKind, ListName][] = [
    ["tools", "tools"],
    ["resources", "resources"],
    ["resourceTemplates", "templates"],
    ["prompts", "prompts"],
  ];
  return names.filter(([kind]) => lists[kind].isPartial).map(([, name]) => name);
}

function fingerprint(catalog: Catalog): string {
  return JSON.stringify([
    catalog.tools.map((tool) => [tool.name, tool.pin]),
    [...catalog.resources, ...catalog.templates].map((entry) => [entry.uri, entry.title, entry.description]),
    catalog.prompts.map((entry) => [entry.name, entry.title, entry.description, entry.arguments]),
    catalog.quarantined.map((item) => [item.name, item.quarantine.code]),
    catalog.instructions?.pin,
  ]);
}

function listFindings(catalog: Catalog): { tool: string | null; finding: Finding }[] {
  return [
    ...catalog.findings.map((finding) => ({ tool: null, finding })),
    ...(catalog.instructions?.findings ?? []).map((finding) => ({ tool: null, finding })),
    ...catalog.tools.flatMap((tool) => tool.findings.map((finding) => ({ tool: tool.name, finding }))),
    ...[...catalog.resources, ...catalog.templates, ...catalog.prompts].flatMap(({ findings }) =>
      findings.map((finding) => ({ tool: null, finding })),
    ),
  ];
}

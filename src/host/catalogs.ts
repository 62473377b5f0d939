/**
 * Keeps the registry's catalogs true: lists a server after every start, on change and when its time is up; persists what
 * was listed, so that the next start answers at once without a server.
 *
 * A storm of change notifications costs little: one refresh at a time and one after it, spaced out further while nothing
 * really changes. Nothing polls: what is stale is listed again when somebody uses it (utilities/caching, CCH-07, CCH-08).
 */
import type { Clock, Timer } from "../base/clock.ts";
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

const FIRST_SPACING_MS = 250;
const MAX_SPACING_MS = 30_000;
/**
 * Most servers say nothing about time (`ttlMs` absent or 0: stale at once, CCH-03, CCH-05). Listing before each call would cost
 * more than the call, so such a list is believed for as long as this, and where the server tells changes until it does.
 */
const UNTOLD_TTL_MS = 60_000;
/** One catalog as kept on disk; a larger one is listed anew after a start. */
const MAX_STORED_CHARACTERS = 8 * 1024 * 1024;

interface Refresher {
  readonly controller: AbortController;
  timer: Timer | undefined;
  isRunning: boolean;
  isAgain: boolean;
  spacingMs: number;
}

type Lists = Record<ListKind, ListOutcome<unknown>>;

const LIST_KINDS: readonly ListKind[] = ["tools", "resources", "resourceTemplates", "prompts"];

export function createCatalogs(deps: CatalogsDeps): Catalogs {
  const { registry, clock, documents } = deps;
  const refreshers = new Map<string, Refresher>();
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

  const refresherOf = (key: ConnectionKey): Refresher => {
    const id = connectionId(key);
    const known = refreshers.get(id);
    if (known !== undefined) return known;
    const made: Refresher = {
      controller: new AbortController(),
      timer: undefined,
      isRunning: false,
      isAgain: false,
      spacingMs: FIRST_SPACING_MS,
    };
    refreshers.set(id, made);
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

  const runSoon = (
    key: ConnectionKey,
    client: Pick<Client, "list">,
    facts: ServerFacts,
    state: Refresher,
  ): void => {
    state.timer = clock.timer(state.spacingMs, () => {
      state.timer = undefined;
      void runNow(key, client, facts, state);
    });
  };

  const runNow = async (
    key: ConnectionKey,
    client: Pick<Client, "list">,
    facts: ServerFacts,
    state: Refresher,
  ): Promise<void> => {
    state.isRunning = true;
    try {
      const ticket = registry.beginRefresh(key);
      const { signal } = state.controller;
      const isChanged = await take(key, await list(client, signal), facts, ticket, signal);
      state.spacingMs = isChanged ? FIRST_SPACING_MS : Math.min(state.spacingMs * 2, MAX_SPACING_MS);
    } catch {
      // The connection notices a dead server by itself; the list stays marked as stale.
      state.spacingMs = Math.min(state.spacingMs * 2, MAX_SPACING_MS);
    } finally {
      state.isRunning = false;
      if (state.isAgain && !state.controller.signal.aborted) {
        state.isAgain = false;
        runSoon(key, client, facts, state);
      }
    }
  };

  return {
    async refresh(key, client, facts, signal) {
      stop(refreshers, connectionId(key));
      const ticket = registry.beginRefresh(key);
      await take(key, await list(client, signal), facts, ticket, signal);
    },
    changed(key, client, facts) {
      registry.invalidate(key);
      const state = refresherOf(key);
      if (state.isRunning) state.isAgain = true;
      else if (state.timer === undefined) runSoon(key, client, facts, state);
    },
    used(key, client, facts) {
      if (isBelieved(key, facts)) return;
      const state = refresherOf(key);
      if (!state.isRunning && state.timer === undefined) runSoon(key, client, facts, state);
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
      stop(refreshers, connectionId(key));
      eras.delete(connectionId(key));
      registry.remove(key);
    },
    close() {
      for (const id of refreshers.keys()) stop(refreshers, id);
    },
  };

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

function stop(refreshers: Map<string, Refresher>, id: string): void {
  const state = refreshers.get(id);
  state?.timer?.cancel();
  state?.controller.abort(new Error("the connection is over"));
  refreshers.delete(id);
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

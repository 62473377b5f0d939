/**
 * What agents are offered, in a fixed order, page by page; and whether it changed. The host decides what is on the list;
 * nothing here does.
 *
 * Invariants: reading never waits for a slow server longer than `PATIENCE_MS` (what comes later is told as a change); a
 * storm of events costs one comparison at a time; no comparison at all while nobody listens.
 */
import { createHash } from "node:crypto";
import type { Clock, Timer } from "../base/clock.ts";
import { createEmitter } from "../base/emitter.ts";
import { createLifetime, type Lifetime } from "../base/lifetime.ts";
import { linkAbort } from "../base/abort.ts";
import type { Host } from "../host/api.ts";
import type { Tool } from "../protocol/types.ts";
import { readHeaderPlan, type HeaderPlan } from "../wire/header-plan.ts";

interface ToolPage {
  readonly tools: readonly Tool[];
  readonly nextCursor?: string;
}

export interface ToolList {
  /** The page behind `cursor`; `undefined` for a cursor that was not made here. */
  page(cursor: string | undefined): Promise<ToolPage | undefined>;
  /** Which arguments of a tool travel as headers, as it was last listed; asks no server. Mostly known at once. */
  headerPlan(name: string): HeaderPlan | Promise<HeaderPlan>;
  /** Something was done that no event tells of, after which the list may be another one. */
  mayHaveChanged(): void;
  /** Called when the list has really changed. @returns the end of it. */
  onChanged(listener: () => void): () => void;
  close(): Promise<void>;
}

/** How long a list waits for servers that were never listed. */
const PATIENCE_MS = 5_000;
/** Quiet time after an event before the list is compared. */
const SETTLE_MS = 200;
const PAGE_TOOLS = 500;
const PAGE_CHARACTERS = 4 * 1024 * 1024;
/** Events after which the list may be another one. */
const TELLING: ReadonlySet<string> = new Set(["catalog.refreshed", "config.reloaded"]);

export function createToolList(host: Pick<Host, "turn" | "onEvent">, clock: Clock): ToolList {
  const lifetime: Lifetime = createLifetime("gateway tool list");
  const changes = createEmitter<undefined>();
  let plans: Plans | Promise<Plans> | undefined;
  let reading: Promise<readonly Tool[]> | undefined;
  let toldDigest: string | undefined;
  let timer: Timer | undefined;

  const ask = async (patienceMs: number): Promise<readonly Tool[]> => {
    const link = linkAbort(lifetime.signal);
    const patience = clock.timer(patienceMs, () => link.abort(new Error("the list does not wait longer")));
    const turn = host.turn({ signal: link.signal });
    try {
      const tools = await turn.tools();
      return tools.map(withoutTasks).sort((one, other) => (one.name < other.name ? -1 : 1));
    } finally {
      patience.cancel();
      link.unlink();
      await turn.close();
    }
  };

  /** Readers at the same time share one look. */
  const read = async (): Promise<readonly Tool[]> => {
    reading ??= ask(PATIENCE_MS).finally(() => {
      reading = undefined;
    });
    const tools = await reading;
    plans = plansOf(tools);
    toldDigest ??= digestOf(tools);
    return tools;
  };

  const compare = async (): Promise<void> => {
    const tools = await read();
    const digest = digestOf(tools);
    if (digest === toldDigest || lifetime.isClosed) return;
    toldDigest = digest;
    changes.emit(undefined);
  };

  const mayHaveChanged = (): void => {
    plans = undefined;
    if (changes.listenerCount() === 0) toldDigest = undefined;
    else if (timer === undefined && !lifetime.isClosed) {
      timer = clock.timer(SETTLE_MS, () => {
        timer = undefined;
        // The host may close while the list is read: then there is nobody to tell.
        compare().catch(() => undefined);
      });
    }
  };
  const unsubscribe = host.onEvent(
    (event) => {
      if (TELLING.has(event.type)) mayHaveChanged();
    },
    { calls: false },
  );
  lifetime.onClose(async () => {
    unsubscribe();
    timer?.cancel();
    await reading?.catch(() => undefined);
  });

  return {
    async page(cursor) {
      const after = cursor === undefined ? "" : nameOf(cursor);
      if (after === undefined) return undefined;
      const tools = await read();
      return cut(tools, after);
    },
    headerPlan(name) {
      if (plans instanceof Map) return plans.get(name) ?? NO_PLAN;
      const asked = plans ?? ask(0).then(plansOf);
      plans = asked;
      // What was told meanwhile is newer.
      const settle = (known: Plans | undefined): HeaderPlan => {
        if (plans === asked) plans = known;
        return known?.get(name) ?? NO_PLAN;
      };
      return asked.then(settle, () => settle(undefined));
    },
    mayHaveChanged,
    onChanged(listener) {
      // What the listener knows is the list as it is now.
      if (changes.listenerCount() === 0 && toldDigest === undefined) void read().catch(() => undefined);
      return changes.on(listener);
    },
    close: () => lifetime.close(),
  };
}

type Plans = Map<string, HeaderPlan>;
const NO_PLAN: HeaderPlan = [];

/** The gateway answers no tasks: clients of 2025-11-25 would refuse to call a tool that wants one. */
function withoutTasks({ execution: _execution, ...tool }: Tool): Tool {
  return tool;
}

function cut(tools: readonly Tool[], after: string): ToolPage {
  const page: Tool[] = [];
  let characters = 0;
  for (const tool of tools) {
    if (tool.name <= after) continue;
    characters += JSON.stringify(tool).length;
    const last = page.at(-1);
    if (last !== undefined && (page.length >= PAGE_TOOLS || characters > PAGE_CHARACTERS)) {
      return { tools: page, nextCursor: cursorAfter(last.name) };
    }
    page.push(tool);
  }
  return { tools: page };
}

const CURSOR = /^a\.([A-Za-z0-9_-]{1,256})$/u;

/** A name, not a number: pages stay right when tools come and go between them. */
function cursorAfter(name: string): string {
  return `a.${Buffer.from(name, "utf8").toString("base64url")}`;
}

function nameOf(cursor: string): string | undefined {
  const encoded = CURSOR.exec(cursor)?.[1];
  return encoded === undefined ? undefined : Buffer.from(encoded, "base64url").toString("utf8");
}

function plansOf(tools: readonly Tool[]): Plans {
  const plans = new Map<string, HeaderPlan>();
  for (const tool of tools) {
    const verdict = readHeaderPlan(tool.inputSchema);
    if (verdict.ok && verdict.plan.length > 0) plans.set(tool.name, verdict.plan);
  }
  return plans;
}

function digestOf(tools: readonly Tool[]): string {
  const hash = createHash("sha256");
  for (const tool of tools) hash.update(JSON.stringify(tool)).update("\n");
  return hash.digest("base64");
}

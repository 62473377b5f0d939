import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createManualClock, type ManualClock } from "../../../src/base/manual-clock.ts";
import { createOffers, type Offers } from "../../../src/gateway/offers.ts";
import type { ToolList } from "../../../src/gateway/tool-list.ts";
import type { Host, TurnOptions } from "../../../src/host/api.ts";
import type { Prompt, Resource, Tool } from "../../../src/protocol/types.ts";
import type { HostEvent } from "../../../src/telemetry/events.ts";

const tool = (name: string, more: Partial<Tool> = {}): Tool => ({
  name,
  inputSchema: { type: "object" },
  ...more,
});
const refreshed: HostEvent = {
  type: "catalog.refreshed",
  at: 0,
  key: { server: "s", credential: "shared" },
  tools: 1,
  quarantined: 0,
};

let clock: ManualClock;
let tools: readonly Tool[];
let looks: number;
let slow: boolean;
let isClosed: boolean;
let emit: (event: HostEvent) => void;
let resources: readonly Resource[];
let prompts: readonly Prompt[];
let offers: Offers;
let list: ToolList;

/** The two members that lists need; a slow server is one that only the signal ends. */
function host(): Pick<Host, "turn" | "onEvent"> {
  const listeners = new Set<(event: HostEvent) => void>();
  emit = (event) => listeners.forEach((listener) => listener(event));
  return {
    turn({ signal }: TurnOptions = {}) {
      if (isClosed) throw new Error("the host is closed");
      return {
        id: "t",
        principal: "local",
        conversation: "c",
        async tools() {
          looks += 1;
          if (slow && signal?.aborted !== true) {
            await new Promise((resolve) => signal?.addEventListener("abort", resolve, { once: true }));
          }
          return tools;
        },
        resources: async () => resources,
        resourceTemplates: async () => [],
        prompts: async () => prompts,
        call: async () => Promise.reject(new Error("not here")),
        offer: async () => Promise.reject(new Error("not here")),
        read: async () => Promise.reject(new Error("not here")),
        prompt: async () => Promise.reject(new Error("not here")),
        complete: async () => Promise.reject(new Error("not here")),
        close: async () => undefined,
      };
    },
    onEvent(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

beforeEach(() => {
  clock = createManualClock();
  tools = [];
  looks = 0;
  slow = false;
  isClosed = false;
  resources = [];
  prompts = [];
  offers = createOffers(host(), clock);
  list = offers.tools;
});
afterEach(async () => offers.close());

async function allPages(): Promise<string[][]> {
  const pages: string[][] = [];
  let cursor: string | undefined;
  do {
    const page = await list.page(cursor);
    if (page === undefined) throw new Error("cursor refused");
    pages.push(page.items.map(({ name }) => name));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return pages;
}

describe("pages", () => {
  it("hold every tool once, in a fixed order, whatever the host's order [GW-06]", async () => {
    const names = Array.from({ length: 1_201 }, (_unused, at) => `s__t${String(at).padStart(4, "0")}`);
    tools = [...names].reverse().map((name) => tool(name));
    const pages = await allPages();
    expect(pages.map((page) => page.length)).toEqual([500, 500, 201]);
    expect(pages.flat()).toEqual(names);
  });

  it("are cut by size too, one large tool to a page", async () => {
    tools = ["a", "b", "c"].map((name) => tool(name, { description: "x".repeat(3_000_000) }));
    expect(await allPages()).toEqual([["a"], ["b"], ["c"]]);
  });

  it("stay right when tools come and go between them", async () => {
    tools = Array.from({ length: 600 }, (_unused, at) => tool(`t${String(at).padStart(3, "0")}`));
    const first = await list.page(undefined);
    tools = tools.filter(({ name }) => name !== "t499").concat(tool("t000a"));
    const second = await list.page(first?.nextCursor);
    expect(second?.items[0]?.name).toBe("t500");
    expect(second?.items).toHaveLength(100);
  });

  it.each(["", "5", "a.", "a.***", "b.dA", `a.${"A".repeat(24_001)}`])(
    "refuse the cursor %j",
    async (cursor) => {
      expect(await list.page(cursor)).toBeUndefined();
    },
  );

  it("say nothing of tasks, which are not answered here", async () => {
    tools = [tool("t", { execution: { taskSupport: "required" } })];
    expect((await list.page(undefined))?.items[0]).not.toHaveProperty("execution");
  });
});

describe("patience", () => {
  it("a server that hangs is left out after 5 s", async () => {
    slow = true;
    tools = [tool("known")];
    const page = list.page(undefined);
    await clock.advance(4_999);
    expect(clock.pending()).toBe(1);
    await clock.advance(1);
    expect((await page)?.items).toHaveLength(1);
    expect(clock.pending()).toBe(0);
  });

  it("readers at the same time share one look", async () => {
    await Promise.all([list.page(undefined), list.page(undefined), list.page(undefined)]);
    expect(looks).toBe(1);
  });

  it("which arguments travel as headers is known without waiting for anybody", async () => {
    slow = true;
    tools = [
      tool("t", {
        inputSchema: { type: "object", properties: { region: { type: "string", "x-mcp-header": "Region" } } },
      }),
      tool("bad", {
        inputSchema: { type: "object", properties: { n: { type: "number", "x-mcp-header": "N" } } },
      }),
    ];
    const plan = list.headerPlan("t");
    await clock.advance(0);
    expect(await plan).toEqual([{ header: "Region", path: ["region"] }]);
    expect(await list.headerPlan("bad")).toEqual([]);
    expect(await list.headerPlan("__proto__")).toEqual([]);
    expect(looks).toBe(1);
    emit(refreshed);
    const again = list.headerPlan("t");
    await clock.advance(0);
    await again;
    expect(looks).toBe(2);
  });
});

describe("changes", () => {
  it("are told when the list is really another one, once for a storm", async () => {
    tools = [tool("a")];
    await list.page(undefined);
    let told = 0;
    const stop = list.onChanged(() => (told += 1));
    emit(refreshed);
    await clock.advance(200);
    expect(told).toBe(0);
    tools = [tool("a"), tool("b")];
    for (let at = 0; at < 100; at += 1) emit(refreshed);
    await clock.advance(200);
    expect(told).toBe(1);
    expect(looks).toBe(3);
    stop();
    tools = [];
    emit(refreshed);
    await clock.advance(1_000);
    expect([told, looks, clock.pending()]).toEqual([1, 3, 0]);
  });

  it("each list is told of by its own notification, and only to who asked", async () => {
    const told: string[] = [];
    offers.onChanged(["prompts", "resources"], (notification) => told.push(notification));
    await clock.advance(0);
    tools = [tool("a")];
    resources = [{ uri: "portcullis://s/file:///a", name: "a" }];
    emit(refreshed);
    await clock.advance(200);
    expect(told).toEqual(["notifications/resources/list_changed"]);
    prompts = [{ name: "s__p" }];
    emit(refreshed);
    await clock.advance(200);
    expect(told).toEqual(["notifications/resources/list_changed", "notifications/prompts/list_changed"]);
  });

  it("other events cost nothing", async () => {
    list.onChanged(() => undefined);
    await clock.advance(0);
    const before = looks;
    emit({ type: "host.closed", at: 0, leftOver: [] });
    await clock.advance(1_000);
    expect(looks).toBe(before);
  });

  it("a host that was closed meanwhile leaves nothing behind", async () => {
    list.onChanged(() => undefined);
    await clock.advance(0);
    isClosed = true;
    emit(refreshed);
    await clock.advance(200);
    expect(clock.pending()).toBe(0);
  });

  it("nothing is left after the close, whatever was under way", async () => {
    slow = true;
    const page = list.page(undefined);
    await clock.advance(0);
    const closed = offers.close();
    await Promise.all([page, closed]);
    emit(refreshed);
    await clock.advance(10_000);
    expect([looks, clock.pending()]).toEqual([1, 0]);
  });
});

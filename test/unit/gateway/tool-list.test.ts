import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createManualClock, type ManualClock } from "../../../src/base/manual-clock.ts";
import { createToolList, type ToolList } from "../../../src/gateway/tool-list.ts";
import type { Host, TurnOptions } from "../../../src/host/api.ts";
import type { Tool } from "../../../src/protocol/types.ts";
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
let emit: (event: HostEvent) => void;
let list: ToolList;

/** The two members that a list needs; a slow server is one that only the signal ends. */
function host(): Pick<Host, "turn" | "onEvent"> {
  const listeners = new Set<(event: HostEvent) => void>();
  emit = (event) => listeners.forEach((listener) => listener(event));
  return {
    turn: ({ signal }: TurnOptions = {}) => ({
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
      call: async () => Promise.reject(new Error("not here")),
      offer: async () => Promise.reject(new Error("not here")),
      close: async () => undefined,
    }),
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
  list = createToolList(host(), clock);
});
afterEach(async () => list.close());

async function allPages(): Promise<string[][]> {
  const pages: string[][] = [];
  let cursor: string | undefined;
  do {
    const page = await list.page(cursor);
    if (page === undefined) throw new Error("cursor refused");
    pages.push(page.tools.map(({ name }) => name));
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
    expect(second?.tools[0]?.name).toBe("t500");
    expect(second?.tools).toHaveLength(100);
  });

  it.each(["", "5", "a.", "a.***", "b.dA", `a.${"A".repeat(300)}`])(
    "refuse the cursor %j",
    async (cursor) => {
      expect(await list.page(cursor)).toBeUndefined();
    },
  );

  it("say nothing of tasks, which are not answered here", async () => {
    tools = [tool("t", { execution: { taskSupport: "required" } })];
    expect((await list.page(undefined))?.tools[0]).not.toHaveProperty("execution");
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
    expect((await page)?.tools).toHaveLength(1);
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

  it("other events cost nothing", async () => {
    list.onChanged(() => undefined);
    await clock.advance(0);
    const before = looks;
    emit({ type: "host.closed", at: 0, leftOver: [] });
    await clock.advance(1_000);
    expect(looks).toBe(before);
  });

  it("nothing is left after the close, whatever was under way", async () => {
    slow = true;
    const page = list.page(undefined);
    await clock.advance(0);
    const closed = list.close();
    await Promise.all([page, closed]);
    emit(refreshed);
    await clock.advance(10_000);
    expect([looks, clock.pending()]).toEqual([1, 0]);
  });
});

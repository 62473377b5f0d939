/** What a call that only reads costs in SQLite statements: none while it runs, and few for many when the trail is written. */
import { DatabaseSync, StatementSync } from "node:sqlite";
import { afterEach, expect, it, vi } from "vitest";
import { createManualClock } from "../../src/base/manual-clock.ts";
import { openHost } from "../../src/host/host.ts";
import { createWorkbench } from "../support/workbench.ts";

afterEach(() => void vi.restoreAllMocks());

/** Everything that is ever asked of SQLite passes one of these. */
function countStatements(): () => number {
  const spies = [
    vi.spyOn(DatabaseSync.prototype, "exec"),
    ...(["run", "get", "all", "iterate"] as const).map((name) => vi.spyOn(StatementSync.prototype, name)),
  ];
  return () => spies.reduce((sum, spy) => sum + spy.mock.calls.length, 0);
}

it(
  "a call of grade L0 asks nothing of SQLite while it runs, and many are written together",
  { timeout: 60_000 },
  async () => {
    const bench = createWorkbench();
    const clock = createManualClock(Date.now());
    const statements = countStatements();
    const host = await openHost(
      {
        config: { mcpServers: { ledger: bench.ledgerEntry({ source: "own", tools: { read: "L0" } }) } },
        stateDir: bench.stateDir,
      },
      { clock },
    );
    const moving = setInterval(() => void clock.advance(5), 5);
    try {
      const turn = host.turn();
      const read = async (text: string) =>
        expect((await turn.call("ledger__read", { text })).outcome).toBe("completed");
      await read("the server is started, and all is known");
      clearInterval(moving);
      await clock.advance(6_000);

      /** Statements while `calls` calls run, and in the seconds after. */
      const cost = async (calls: number, name: string) => {
        const before = statements();
        for (let call = 0; call < calls; call += 1) await read(name);
        const during = statements() - before;
        await clock.advance(6_000);
        return { during, after: statements() - before - during };
      };
      const idle = await cost(0, "none");
      const few = await cost(10, "few");
      const many = await cost(40, "many");
      expect(few.during).toBe(0);
      expect(many.during).toBe(0);
      expect(few.after).toBeGreaterThan(idle.after);
      expect(many.after).toBeLessThan(2 * few.after);
      expect((await host.activity({ limit: 100 })).filter(({ tool }) => tool === "read")).toHaveLength(51);
    } finally {
      clearInterval(moving);
      const ending = setInterval(() => void clock.advance(5), 5);
      await host.close();
      clearInterval(ending);
      bench.remove();
    }
  },
);

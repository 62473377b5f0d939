/** Thousands of governed calls while their server is killed again and again: what was told, held against what was really written. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createManualClock } from "../../src/base/manual-clock.ts";
import { createSeededRandom } from "../../src/base/random.ts";
import { openHost } from "../../src/host/host.ts";
import type { Outcome } from "../../src/host/outcome.ts";
import { pass, settled } from "./pace.ts";
import { createPuppet } from "./puppet.ts";

export interface KillSoakOptions {
  readonly calls: number;
  /** About so many calls lie between two kills. */
  readonly killEvery: number;
  readonly atOnce?: number;
  readonly seed?: number;
}

export interface KillSoakReport {
  readonly calls: number;
  readonly kills: number;
  readonly starts: number;
  /** Calls by `OUTCOME EFFECT`. */
  readonly ends: Readonly<Record<string, number>>;
  /** Writes by what was told of them. */
  readonly applied: number;
  readonly unknown: number;
  /** What the server's own counter says. */
  readonly written: number;
  /** One sentence for each thing that must not be. */
  readonly wrong: readonly string[];
}

interface Told {
  readonly text: string;
  readonly isWrite: boolean;
  readonly outcome: Outcome;
}

/** After so long without a failure the count of restarts is cleared. */
const HEALTH_MS = 61_000;
/** Far beyond every limit of a call: what has not ended by then hangs. */
const PATIENCE_MS = 3_600_000;

export async function soakKills(options: KillSoakOptions): Promise<KillSoakReport> {
  const { calls, killEvery, atOnce = 8, seed = 1 } = options;
  const dir = mkdtempSync(join(tmpdir(), "portcullis-soak-"));
  const random = createSeededRandom(seed);
  const clock = createManualClock();
  const puppet = createPuppet(dir, "server", { limits: { concurrency: atOnce } });
  // A moment lies between the effect and the answer, so that kills fall into it as well.
  puppet.pull({ at: { "tools/call": "slow" }, slowMs: 3 });
  let state = "idle";
  const host = await openHost(
    {
      config: { mcpServers: { server: puppet.entry } },
      stateDir: join(dir, "state"),
      onEvent: (event) => {
        if (event.type === "connection.changed") state = event.to;
      },
    },
    { clock },
  );
  const told: Told[] = [];
  let kills = 0;

  /** Only what waits for a restart goes faster than the world. */
  const waitFor = async (work: Promise<unknown>): Promise<boolean> => {
    let isOver = false;
    void work.then(() => (isOver = true));
    await pass(clock, PATIENCE_MS, { until: () => isOver, isBusy: () => state !== "backing-off" });
    return isOver;
  };

  const makeCall = async (number: number): Promise<void> => {
    const isWrite = number % 2 === 0;
    const text = `call-${number}`;
    const target = { server: "server", tool: isWrite ? "write" : "read" };
    told.push({ text, isWrite, outcome: await host.call(target, { text }) });
  };

  try {
    let untilKill = killEvery;
    for (let made = 0; made < calls; made += atOnce) {
      const batch = Array.from({ length: Math.min(atOnce, calls - made) }, (_unused, at) =>
        makeCall(made + at),
      );
      untilKill -= batch.length;
      const isKilling = untilKill <= 0 && state === "ready";
      if (isKilling) {
        // At another moment each time: before, between and after the answers.
        for (let turn = Math.floor(random.fraction() * 24); turn > 0; turn -= 1)
          await new Promise((resolve) => setImmediate(resolve));
        process.kill(puppet.pid(), "SIGKILL");
        kills += 1;
        untilKill = Math.ceil(killEvery * (0.5 + random.fraction()));
      }
      if (!(await waitFor(Promise.all(batch)))) break;
      if (isKilling) {
        await pass(clock, 60_000, { until: () => state === "ready", isBusy: () => state === "connecting" });
        await pass(clock, HEALTH_MS);
      }
    }
    const starts = puppet.starts();
    const writes = puppet.lines().flatMap(({ applied }) => (applied === undefined ? [] : [applied]));
    return { calls: told.length, kills, starts, ...judge(told, writes, calls) };
  } finally {
    await settled(clock, host.close());
    rmSync(dir, { recursive: true, force: true });
  }
}

/** What must hold: every call has ended, and nobody was told anything of a write that the server's own counter denies. */
function judge(
  told: readonly Told[],
  writes: readonly string[],
  calls: number,
): Omit<KillSoakReport, "calls" | "kills" | "starts"> {
  const counts = new Map<string, number>();
  for (const text of writes) counts.set(text, (counts.get(text) ?? 0) + 1);
  const ends: Record<string, number> = {};
  const wrong: string[] = [];
  let applied = 0;
  let unknown = 0;
  for (const { text, isWrite, outcome } of told) {
    const end = `${outcome.outcome} ${outcome.effect}`;
    ends[end] = (ends[end] ?? 0) + 1;
    if (!isWrite) continue;
    const count = counts.get(text) ?? 0;
    if (outcome.effect === "applied") applied += 1;
    if (outcome.effect === "unknown") unknown += 1;
    if (count > 1) wrong.push(`${text} was written ${count} times`);
    if (outcome.effect === "applied" && count !== 1) wrong.push(`${text} was told as applied, and is not`);
    if (outcome.effect === "none" && count !== 0)
      wrong.push(`${text} was told as without effect, and was written`);
  }
  if (told.length !== calls) wrong.push(`${calls - told.length} calls never ended`);
  if (writes.length < applied || writes.length > applied + unknown)
    wrong.push(`${writes.length} writes, ${applied} told as applied and ${unknown} as unknown`);
  return { ends, applied, unknown, written: writes.length, wrong };
}

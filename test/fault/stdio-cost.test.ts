/** What hostile and large lines cost the host: measured in a host process of its own. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";

const host = fileURLToPath(new URL("stdio-hosts/measures.ts", import.meta.url));
const server = (name: string): string => fileURLToPath(new URL(`../servers/${name}.mjs`, import.meta.url));
const MIB = 1024 * 1024;

interface Cost {
  readonly end: string;
  readonly cpuMs: number;
  readonly longestTurnMs: number;
  readonly growthBytes: number;
}

async function measure(file: string, params: object = {}): Promise<Cost> {
  const { stdout } = await promisify(execFile)(process.execPath, [host, file, JSON.stringify(params)]);
  return JSON.parse(stdout) as Cost;
}

/** What is taken of a server that never stops talking, and its price as a part of one processor. @param args stream and line. */
async function measureFlood(
  ...args: readonly string[]
): Promise<{ readonly mibPerS: number; readonly processors: number }> {
  const floods = fileURLToPath(new URL("stdio-hosts/floods.ts", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [
    floods,
    server("stdio-endless-talk"),
    ...args,
  ]);
  const cost = JSON.parse(stdout) as { cpuMs: number; forMs: number; bytes: number };
  expect(cost.bytes).toBeGreaterThan(10_000);
  return { mibPerS: cost.bytes / MIB / (cost.forMs / 1_000), processors: cost.cpuMs / cost.forMs };
}

describe("the cost of a flood", () => {
  const notification =
    '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}';
  it.each([
    ["valid notifications [DEP-19]", 1, "stdout", notification],
    ["requests", 1, "stdout", '{"jsonrpc":"2.0","id":1,"method":"ping"}'],
    ["answers that nobody waits for", 1, "stdout", '{"jsonrpc":"2.0","id":"a","result":{}}'],
    ["noise", 1, "stdout", "debug: still here"],
    ["blank lines", 2, "stdout", ""],
    ["log lines on stderr", 40, "stderr", "debug: still here"],
  ])("%s without end: a small part of a processor, for as long as it lasts", async (_what, most, ...args) => {
    const { mibPerS, processors } = await measureFlood(...args);
    expect(mibPerS).toBeLessThan(most);
    expect(processors).toBeLessThan(0.2);
  });
});

describe("the cost of a line", () => {
  it("an endless line takes no more memory than the cap and 32 MiB", async () => {
    const cost = await measure(server("stdio-endless-line"));
    expect(cost.end).toBe("message_too_large");
    expect(cost.growthBytes).toBeLessThan((16 + 32) * MIB);
  });

  it("9 MB in pieces of 8 KiB take at most 0.25 s of CPU", async () => {
    const cost = await measure(server("stdio-drip"), { bytes: 9_000_000, pieceBytes: 8_192 });
    expect(cost.end).toBe("answer");
    expect(cost.cpuMs).toBeLessThan(250);
  });

  it("the work is linear: four times the bytes cost no more than eight times the CPU", async () => {
    const small = await measure(server("stdio-drip"), { bytes: 4_000_000, pieceBytes: 1_024 });
    const large = await measure(server("stdio-drip"), { bytes: 16_000_000, pieceBytes: 1_024 });
    expect([small.end, large.end]).toEqual(["answer", "answer"]);
    expect(large.cpuMs / small.cpuMs).toBeLessThan(8);
  });
});

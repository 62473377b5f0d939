/**
 * How long an agent waits for `tools/list` from a gateway that has just been started, in front of servers that it knew before.
 * None of them may be started for it.
 */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonObject } from "../src/base/json.ts";
import { STDIO_SERVER } from "./contender.ts";
import { postsTo } from "./floor.ts";
import { startGateway } from "./gateway.ts";
import { median } from "./rounds.ts";

const SERVERS = 20;
const TOOLS_EACH = 5;

export interface ColdList {
  readonly servers: number;
  readonly tools: number;
  /** From the opening of the host, its modules loaded, to the answer. */
  readonly openMs: number;
  /** From the start of the process to the answer. */
  readonly wholeMs: number;
  /** From the request to the answer. */
  readonly answerMs: number;
  /** Whether any server was started. */
  readonly hasStarted: boolean;
}

export async function coldList(starts: number): Promise<ColdList> {
  const dir = mkdtempSync(join(tmpdir(), "portcullis-bench-"));
  const marks = join(dir, "started");
  try {
    // Once with everything, so that the servers are known.
    const { tools } = await listOnce(entries(marks), dir);
    rmSync(marks);
    const samples = [];
    for (let start = 0; start < starts; start += 1) samples.push(await listOnce(entries(marks), dir));
    if (samples.some((sample) => sample.tools !== tools)) throw new Error("not the list of before");
    return {
      servers: SERVERS,
      tools,
      openMs: median(samples.map((sample) => sample.openMs)),
      wholeMs: median(samples.map((sample) => sample.wholeMs)),
      answerMs: median(samples.map((sample) => sample.answerMs)),
      hasStarted: existsSync(marks),
    };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

function entries(marks: string): JsonObject {
  const entry = {
    command: process.execPath,
    args: [STDIO_SERVER],
    env: { BENCH_STARTED: marks, BENCH_TOOLS: String(TOOLS_EACH - 2) },
    source: "own",
    tools: { "*": "L0" },
  };
  return Object.fromEntries(Array.from({ length: SERVERS }, (_none, at) => [`server${at + 1}`, entry]));
}

async function listOnce(mcpServers: JsonObject, stateDir: string) {
  const startedMs = performance.now();
  const gateway = await startGateway(mcpServers, stateDir);
  const posts = postsTo(gateway.url, { authorization: `Bearer ${gateway.token}` });
  const askedMs = performance.now();
  try {
    const answer = (await posts.request("tools/list", {})) as {
      readonly result: { readonly tools: object[] };
    };
    const endedMs = performance.now();
    return {
      tools: answer.result.tools.length,
      openMs: Date.now() - gateway.openedAt,
      wholeMs: endedMs - startedMs,
      answerMs: endedMs - askedMs,
    };
  } finally {
    await posts.close();
    await gateway.close();
  }
}

/**
 * `npm run soak [-- --rounds N] [words]`: long runs that must leave nothing behind. Each round makes 10,000 calls one after
 * another and 10,000 at once (governed calls: 64 at once) on every transport and era; after it timers, sockets, listeners and
 * children are where they were, and the heap is within 5 MB. `killed`: 10,000 governed calls while the server is killed every few
 * hundred; every call ends, and the server's own counter agrees with what was told. Words select runs by name. Exit code 1 on any
 * that is not.
 */
import { spawnSync } from "node:child_process";

if (globalThis.gc === undefined) {
  const args = ["--expose-gc", import.meta.filename, ...process.argv.slice(2)];
  process.exit(spawnSync(process.execPath, args, { stdio: "inherit" }).status ?? 1);
}

const { countRunningTimers } = await import("../src/base/clock.ts");
const { governedHttp, governedStdio } = await import("../bench/governed.ts");
const { oursHttp, oursStdio } = await import("../bench/ours.ts");
const { soakKills } = await import("../test/support/kill-soak.ts");

const CALLS = 10_000;
const HEAP_BYTES = 5_000_000;
const bare = [oursStdio("modern"), oursStdio("legacy"), oursHttp("modern"), oursHttp("legacy")];
const runs = [
  ...bare.map((contender) => ({ contender, atOnce: CALLS })),
  ...[governedStdio, governedHttp].map((contender) => ({ contender, atOnce: 64 })),
];

const words = process.argv.slice(2);
const roundsAt = words.indexOf("--rounds");
const rounds = roundsAt < 0 ? 2 : Number(words.splice(roundsAt, 2)[1]);
const nameOf = ({ contender }) => `${contender.transport}, ${contender.name}`;

/** Warnings of Node are signs of a leak (listeners), and a rejection that nobody handled is a fault. */
const complaints = [];
process.on("warning", (warning) => complaints.push(`warning: ${warning.message}`));
process.on("unhandledRejection", (reason) => complaints.push(`unhandled: ${String(reason)}`));

async function heapUsed() {
  for (let turn = 0; turn < 6; turn += 1) {
    globalThis.gc();
    await new Promise((resolve) => setImmediate(resolve));
  }
  return process.memoryUsage().heapUsed;
}

function countResources() {
  const counts = {};
  for (const kind of process.getActiveResourcesInfo()) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

/** What is there now and was not before, by kind. */
function extra(before) {
  const after = countResources();
  const kinds = ["TCPSocketWrap", "TCPServerWrap", "PipeWrap", "PipeServerWrap", "ProcessWrap"];
  return kinds
    .filter((kind) => (after[kind] ?? 0) > (before[kind] ?? 0))
    .map((kind) => `${after[kind] - (before[kind] ?? 0)} × ${kind}`);
}

async function inARow(connection, count) {
  for (let at = 0; at < count; at += 1) await connection.call("echo", { message: `message ${at % 100}` });
}

async function atOnce(connection, count, most) {
  let next = 0;
  const worker = async () => {
    while (next++ < count) await connection.call("echo", { message: `message ${next % 100}` });
  };
  await Promise.all(Array.from({ length: most }, worker));
}

async function soak({ contender, atOnce: most }) {
  const problems = [];
  const resources = countResources();
  const connection = await contender.connect();
  try {
    await inARow(connection, 1_000);
    await atOnce(connection, 2_000, Math.min(most, 2_000));
    const heap = await heapUsed();
    const timers = countRunningTimers();
    for (let round = 1; round <= rounds; round += 1) {
      await inARow(connection, CALLS);
      await atOnce(connection, CALLS, most);
      const grown = (await heapUsed()) - heap;
      if (grown > HEAP_BYTES)
        problems.push(`round ${round}: the heap grew by ${(grown / 1e6).toFixed(1)} MB`);
      if (countRunningTimers() > timers)
        problems.push(`round ${round}: ${countRunningTimers() - timers} more timers`);
    }
  } finally {
    await connection.close();
  }
  // What was closed needs a few turns of the event loop to be gone.
  for (let turn = 0; turn < 100 && extra(resources).length > 0; turn += 1)
    await new Promise((resolve) => setTimeout(resolve, 10));
  problems.push(...extra(resources), ...complaints.splice(0));
  if (countRunningTimers() > 0) problems.push(`${countRunningTimers()} timers after the end`);
  return problems;
}

/** Three seeds: the moments of the kills differ. */
async function soakKilled() {
  const problems = [];
  for (const seed of [1, 2, 3]) {
    const resources = countResources();
    const { wrong, ...report } = await soakKills({ calls: CALLS, killEvery: 300, seed });
    console.log(`       seed ${seed}: ${JSON.stringify(report)}`);
    problems.push(...wrong.map((problem) => `seed ${seed}: ${problem}`));
    for (let turn = 0; turn < 100 && extra(resources).length > 0; turn += 1)
      await new Promise((resolve) => setTimeout(resolve, 10));
    problems.push(...extra(resources), ...complaints.splice(0));
  }
  return problems;
}

const jobs = [
  ...runs.map((run) => ({ name: nameOf(run), work: () => soak(run) })),
  { name: "stdio, killed every few hundred calls", work: soakKilled },
];
let passed = 0;
let failed = 0;
for (const { name, work } of jobs.filter(
  (job) => words.length === 0 || words.some((word) => job.name.includes(word)),
)) {
  const startedMs = performance.now();
  const problems = await work().catch((error) => [String(error)]);
  if (problems.length === 0) passed += 1;
  else failed += 1;
  const seconds = ((performance.now() - startedMs) / 1_000).toFixed(0);
  console.log(
    `${problems.length === 0 ? "ok    " : "FAILED"} ${name} (${seconds} s)${problems.map((problem) => `\n       ${problem}`).join("")}`,
  );
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);

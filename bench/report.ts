/** The bench's tables, as Markdown. */
import { cpus } from "node:os";
import type { ColdList } from "./cold-list.ts";
import type { Row, Work } from "./rounds.ts";

/** What a row is held to; ratios to the floor, but for `aboveFloorUs`. */
export interface Target {
  readonly name: string;
  readonly transport: "stdio" | "http";
  /** Absent: not held to any. */
  readonly medianAtMost?: number;
  /** One at a time, microseconds: docs/adr/0015-speed-above-the-floor.md says why some rows are held to this. */
  readonly aboveFloorUs?: number;
  readonly throughputAtLeast: number;
}

export interface BigLine {
  readonly name: string;
  readonly cpuMs: number;
}

export function report(
  rows: readonly Row[],
  bigLines: readonly BigLine[],
  cold: ColdList | undefined,
  targets: readonly Target[],
  work: Work,
): string {
  const head = `| client | one at a time, median | × floor | above it | ${work.atOnce} at once, calls/s | × floor | CPU per call | × floor | target |`;
  const lines = [
    "# Bench",
    "",
    "Made by `npm run bench -- --write`. All contenders call the same hand-written server, in interleaved rounds; a ratio is the median",
    "over the rounds of the ratio to the floor of the same round, so that other load on the machine falls on both. The floor is",
    "hand-written JSON-RPC of 2026-07-28 over a pipe, and a raw `undici` POST. CPU is that of the client's process.",
    "",
    `Machine: ${cpus().length} virtual CPUs, ${osName()}, Node.js ${process.versions.node}. ${work.rounds} rounds of ${work.sequential} calls one at a time and`,
    `${work.concurrent} calls with ${work.atOnce} at once.`,
  ];
  for (const transport of ["stdio", "http"] as const) {
    const own = rows.filter((row) => row.contender.transport === transport);
    if (own.length === 0) continue;
    lines.push(
      "",
      `## ${transport}`,
      "",
      head,
      "|---|---|---|---|---|---|---|---|---|",
      ...own.map((row) => rowOf(row, targets)),
    );
  }
  if (bigLines.length > 0) {
    lines.push(
      "",
      "## One answer of 9 MB over stdio, in pieces of 8 KiB",
      "",
      "| client | CPU |",
      "|---|---|",
    );
    for (const { name, cpuMs } of bigLines) lines.push(`| ${name} | ${cpuMs.toFixed(0)} ms |`);
    lines.push("", "Target: at most 250 ms.");
  }
  if (cold !== undefined) lines.push(...coldLines(cold));
  return `${lines.join("\n")}\n`;
}

/** The rows that miss their target, as sentences. */
export function misses(rows: readonly Row[], targets: readonly Target[]): string[] {
  return rows.flatMap((row) => {
    const target = targetOf(row, targets);
    if (target === undefined) return [];
    const { name, transport } = row.contender;
    return [
      ...(target.medianAtMost === undefined || row.medianRatio <= target.medianAtMost
        ? []
        : [
            `${transport}, ${name}: median ${row.medianRatio.toFixed(2)} × floor, at most ${target.medianAtMost} wanted`,
          ]),
      ...(target.aboveFloorUs === undefined || row.aboveFloorUs <= target.aboveFloorUs
        ? []
        : [
            `${transport}, ${name}: ${row.aboveFloorUs.toFixed(0)} µs above the floor, at most ${target.aboveFloorUs} wanted`,
          ]),
      ...(row.throughputRatio >= target.throughputAtLeast
        ? []
        : [
            `${transport}, ${name}: throughput ${row.throughputRatio.toFixed(2)} × floor, at least ${target.throughputAtLeast} wanted`,
          ]),
    ];
  });
}

function targetOf(row: Row, targets: readonly Target[]): Target | undefined {
  return targets.find(
    ({ name, transport }) => transport === row.contender.transport && name === row.contender.name,
  );
}

function rowOf(row: Row, targets: readonly Target[]): string {
  const target = targetOf(row, targets);
  const cells = [
    row.contender.name,
    `${row.medianUs.toFixed(0)} µs`,
    row.medianRatio.toFixed(2),
    `${row.aboveFloorUs.toFixed(0)} µs`,
    row.callsPerSecond.toFixed(0),
    row.throughputRatio.toFixed(2),
    `${row.cpuUs.toFixed(0)} µs`,
    row.cpuRatio.toFixed(2),
    target === undefined ? "" : targetText(target),
  ];
  return `| ${cells.join(" | ")} |`;
}

function targetText({ medianAtMost, aboveFloorUs, throughputAtLeast }: Target): string {
  return [
    ...(medianAtMost === undefined ? [] : [`≤ ${medianAtMost}`]),
    ...(aboveFloorUs === undefined ? [] : [`≤ ${aboveFloorUs} µs above`]),
    `≥ ${throughputAtLeast}`,
  ].join(", ");
}

function coldLines(cold: ColdList): string[] {
  const { servers, tools, openMs, answerMs, wholeMs, hasStarted } = cold;
  return [
    "",
    `## \`tools/list\` of ${servers} known servers (${tools} tools) after a cold start of the gateway`,
    "",
    "| | |",
    "|---|---|",
    `| from the opening of the host to the answer | ${openMs.toFixed(0)} ms |`,
    `| from the request to the answer | ${answerMs.toFixed(0)} ms |`,
    `| from the start of the process, which loads the TypeScript sources here | ${wholeMs.toFixed(0)} ms |`,
    `| servers started for it | ${hasStarted ? "yes" : "none"} |`,
    "",
    "Target: at most 300 ms from the opening of the host, and none started.",
  ];
}

function osName(): string {
  return process.platform === "linux" ? "Linux" : process.platform;
}

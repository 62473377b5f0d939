/**
 * `npm run bench [-- --quick] [--write] [stdio|http]`: the floor, the official SDK's client, ours, and ours governed, side by side.
 * `--write` keeps the tables in bench/RESULTS.md. Exit code 0 also where a target is missed: a shared machine proves nothing.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

const { bigLineCpuMs } = await import("./big-line.ts");
const { httpFloor, stdioFloor } = await import("./floor.ts");
const { governedHttp, governedStdio } = await import("./governed.ts");
const { officialHttp, officialStdio } = await import("./official-sdk.ts");
const { oursHttp, oursStdio } = await import("./ours.ts");
const { misses, report } = await import("./report.ts");
const { compare } = await import("./rounds.ts");

const words = process.argv.slice(2);
const isQuick = words.includes("--quick");
const work = isQuick
  ? { rounds: 3, sequential: 300, concurrent: 1_500, atOnce: 64 }
  : { rounds: 9, sequential: 1_000, concurrent: 5_000, atOnce: 64 };
const transports = ["stdio", "http"].filter(
  (name) => !words.some((word) => word === "stdio" || word === "http") || words.includes(name),
);

const contenders = [
  stdioFloor,
  officialStdio("modern"),
  officialStdio("legacy"),
  oursStdio("modern"),
  oursStdio("legacy"),
  governedStdio,
  httpFloor,
  officialHttp("modern"),
  officialHttp("legacy"),
  oursHttp("modern"),
  oursHttp("legacy"),
  governedHttp,
];
const bare = {
  stdio: { medianAtMost: 1.3, throughputAtLeast: 0.6 },
  http: { medianAtMost: 1.3, throughputAtLeast: 0.5 },
};
const governed = {
  stdio: { medianAtMost: 1.6, throughputAtLeast: 0.5 },
  http: { medianAtMost: 1.6, throughputAtLeast: 0.4 },
};
const targets = contenders
  .filter(({ name }) => name.startsWith("portcullis"))
  .map(({ name, transport }) => ({
    name,
    transport,
    ...(name.includes("governed") ? governed : bare)[transport],
  }));

const rows = [];
// One transport after the other, and the bare clients apart from the governed call: what one leaves to collect, others pay for.
for (const transport of transports) {
  const own = contenders.filter((one) => one.transport === transport);
  const isGoverned = ({ name }) => name.includes("governed");
  rows.push(
    ...(await compare(
      own.filter((one) => !isGoverned(one)),
      work,
    )),
  );
  rows.push(
    ...(
      await compare(
        own.filter((one) => one.isFloor || isGoverned(one)),
        work,
      )
    ).filter(({ contender }) => isGoverned(contender)),
  );
}
const bigLines = [];
if (transports.includes("stdio")) {
  for (const contender of [stdioFloor, officialStdio("modern"), oursStdio("modern")]) {
    bigLines.push({ name: contender.name, cpuMs: await bigLineCpuMs(contender, isQuick ? 1 : 5) });
  }
}

const text = report(rows, bigLines, targets, work);
console.log(text);
for (const miss of misses(rows, targets)) console.log(`missed: ${miss}`);
if (words.includes("--write")) writeFileSync(join(import.meta.dirname, "RESULTS.md"), text);

/**
 * `npm run bench [-- --quick] [--write] [stdio|http|gateway|cold]`: the floor, the official SDK's client, ours, ours governed, and
 * the gateway, side by side; and how soon a new gateway answers.
 * `--write` keeps the tables in bench/RESULTS.md. Exit code 0 also where a target is missed: a shared machine proves nothing.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

const { bigLineCpuMs } = await import("./big-line.ts");
const { coldList } = await import("./cold-list.ts");
const { httpFloor, stdioFloor } = await import("./floor.ts");
const { gatewayHttp } = await import("./gateway.ts");
const { governedHttp, governedStdio } = await import("./governed.ts");
const { officialBothEnds, officialHttp, officialStdio } = await import("./official-sdk.ts");
const { oursHttp, oursStdio } = await import("./ours.ts");
const { misses, report } = await import("./report.ts");
const { compare } = await import("./rounds.ts");

const words = process.argv.slice(2);
const isQuick = words.includes("--quick");
const work = isQuick
  ? { rounds: 3, sequential: 300, concurrent: 1_500, atOnce: 64 }
  : { rounds: 9, sequential: 1_000, concurrent: 5_000, atOnce: 64 };
const parts = ["stdio", "http", "gateway", "cold"];
const chosen = parts.filter((part) => !words.some((word) => parts.includes(word)) || words.includes(part));
const transports = ["stdio", "http"].filter((name) => chosen.includes(name));

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
  stdio: { medianAtMost: 1.6, aboveFloorUs: 42, throughputAtLeast: 0.5 },
  http: { medianAtMost: 1.6, throughputAtLeast: 0.4 },
};
const targets = contenders
  .filter(({ name }) => name.startsWith("portcullis"))
  .map(({ name, transport }) => ({
    name,
    transport,
    ...(name.includes("governed") ? governed : bare)[transport],
  }));
targets.push({ name: gatewayHttp.name, transport: "http", throughputAtLeast: 0.2 });

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

if (chosen.includes("gateway")) {
  const behind = await compare([httpFloor, officialBothEnds, gatewayHttp], work);
  rows.push(...behind.filter(({ contender }) => !contender.isFloor || !transports.includes("http")));
}
const cold = chosen.includes("cold") ? await coldList(isQuick ? 3 : 9) : undefined;

const text = report(rows, bigLines, cold, targets, work);
console.log(text);
for (const miss of misses(rows, targets)) console.log(`missed: ${miss}`);
if (words.includes("--write")) writeFileSync(join(import.meta.dirname, "RESULTS.md"), text);

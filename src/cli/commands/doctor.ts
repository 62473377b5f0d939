import { systemClock } from "../../base/clock.ts";
import { systemRandom } from "../../base/random.ts";
import { gatherDoctorFacts } from "../../operations/doctor-facts.ts";
import { diagnose, type DoctorReport } from "../../operations/doctor.ts";
import { findLivingGateway } from "../gateway-probe.ts";
import type { CommandRun } from "../main.ts";
import { loadOptions } from "../workspace.ts";

const PROBLEM = 2;

/** Needs no trust: it looks, and starts nothing of what a file names. */
export const run: CommandRun<object> = async ({ globals, output, signal }) => {
  const facts = await gatherDoctorFacts({
    load: loadOptions(globals),
    clock: systemClock,
    random: systemRandom,
    findGateway: findLivingGateway,
    signal,
  });
  const report = diagnose(facts);
  output.result(report, render);
  return report.ok ? 0 : PROBLEM;
};

const MARKS = { ok: "ok      ", problem: "PROBLEM ", unknown: "?       " } as const;

function render({ lines, ok }: DoctorReport): string {
  const shown = lines.flatMap(({ state, text, fix }) => [
    `${MARKS[state]} ${text}`,
    ...(fix === null ? [] : [`         → ${fix}`]),
  ]);
  return [...shown, "", ok ? "nothing is wrong here" : "the lines marked PROBLEM say what to do"].join("\n");
}

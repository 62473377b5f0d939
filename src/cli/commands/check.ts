import type { CheckReport } from "../../host/api.ts";
import type { CheckEvidence, CheckLine } from "../../host/check-line.ts";
import { check } from "../../operations/check.ts";
import type { CommandRun } from "../main.ts";
import { given, runVerb } from "../verb.ts";

/** A gap is what policy would refuse: the same exit code. */
const GAP = 3;

export const run: CommandRun<{ live?: boolean }> = async (context, _words, options) =>
  runVerb(context, check, given({ live: options.live }), render, ({ ok }) => (ok ? 0 : GAP));

const MARKS = { pass: "pass", fail: "FAIL", "not-applicable": "  – " } as const;

function render(report: CheckReport): string {
  const lines = report.lines.flatMap((line) => [...renderLine(line), ""]);
  const { passed, failed, notApplicable } = report;
  const left = report.lines.reduce((sum, line) => sum + line.left.length, 0);
  const rest = left === 0 ? "" : `; ${left} things are left to you ("!")`;
  return [...lines, `${passed} pass, ${failed} fail, ${notApplicable} do not apply${rest}`].join("\n");
}

function renderLine(line: CheckLine): string[] {
  const lines = [`${MARKS[line.state]}  ${line.title}  [${line.id}]`];
  for (const evidence of line.evidence) lines.push(`        ${place(evidence)}`);
  for (const evidence of line.left) lines.push(`      ! ${place(evidence)}`);
  if (line.proven !== null) {
    const { ok, at, detail } = line.proven;
    lines.push(`        ${ok ? "proven" : "NOT proven"} on ${at}: ${detail}`);
  }
  if (line.test !== null) lines.push(`        built in; shown by ${line.test}`);
  if (line.fix !== null) lines.push(`      → ${line.fix}`);
  return lines;
}

function place({ text, file, line, setting }: CheckEvidence): string {
  const where = [file === undefined ? "" : `${file}${line === undefined ? "" : `:${line}`}`, setting ?? ""];
  const known = where.filter((part) => part !== "").join(" ");
  return known === "" ? text : `${text}  (${known})`;
}

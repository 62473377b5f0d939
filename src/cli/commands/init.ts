import { resolve } from "node:path";
import { systemClock } from "../../base/clock.ts";
import { loadConfig } from "../../config/load.ts";
import { initConfig, type InitReport } from "../../operations/init.ts";
import { PortcullisError } from "../../errors.ts";
import type { CommandRun } from "../main.ts";
import { loadOptions, trustFound } from "../workspace.ts";

/** Writes a first configuration; a file without servers needs no second look, one with imported ones does. */
export const run: CommandRun<{ from?: string; empty?: boolean }> = async (context, _words, options) => {
  const { globals, output } = context;
  if (options.empty === true && options.from !== undefined)
    throw new PortcullisError("usage", "`--empty` and `--from` do not go together");
  const { file, stateDir: _state, ...facts } = loadOptions(globals);
  const report = await initConfig({
    file: resolve(facts.cwd, file ?? "portcullis.json"),
    facts,
    from: options.empty === true ? null : options.from,
  });
  if (report.servers.length === 0 && file === undefined) await trustFound(globals, output);
  else await loadConfig({ ...loadOptions(globals), file: report.file });
  output.result({ ...report, asOf: new Date(systemClock.now()).toISOString() }, render);
  return 0;
};

function render(report: InitReport): string {
  const lines = [`${report.file} was written, with ${count(report.servers.length, "server")}`];
  if (report.read.length > 0) lines.push(`read: ${report.read.join(", ")}`);
  for (const { name, from, does, blocked, dangers } of report.servers) {
    lines.push("", `${name} (from ${from})`, `  ${does}`);
    if (blocked !== null) lines.push(`  blocked: ${blocked.reason}; ${blocked.fix}`);
    for (const danger of dangers) lines.push(`  look twice: ${danger}`);
  }
  if (report.notes.length > 0) {
    lines.push("", "Left out or changed:");
    for (const { from, server, message } of report.notes)
      lines.push(`  ${from}${server === null ? "" : `, ${server}`}: ${message}`);
  }
  if (report.servers.length > 0) {
    lines.push(
      "",
      "Nothing was started. Every tool is L2: a person is asked each time. The first use asks whether you trust the file.",
    );
  }
  lines.push("", "Next:", ...report.next.map((step) => `  ${step}`));
  return lines.join("\n");
}

function count(number: number, what: string): string {
  return number === 1 ? `1 ${what}` : `${number} ${what}s`;
}

import { resolve } from "node:path";
import { PortcullisError } from "../../errors.ts";
import type { CommandRun } from "../main.ts";
import { writeRecords } from "../records-file.ts";
import { renderVerdict } from "../render/activity.ts";
import { given, sinceToMs } from "../verb.ts";
import { loadTrusted, openHostFor } from "../workspace.ts";

const BROKEN = 70;

interface Options {
  readonly export?: string;
  readonly server?: string;
  readonly tool?: string;
  readonly principal?: string;
  readonly since?: string;
}

/** Checks the chains, and writes records into a file where that is asked for. */
export const run: CommandRun<Options> = async ({ globals, output, signal }, _words, options) => {
  const { server, tool, principal, since } = options;
  const filter = given({ server, tool, principal, fromMs: sinceToMs(since) });
  if (options.export === undefined && Object.keys(filter).length > 0)
    throw new PortcullisError(
      "usage",
      "a chain is checked as a whole: filters are for --export FILE; `portcullis activity` lists calls",
    );
  const host = await openHostFor(await loadTrusted(globals, output, signal), "cli");
  try {
    const verdict = await host.verify();
    const exported =
      options.export === undefined
        ? {}
        : { exported: await writeRecords(host.exportRecords(filter), resolve(options.export), signal) };
    output.result({ ...verdict, ...exported }, (document) => {
      const { exported: written } = document;
      const lines = written === undefined ? [] : [`${written.lines} records were written to ${written.file}`];
      return [renderVerdict(document), ...lines].join("\n");
    });
    return verdict.ok ? 0 : BROKEN;
  } finally {
    await host.close();
  }
};

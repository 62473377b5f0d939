import { open } from "node:fs/promises";
import { resolve } from "node:path";
import { PortcullisError } from "../../errors.ts";
import type { Host } from "../../host/api.ts";
import type { CommandRun } from "../main.ts";
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
        : { exported: await writeRecords(host, resolve(options.export), filter) };
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

/** For nobody's eyes but their own: what was called, with its arguments. @throws PortcullisError `usage` where it cannot be written. */
async function writeRecords(
  host: Pick<Host, "exportRecords">,
  file: string,
  filter: Parameters<Host["exportRecords"]>[0],
): Promise<{ readonly file: string; readonly lines: number }> {
  try {
    const handle = await open(file, "wx", 0o600);
    try {
      let lines = 0;
      for await (const line of host.exportRecords(filter)) {
        await handle.write(line);
        lines += 1;
      }
      return { file, lines };
    } finally {
      await handle.close();
    }
  } catch (cause) {
    if (!(cause instanceof Error) || !("code" in cause) || cause instanceof PortcullisError) throw cause;
    const why =
      cause.code === "EEXIST"
        ? "is there already: name a new file"
        : `cannot be written (${String(cause.code)})`;
    throw new PortcullisError("usage", `\`${file}\` ${why}`, { cause });
  }
}

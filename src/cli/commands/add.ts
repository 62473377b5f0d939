import type { JsonObject } from "../../base/json.ts";
import { PortcullisError } from "../../errors.ts";
import { add } from "../../operations/add.ts";
import type { CommandRun } from "../main.ts";
import { runVerb } from "../verb.ts";

interface Options {
  readonly url?: string;
  readonly env?: readonly string[];
  readonly header?: readonly string[];
  readonly cwd?: string;
  readonly source?: string;
}

export const run: CommandRun<Options> = async (context, [server, command, ...args], options) =>
  runVerb(context, add, { server, entry: toEntry(command, args, options) }, (done) => {
    const lines = [`${done.server} was added to ${done.file}`, `  ${done.does}`];
    for (const danger of done.dangers) lines.push(`  look twice: ${danger}`);
    if (done.blocked !== null) lines.push(`  blocked: ${done.blocked.reason}; ${done.blocked.fix}`);
    else if (done.canLock) lines.push(`  next: portcullis lock ${done.server}`);
    if (!done.hasSource)
      lines.push(
        '  say why you trust it ("source": "official", "own" or "audited"); until then every tool is L2',
      );
    return lines.join("\n");
  });

function toEntry(
  command: string | undefined,
  args: readonly string[],
  { url, env, header, cwd, source }: Options,
): JsonObject {
  if ((command === undefined) === (url === undefined)) {
    throw new PortcullisError(
      "usage",
      "`add NAME -- COMMAND ARGUMENTS` for a local server, `add NAME --url https://…` for a remote one",
    );
  }
  return {
    ...(source === undefined ? {} : { source }),
    ...(command === undefined ? {} : { command, args: [...args] }),
    ...(url === undefined ? {} : { url }),
    ...(env === undefined ? {} : { env: toPairs(env, "=", "--env NAME=VALUE") }),
    ...(header === undefined ? {} : { headers: toPairs(header, ":", "--header 'NAME: VALUE'") }),
    ...(cwd === undefined ? {} : { cwd }),
  };
}

function toPairs(pairs: readonly string[], separator: string, form: string): JsonObject {
  const entries = pairs.map((pair): [string, string] => {
    const at = pair.indexOf(separator);
    if (at <= 0) throw new PortcullisError("usage", `write \`${form}\``);
    return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
  });
  return Object.fromEntries(entries);
}

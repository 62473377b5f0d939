/**
 * Teaches the redactor what is known without asking anybody: variables, files and literals that entries name, and the host's own. Records are written
 * before a server is started, so that its secrets have to be known by then. Keychains and key-management services are asked only when
 * a server is started: they may ask a person.
 */
import { dirname } from "node:path";
import type { Config, LateText, ServerConfig } from "../config/compiled.ts";
import { createLateResolver, resolveLate } from "../config/secrets.ts";
import { thisProcess } from "../config/this-process.ts";
import type { Redactor } from "../text/redact.ts";

/** What cannot be resolved is left out: starting the server says so. */
export async function learnSecrets(config: Config, redactor: Redactor): Promise<void> {
  const facts = thisProcess();
  const baseDir = config.file === null ? facts.cwd : dirname(config.file);
  const learn = async (owner: string, server: string | null, texts: readonly LateText[]): Promise<void> => {
    const resolver = createLateResolver({ server, ...facts, baseDir });
    for (const text of texts.filter(mayHoldSecret)) {
      const { secrets } = await resolveLate(text, resolver, owner).catch(() => ({ secrets: [] }));
      redactor.add(owner, secrets);
    }
  };
  for (const server of config.servers.values()) await learn(server.name, server.name, listTexts(server));
  await learn("notify", null, listNotifyTexts(config));
  await learn("telemetry", null, Object.values(config.telemetry?.headers ?? {}));
}

function mayHoldSecret({ template, reveal }: LateText): boolean {
  return reveal !== undefined || template.includes("${");
}

function listNotifyTexts({ notify: { command, webhook } }: Config): readonly LateText[] {
  return [...(command ?? []), ...(webhook === null ? [] : [webhook])];
}

function listTexts({ launch, auth }: ServerConfig): readonly LateText[] {
  const ofLaunch =
    launch.kind === "stdio"
      ? [launch.command, ...launch.args, ...Object.values(launch.env)]
      : [launch.url, ...Object.values(launch.headers)];
  const secret = auth?.clientSecret ?? null;
  return [...ofLaunch, ...(secret === null ? [] : [secret])];
}

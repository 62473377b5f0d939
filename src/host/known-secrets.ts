/**
 * Teaches the redactor what is known without asking anybody: variables, files and literals that entries name. Records are written
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
  for (const server of config.servers.values()) {
    const resolver = createLateResolver({ server: server.name, ...facts, baseDir });
    for (const text of listTexts(server)) {
      const { secrets } = await resolveLate(text, resolver, server.name).catch(() => ({ secrets: [] }));
      redactor.add(server.name, secrets);
    }
  }
}

function listTexts({ launch, auth }: ServerConfig): readonly LateText[] {
  const ofLaunch =
    launch.kind === "stdio"
      ? [launch.command, ...launch.args, ...Object.values(launch.env)]
      : [launch.url, ...Object.values(launch.headers)];
  const secret = auth?.clientSecret ?? null;
  return [...ofLaunch, ...(secret === null ? [] : [secret])].filter(
    ({ template, reveal }) => reveal !== undefined || template.includes("${"),
  );
}

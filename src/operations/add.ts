import { dirname } from "node:path";
import { z } from "zod";
import { isJsonObject, type JsonObject } from "../base/json.ts";
import { compileConfig } from "../config/compile.ts";
import { findDangers } from "../config/danger.ts";
import { addServer, removeServer } from "../config/edit.ts";
import { describeSecretShape } from "../config/secret-shape.ts";
import { proposeVariable } from "../config/late-text.ts";
import { thisProcess } from "../config/this-process.ts";
import { describeServer } from "../config/trust.ts";
import { PortcullisError } from "../errors.ts";
import { defineOperation, nameInput } from "./operation.ts";

/**
 * Adds a server to the configuration; it is not started. Only for the command line: it names programs to start, so it is not among
 * the operations that the admin API offers.
 */
export const add = defineOperation({
  name: "add",
  summary: "add a server to the configuration file",
  input: z.strictObject({ server: nameInput, entry: z.record(z.string(), z.unknown()) }),
  isLive: false,
  async run({ host }, input) {
    const { file, stateDir } = host.config;
    const entry = toEntry(input.entry);
    refuseLiterals(input.server, entry);
    // Everything that could be wrong with it is found before the file is touched.
    const facts = thisProcess();
    const baseDir = file === null ? facts.cwd : dirname(file);
    const compiled = compileConfig(
      { mcpServers: { [input.server]: entry } },
      { ...facts, file: null, baseDir, stateDir },
    );
    const server = compiled.servers.get(input.server);
    if (server === undefined)
      throw new PortcullisError("internal", "the entry was lost while it was compiled");
    const edited = await host.edit(addServer(input.server, entry));
    return {
      server: input.server,
      file: edited.file,
      does: describeServer(server),
      blocked: server.blocked,
      canLock: server.package?.ecosystem === "npm",
      hasSource: server.source !== null,
      dangers: findDangers(server),
    };
  },
});

/** Takes a server out of the configuration, with everything in its entry, and what was locked for it. */
export const remove = defineOperation({
  name: "remove",
  summary: "remove a server from the configuration file",
  input: z.strictObject({ server: nameInput }),
  isLive: true,
  async run({ host, by }, { server }) {
    const { file } = await host.edit((text) => removeServer(server)(text));
    const wasLocked = await host.unlock(server, by);
    return { server, file, wasLocked };
  },
});

function toEntry(entry: Readonly<Record<string, unknown>>): JsonObject {
  const copy: unknown = structuredClone(entry);
  if (!isJsonObject(copy)) throw new PortcullisError("usage", "the entry is no object");
  return copy;
}

/** The command line is remembered by shells and the file is read by many: a secret belongs into neither. */
function refuseLiterals(server: string, entry: JsonObject): void {
  for (const key of ["env", "headers"]) {
    const texts = entry[key];
    if (!isJsonObject(texts)) continue;
    for (const [name, text] of Object.entries(texts)) {
      const shape = typeof text === "string" ? describeSecretShape(name, text) : null;
      if (shape === null) continue;
      const isVariable = key === "env";
      const variable = isVariable ? name : proposeVariable(server, name === "Authorization" ? "TOKEN" : name);
      throw new PortcullisError(
        "usage",
        `\`${name}\` holds ${shape}: set the variable \`${variable}\` and write \`\${env:${variable}}\``,
      );
    }
  }
}

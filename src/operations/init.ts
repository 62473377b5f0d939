/**
 * A first configuration: from scratch, or with what other MCP clients on this machine have. It is written once and never over
 * anything; nothing in it runs because of it. What was imported is trusted by nobody yet: the first use asks, with every command.
 */
import { open } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { makeFolder } from "../base/make-folder.ts";
import { compileConfig } from "../config/compile.ts";
import type { Config, ServerConfig } from "../config/compiled.ts";
import { findDangers } from "../config/danger.ts";
import { collectImports, type CollectedImports } from "../config/import/collect.ts";
import type { HostFacts } from "../config/locate.ts";
import { describeServer } from "../config/trust.ts";
import { PortcullisError } from "../errors.ts";

export interface InitReport {
  /** Real path of the file that was written. */
  readonly file: string;
  readonly servers: readonly {
    readonly name: string;
    readonly from: string;
    /** What it starts or reaches, untruncated. */
    readonly does: string;
    readonly blocked: { readonly reason: string; readonly fix: string } | null;
    /** What to look at twice. */
    readonly dangers: readonly string[];
  }[];
  /** What was left out or changed, and why. */
  readonly notes: readonly {
    readonly from: string;
    readonly server: string | null;
    readonly message: string;
  }[];
  /** Files of other clients that were read. */
  readonly read: readonly string[];
  /** Commands to go on with. */
  readonly next: readonly string[];
}

export interface InitOptions {
  /** Absolute. */
  readonly file: string;
  readonly facts: HostFacts;
  /** A file or a client; `undefined`: all known clients; `null`: nothing is imported. */
  readonly from: string | null | undefined;
}

/**
 * Writes the file.
 *
 * @throws PortcullisError `usage` where something is there already, or nothing can be written there.
 */
export async function initConfig(options: InitOptions): Promise<InitReport> {
  const { file, facts, from } = options;
  const imports: CollectedImports =
    from === null ? { servers: [], notes: [], files: [] } : await collectImports(facts, from);
  const config = compileImported(imports, options);
  await writeNew(file, renderConfig(imports));
  const servers = imports.servers.flatMap(({ name, from: client }) => {
    const server = config.servers.get(name);
    return server === undefined ? [] : [toReport(server, client)];
  });
  return {
    file,
    servers,
    notes: imports.notes.map(({ from: client, server, message }) => ({ from: client, server, message })),
    read: imports.files,
    next: nextSteps(config),
  };
}

/** All entries at once, as the file will hold them. Each is valid by itself, so together they are too. */
function compileImported(imports: CollectedImports, { file, facts }: InitOptions): Config {
  const mcpServers = Object.fromEntries(imports.servers.map(({ name, entry }) => [name, entry]));
  return compileConfig({ mcpServers }, { ...facts, file, baseDir: dirname(file), stateDir: "/" });
}

function toReport(server: ServerConfig, from: string): InitReport["servers"][number] {
  return {
    name: server.name,
    from,
    does: describeServer(server),
    blocked: server.blocked,
    dangers: findDangers(server),
  };
}

function renderConfig({ servers }: CollectedImports): string {
  const lines = [
    "// Portcullis: which MCP servers there are, and what may be done with them. A server that is not here does not exist.",
    "// Every tool is L2 (a person is asked each time) until a rule says otherwise: `portcullis grade SERVER TOOL L0`.",
    "{",
    '  "$schema": "./node_modules/portcullis/schema.json",',
    '  "mcpServers": {',
  ];
  for (const { name, entry, from } of servers) {
    const text = JSON.stringify({ ...entry, default: entry["default"] ?? "L2" }, null, 2).replaceAll(
      "\n",
      "\n    ",
    );
    // "source" is for the operator alone: it says why the server is trusted at all.
    lines.push(`    // from ${from}; say why you trust it: "source": "official", "own" or "audited"`);
    lines.push(`    ${JSON.stringify(name)}: ${text},`);
  }
  lines.push("  },", "}", "");
  return lines.join("\n");
}

/** @throws PortcullisError `usage`. */
async function writeNew(file: string, text: string): Promise<void> {
  try {
    makeFolder(dirname(resolve(file)));
    const handle = await open(file, "wx", 0o600);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
    const why =
      code === "EEXIST"
        ? "is there already and stays as it is: add servers with `portcullis add`, or name another with --config"
        : `cannot be written (${code})`;
    throw new PortcullisError("usage", `\`${file}\` ${why}`, { cause: error });
  }
}

function nextSteps({ servers }: Config): readonly string[] {
  const locks = [...servers.values()]
    .filter((server) => server.package?.ecosystem === "npm")
    .map(({ name }) => `portcullis lock ${name}`);
  const first = servers.size === 0 ? "portcullis add NAME -- COMMAND ARGUMENTS" : "portcullis tools";
  return [...locks, first, "portcullis check"];
}

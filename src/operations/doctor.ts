/**
 * What is wrong on this machine, and how to mend it. Works where nothing else does: with a configuration that cannot be read and a
 * state that cannot be opened. Looks only; makes and changes nothing.
 */
import { statSync } from "node:fs";
import { vaultKeyPath } from "../auth/vault.ts";
import type { Config, ConfigProblem, LateText, ServerConfig } from "../config/compiled.ts";
import type { HostFacts } from "../config/locate.ts";
import { formatProblem } from "../config/problems.ts";
import { parseTemplate } from "../config/references.ts";
import type { PortcullisError } from "../errors.ts";
import { findProgram } from "../transport/program-files.ts";
import type { SandboxProbe } from "../transport/sandbox-probe.ts";

export interface DoctorLine {
  readonly id: string;
  readonly state: "ok" | "problem" | "unknown";
  readonly text: string;
  /** What to do; `null` where nothing has to be done. */
  readonly fix: string | null;
}

export interface DoctorReport {
  readonly ok: boolean;
  readonly lines: readonly DoctorLine[];
}

/** What was found; what could not be looked at is `null`. */
export interface DoctorFacts {
  readonly host: HostFacts;
  /** For example `24.11.0` and `3.51.3`. */
  readonly node: string;
  readonly sqlite: string | null;
  /** The configuration, or why it cannot be used. */
  readonly config: Config | PortcullisError;
  /** Of the state directory; `null` where there is none, or it cannot be used at all. */
  readonly state: { readonly mode: number; readonly isOurs: boolean } | null;
  /** The vault's key file, or why it cannot be used; `null` where there is none yet. */
  readonly vault: "usable" | PortcullisError | null;
  /** A file that was merely found, and that names a state of its own: that state is not looked at before it is trusted. */
  readonly isStateUntrusted: boolean;
  /** Children of hosts that are gone; `null` where the state cannot be opened, or is not there yet. */
  readonly leftovers: readonly { readonly pid: number; readonly command: string }[] | null;
  /** Why the state cannot be opened. */
  readonly stateProblem: PortcullisError | null;
  /** The database that several hosts share, or why it cannot be used; `null` where the state is on this machine. */
  readonly sharedStore: { readonly label: string; readonly isMade: boolean } | PortcullisError | null;
  readonly gateway: GatewayFinding | null;
  readonly sandbox: SandboxProbe | null;
}

/** What was found at the file and the port of the gateway. */
export type GatewayFinding =
  | { readonly kind: "none" }
  | { readonly kind: "runs"; readonly url: string; readonly pid: number }
  /** The file names a process that is gone, or is none of ours. */
  | { readonly kind: "stale"; readonly pid: number }
  | { readonly kind: "port-taken"; readonly address: string };

const WANTED_NODE: readonly [number, number] = [22, 19];
const WANTED_SQLITE: readonly [number, number, number] = [3, 51, 3];

/** Judges what was found. Reads modes and looks for programs, and nothing else. */
export function diagnose(facts: DoctorFacts): DoctorReport {
  const { config } = facts;
  const lines: DoctorLine[] = [
    versionLine("node", "Node.js", facts.node, WANTED_NODE, "install Node.js 22.19 or newer"),
    facts.sqlite === null
      ? unknown("sqlite", "the version of SQLite cannot be told")
      : versionLine(
          "sqlite",
          "SQLite",
          facts.sqlite,
          WANTED_SQLITE,
          "use a Node.js that brings SQLite 3.51.3",
        ),
  ];
  if (!("servers" in config)) {
    lines.push(...configProblems(config));
    return conclude(lines);
  }
  const count = config.servers.size;
  lines.push(
    ok("config", `${config.file ?? "given in code"}: ${count} ${count === 1 ? "server" : "servers"}`),
  );
  for (const warning of config.warnings)
    lines.push(problem("config.warning", formatProblem(warning), "look at the place named"));
  lines.push(...stateLines(facts, config), ...sharedStoreLines(facts));
  if (facts.gateway !== null) lines.push(gatewayLine(facts.gateway));
  for (const server of config.servers.values()) lines.push(...serverLines(server, facts));
  return conclude(lines);
}

function conclude(lines: readonly DoctorLine[]): DoctorReport {
  return { ok: lines.every(({ state }) => state !== "problem"), lines };
}

function ok(id: string, text: string): DoctorLine {
  return { id, state: "ok", text, fix: null };
}

function problem(id: string, text: string, fix: string): DoctorLine {
  return { id, state: "problem", text, fix };
}

function unknown(id: string, text: string): DoctorLine {
  return { id, state: "unknown", text, fix: null };
}

function versionLine(
  id: string,
  name: string,
  found: string,
  wanted: readonly number[],
  fix: string,
): DoctorLine {
  const parts = found.split(".").map((part) => Number.parseInt(part, 10));
  const first = wanted.findIndex((part, index) => part !== parts[index]);
  const isOlder = first >= 0 && (parts[first] ?? 0) < (wanted[first] ?? 0);
  return isOlder
    ? problem(id, `${name} ${found} is older than ${wanted.join(".")}`, fix)
    : ok(id, `${name} ${found}`);
}

function configProblems(error: PortcullisError): readonly DoctorLine[] {
  if (error.code === "config_not_found")
    return [problem("config", error.message, "run `portcullis init`, or name the file with --config")];
  const found = error.data["problems"];
  const problems = Array.isArray(found) ? (found as readonly ConfigProblem[]) : [];
  if (problems.length === 0) return [problem("config", error.message, "correct the file")];
  return problems.map((one) => problem("config", formatProblem(one), "correct it at the place named"));
}

const GROUP_OR_OTHERS = 0o077;

function stateLines(facts: DoctorFacts, { stateDir, store }: Config): readonly DoctorLine[] {
  if (facts.isStateUntrusted) {
    const place = store.kind === "postgresql" ? "a database" : stateDir;
    return [unknown("state", `${place} is named by a file that nobody trusts yet, and was not looked at`)];
  }
  const { state, stateProblem } = facts;
  const lines = state === null ? [] : [stateModeLine(stateDir, state), vaultLine(stateDir, facts.vault)];
  if (stateProblem !== null)
    lines.push(
      problem("state.open", stateProblem.message, "look at its owner, its modes and the space left"),
    );
  if (lines.length === 0) return [ok("state", `${stateDir} is not there yet, and made when it is needed`)];
  if (facts.leftovers !== null) lines.push(leftoverLine(facts.leftovers));
  return lines;
}

function sharedStoreLines({ sharedStore }: DoctorFacts): readonly DoctorLine[] {
  if (sharedStore === null) return [];
  if ("code" in sharedStore)
    return [
      problem(
        "database",
        sharedStore.message,
        "look at the URL of `store`, the server, and the role's rights",
      ),
    ];
  const { label, isMade } = sharedStore;
  return [ok("database", `${label} ${isMade ? "can be used" : "answers; its tables are made when needed"}`)];
}

function stateModeLine(stateDir: string, { mode, isOurs }: NonNullable<DoctorFacts["state"]>): DoctorLine {
  if (!isOurs)
    return problem(
      "state.owner",
      `${stateDir} belongs to somebody else`,
      "name a folder of your own with --state",
    );
  if ((mode & GROUP_OR_OTHERS) === 0) return ok("state", `${stateDir} is yours alone`);
  return problem(
    "state.mode",
    `others may reach ${stateDir} (mode ${mode.toString(8)})`,
    `run \`chmod 700 ${stateDir}\``,
  );
}

function vaultLine(stateDir: string, vault: DoctorFacts["vault"]): DoctorLine {
  if (vault === null) return ok("vault", "no key yet: it is made when something is sealed first");
  if (vault !== "usable") return problem("vault", vault.message, "make it a file that only you may read");
  const file = vaultKeyPath(stateDir);
  return ok(
    "vault",
    `tokens and pending arguments are sealed with the key file ${file}, which only you may read`,
  );
}

function leftoverLine(leftovers: NonNullable<DoctorFacts["leftovers"]>): DoctorLine {
  if (leftovers.length === 0) return ok("children", "no process of a host that is gone");
  const named = leftovers.map(({ pid, command }) => `${pid} (${command})`).join(", ");
  return problem(
    "children",
    `processes of a host that is gone still run: ${named}`,
    "the next command that uses servers ends them: run `portcullis status`",
  );
}

function gatewayLine(gateway: GatewayFinding): DoctorLine {
  switch (gateway.kind) {
    case "none":
      return ok("gateway", "no gateway runs on this state");
    case "runs":
      return ok("gateway", `process ${gateway.pid} serves this state on ${gateway.url}`);
    case "stale":
      return problem(
        "gateway",
        `gateway.json names process ${gateway.pid}, which is not this gateway (any more)`,
        "start `portcullis serve` again; it writes the file anew",
      );
    case "port-taken":
      return problem(
        "gateway",
        `another program listens on ${gateway.address}`,
        "stop it, or name another address in `gateway.listen`",
      );
  }
}

function serverLines(server: ServerConfig, facts: DoctorFacts): readonly DoctorLine[] {
  const { name, launch } = server;
  const id = `server.${name}`;
  if (server.disabled) return [];
  if (server.blocked !== null)
    return [problem(id, `\`${name}\` is blocked: ${server.blocked.reason}`, server.blocked.fix)];
  const lines: DoctorLine[] = [];
  for (const variable of unsetVariables(server, facts.host.env))
    lines.push(
      problem(
        id,
        `\`${name}\` needs the variable \`${variable}\`, which is not set`,
        `set \`${variable}\` where Portcullis starts`,
      ),
    );
  if (launch.kind === "stdio") {
    const command = launch.command.template;
    if (facts.host.platform === "win32" || command.includes("${")) {
      lines.push(unknown(id, `\`${name}\`: \`${command}\` was not looked for`));
    } else if (findProgram(command, facts.host.env["PATH"] ?? "", launch.cwd) === undefined) {
      lines.push(
        problem(id, `\`${name}\`: \`${command}\` was not found`, "install it, or correct `command` or PATH"),
      );
    }
    if (statSync(launch.cwd, { throwIfNoEntry: false }) === undefined)
      lines.push(
        problem(
          id,
          `\`${name}\`: its working directory ${launch.cwd} is not there`,
          "make it, or correct `cwd`",
        ),
      );
    if (server.sandbox !== null && facts.sandbox !== null && !facts.sandbox.ok)
      lines.push(problem(id, `\`${name}\` has no sandbox: ${facts.sandbox.reason}`, facts.sandbox.fix));
  }
  return lines.length === 0 ? [ok(id, `\`${name}\` has what it needs to be started`)] : lines;
}

/** Variables that the entry refers to, that are unset or empty, and that have no default. */
function unsetVariables({ launch }: ServerConfig, env: HostFacts["env"]): readonly string[] {
  const texts: readonly LateText[] =
    launch.kind === "stdio"
      ? [launch.command, ...launch.args, ...Object.values(launch.env)]
      : [launch.url, ...Object.values(launch.headers)];
  const names = texts.flatMap(({ template }) => {
    const parsed = parseTemplate(template);
    if (!parsed.ok) return [];
    return parsed.parts.flatMap((part) => {
      if (part.kind !== "reference" || part.reference.scheme !== "env") return [];
      const { name, fallback } = part.reference;
      const value = Object.hasOwn(env, name) ? env[name] : undefined;
      return fallback === null && (value === undefined || value === "") ? [name] : [];
    });
  });
  return [...new Set(names)];
}

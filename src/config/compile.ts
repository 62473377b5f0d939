/**
 * Raw configuration to its compiled form: complete and frozen, or one error with everything that is wrong. Pure: what it has
 * to know of the world comes as `facts`.
 */
import { digestJson } from "../base/json.ts";
import { checkConfig } from "./check.ts";
import type { AnswerChannel, Config, ServerConfig } from "./compiled.ts";
import { isLoopbackName } from "./compile-remote.ts";
import { compileServer, durationOr } from "./compile-server.ts";
import { createNotes, type ConfigFacts, type Notes } from "./facts.ts";
import { freezeDeep } from "./freeze.ts";
import { compileLateText, proposeVariable } from "./late-text.ts";
import { isRootedPath, resolveConfigPath } from "./paths.ts";
import { copyPlainJson } from "./plain-json.ts";
import { placeProblem, problemsError, type Positions } from "./problems.ts";
import type { RawConfig } from "./schema.ts";

const DEFAULT_CATALOG_TOKENS = 6_000;

/**
 * Compiles a configuration.
 *
 * @param raw the parsed file, or an object given in code (`undefined` members count as left out).
 * @throws PortcullisError `config_invalid`, or `config_not_yet` where nothing else is wrong; `data.problems` holds every
 * `ConfigProblem`.
 */
export function compileConfig(raw: unknown, facts: ConfigFacts): Config {
  const positions: Positions = facts.positions ?? (() => null);
  const plain = copyPlainJson(raw);
  if (plain.problems.length > 0) throw problemsError(plain.problems, facts.file, positions);
  const checked = checkConfig(plain.value);
  if (!checked.ok) throw problemsError(checked.problems, facts.file, positions);
  const notes = createNotes();
  const config = compileValid(checked.raw, facts, notes);
  if (notes.problems.length > 0) throw problemsError(notes.problems, facts.file, positions);
  const warnings = notes.warnings.map((warning) => placeProblem(warning, facts.file, positions));
  return freezeDeep({ ...config, digest: facts.digest ?? digestJson(plain.value), warnings });
}

function compileValid(raw: RawConfig, facts: ConfigFacts, notes: Notes): Omit<Config, "digest" | "warnings"> {
  const servers = new Map<string, ServerConfig>();
  const folded = new Map<string, string>();
  for (const [name, entry] of Object.entries(raw.mcpServers ?? {})) {
    const twin = folded.get(name.toLowerCase());
    if (twin !== undefined)
      notes.wrongKey(["mcpServers", name], `differs from \`${twin}\` in case only: rename one`);
    folded.set(name.toLowerCase(), name);
    const server = compileServer(name, entry, facts, notes);
    if (server !== null) servers.set(name, server);
  }
  return {
    file: facts.file,
    servers,
    egress: compileEgress(raw, facts, notes),
    approvals: {
      timeoutMs: durationOr(raw.approvals?.timeout, 300_000),
      grants: raw.approvals?.grants ?? "off",
      ...compileChannels(raw),
      onProvenance: raw.approvals?.provenance ?? "ask",
      yes: raw.approvals?.yes ?? true,
    },
    audit: { retentionMs: durationOr(raw.audit?.retention, 7_776_000_000) },
    gateway: compileGateway(raw, notes),
    limits: { concurrency: raw.limits?.concurrency ?? 64, startAtOnce: raw.limits?.startAtOnce ?? 8 },
    ...compileStore(raw, facts, notes),
    catalog: compileCatalog(raw),
    log: { level: raw.log?.level ?? "info", format: raw.log?.format ?? "text" },
    telemetry: compileTelemetry(raw, notes),
    notify: compileNotify(raw, notes),
  };
}

/** A grade that an object does not name may be answered everywhere, as where nothing is said at all. */
function compileChannels(raw: RawConfig): Pick<Config["approvals"], "channels" | "channelsByGrade"> {
  const given = raw.approvals?.channels ?? {};
  const of = (grade: "L0" | "L1" | "L2" | "L3"): readonly AnswerChannel[] => [
    ...new Set(
      (Array.isArray(given) ? given : given[grade]) ?? (["terminal", "console", "callback"] as const),
    ),
  ];
  const channelsByGrade = { L0: of("L0"), L1: of("L1"), L2: of("L2"), L3: of("L3") };
  return { channels: [...new Set(Object.values(channelsByGrade).flat())], channelsByGrade };
}

function compileEgress(raw: RawConfig, facts: ConfigFacts, notes: Notes): Config["egress"] {
  const proxy = raw.egress?.proxy;
  return {
    allow: [...new Set((raw.egress?.allow ?? []).map((host) => host.toLowerCase()))],
    proxy:
      proxy === undefined
        ? null
        : compileLateText(proxy, { path: ["egress", "proxy"], name: null, variable: "HTTPS_PROXY", notes }),
    certificates: (raw.egress?.certificates ?? []).map((file) => resolveConfigPath(file, facts)),
  };
}

function compileGateway(raw: RawConfig, notes: Notes): Config["gateway"] {
  const listen = raw.gateway?.listen ?? "127.0.0.1:7420";
  const colon = listen.lastIndexOf(":");
  const host = listen.slice(0, colon);
  const requireToken = raw.gateway?.requireToken ?? true;
  if (!isLoopbackName(host)) {
    if (!requireToken)
      notes.wrong(["gateway", "requireToken"], "only loopback can do without a token: remove it");
    notes.warn(
      ["gateway", "listen"],
      "is reachable from other machines over plain http: put a TLS proxy in front, or listen on 127.0.0.1",
    );
  }
  return { host: host.replaceAll(/^\[|\]$/g, ""), port: Number(listen.slice(colon + 1)), requireToken };
}

function compileStore(raw: RawConfig, facts: ConfigFacts, notes: Notes): Pick<Config, "store" | "stateDir"> {
  const text = raw.store;
  if (text === undefined || facts.isStateDirGiven === true) {
    return { store: { kind: "sqlite" }, stateDir: facts.stateDir };
  }
  // A reference alone is the whole URL: no folder is named by one.
  if (/^(?:postgres(?:ql)?:|\$\{[^{}]*\}$)/i.test(text)) {
    const variable = "PORTCULLIS_DATABASE_URL";
    const url = compileLateText(text, { path: ["store"], name: null, variable, notes });
    return { store: { kind: "postgresql", url }, stateDir: facts.stateDir };
  }
  if (!isRootedPath(text, facts.platform) || text.includes("${")) {
    notes.wrong(["store"], "must be an absolute folder (or start with `~/`), or a `postgresql://` URL");
  }
  return { store: { kind: "sqlite" }, stateDir: resolveConfigPath(text, facts) };
}

function compileCatalog(raw: RawConfig): Config["catalog"] {
  if (typeof raw.catalog === "number") return { mode: "auto", thresholdTokens: raw.catalog };
  return { mode: raw.catalog ?? "auto", thresholdTokens: DEFAULT_CATALOG_TOKENS };
}

function compileTelemetry({ telemetry }: RawConfig, notes: Notes): Config["telemetry"] {
  if (telemetry === undefined) return null;
  const { endpoint, headers = {}, sample = null, interval } = telemetry;
  const late = (text: string, path: readonly string[], name: string | null) =>
    compileLateText(text, { path, name, variable: proposeVariable("telemetry", name ?? "url"), notes });
  return {
    endpoint: endpoint === undefined ? null : late(endpoint, ["telemetry", "endpoint"], null),
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, text]) => [name, late(text, ["telemetry", "headers", name], name)]),
    ),
    sample,
    intervalMs: interval === undefined ? null : durationOr(interval, 0),
  };
}

function compileNotify(raw: RawConfig, notes: Notes): Config["notify"] {
  const { desktop = false, command, webhook } = raw.notify ?? {};
  const late = (text: string, path: readonly (string | number)[]): ReturnType<typeof compileLateText> =>
    compileLateText(text, { path, name: null, variable: "PORTCULLIS_NOTIFY", notes });
  return {
    desktop,
    command: command?.map((part, index) => late(part, ["notify", "command", index])) ?? null,
    webhook: webhook === undefined ? null : late(webhook, ["notify", "webhook"]),
  };
}

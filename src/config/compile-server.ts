/** One entry of `mcpServers` to its complete form, with every default filled in. */
import { digestJson } from "../base/json.ts";
import type { LaunchedPackage, ServerConfig, ServerLimits } from "./compiled.ts";
import { compileAuth } from "./compile-auth.ts";
import { compileLaunch } from "./compile-launch.ts";
import { compileTools } from "./compile-tools.ts";
import { parseDuration } from "./duration.ts";
import type { ConfigFacts, Notes } from "./facts.ts";
import { resolveConfigPath } from "./paths.ts";
import type { RawServer } from "./schema-server.ts";
import { parseSize } from "./size.ts";

const DEFAULT_IDLE_STOP_MS = 900_000;
const DEFAULT_MAX_AGE_MS = 86_400_000;

/** The compiled entry; `null` where its launch makes no sense (then there are notes). */
export function compileServer(
  name: string,
  raw: RawServer,
  facts: ConfigFacts,
  notes: Notes,
): ServerConfig | null {
  const compiled = compileLaunch(name, raw, facts, notes);
  const auth = compileAuth(name, raw, notes);
  const tools = compileTools(name, raw, facts, notes);
  if (raw.timeout !== undefined && raw.limits?.timeout !== undefined) {
    notes.wrongKey(["mcpServers", name, "timeout"], "stands beside `limits.timeout`: keep that one");
  }
  if (compiled === null) return null;
  return {
    name,
    digest: digestJson(raw),
    launchDigest: digestLaunch(raw),
    package: compiled.package,
    launch: compiled.launch,
    auth,
    source: raw.source ?? null,
    scope: { may: raw.scope?.may ?? null, mayNot: raw.scope?.mayNot ?? null },
    tools,
    defaultGrade: raw.default ?? "L2",
    labels: raw.labels ?? [],
    limits: compileLimits(raw, compiled.package),
    connect: raw.connect ?? "lazy",
    idleStopMs: compileIdleStop(raw),
    scan: raw.scan ?? "block",
    inputs: raw.inputs === undefined ? null : [...new Set(raw.inputs)],
    degraded:
      raw.degraded === undefined
        ? null
        : { say: raw.degraded.say ?? null, maxAgeMs: durationOr(raw.degraded.maxAge, DEFAULT_MAX_AGE_MS) },
    rollout:
      raw.rollout === undefined
        ? null
        : { percent: raw.rollout.percent ?? 0, principals: [...new Set(raw.rollout.principals ?? [])] },
    sandbox: compileSandbox(name, raw, facts, notes),
    allowPrivateAddresses: raw.allowPrivateAddresses ?? false,
    disabled: raw.disabled ?? false,
    blocked: compiled.blocked,
  };
}

/** Of what is started or reached only: a new grade or limit does not restart a server. */
function digestLaunch(raw: RawServer): string {
  const { command, args, env, cwd, url, headers, transport, auth, sandbox, allowPrivateAddresses, inputs } =
    raw;
  const messageBytes = raw.limits?.messageBytes;
  return digestJson({
    command,
    args,
    env,
    cwd,
    url,
    headers,
    transport,
    auth,
    sandbox,
    allowPrivateAddresses,
    // Said once, at the start of a session.
    inputs,
    messageBytes,
  });
}

/** Milliseconds of a duration that the schema has checked, or the default. */
export function durationOr(text: string | undefined, defaultMs: number): number {
  return text === undefined ? defaultMs : (parseDuration(text) ?? defaultMs);
}

function sizeOr(size: number | string | undefined, defaultBytes: number): number {
  return size === undefined ? defaultBytes : (parseSize(size) ?? defaultBytes);
}

function compileLimits(raw: RawServer, launched: LaunchedPackage | null): ServerLimits {
  const limits = raw.limits ?? {};
  return {
    timeoutMs: durationOr(limits.timeout, raw.timeout ?? 30_000),
    totalMs: durationOr(limits.total, 600_000),
    connectMs: durationOr(limits.connect, launched === null ? 30_000 : 120_000),
    concurrency: limits.concurrency ?? 8,
    perMinute: limits.perMinute ?? null,
    resultBytes: sizeOr(limits.resultBytes, 1_048_576),
    modelTokens: limits.modelTokens ?? 25_000,
    messageBytes: sizeOr(limits.messageBytes, 16_777_216),
  };
}

/** A remote server for all is kept by default; sessions of single principals are not, because there are as many as people. */
function compileIdleStop({ idleStop, command, auth }: RawServer): number | null {
  if (idleStop === "never") return null;
  const stops = idleStop !== undefined || command !== undefined || auth?.per === "principal";
  return stops ? durationOr(idleStop, DEFAULT_IDLE_STOP_MS) : null;
}

function compileSandbox(
  name: string,
  raw: RawServer,
  facts: ConfigFacts,
  notes: Notes,
): ServerConfig["sandbox"] {
  if (raw.sandbox === undefined) return null;
  const { net = [] } = raw.sandbox;
  const paths = (key: "read" | "write"): readonly string[] =>
    (raw.sandbox?.[key] ?? []).map((path, index) => {
      if (path.includes("${")) {
        notes.wrong(
          ["mcpServers", name, "sandbox", key, index],
          "references are not read here: write a path, relative to this file or absolute",
        );
      }
      return resolveConfigPath(path, facts);
    });
  return { read: paths("read"), write: paths("write"), net };
}

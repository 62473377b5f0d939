/** Imports point down only. This table is the literal that ARCHITECTURE.md shows; there are no exceptions besides those named here. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, expect, it } from "vitest";

const src = resolve(import.meta.dirname, "../../src");

const LEVELS: Readonly<Record<string, number>> = {
  base: 0,
  "errors.ts": 0,
  "vocabulary.ts": 0,
  "version.ts": 0,
  protocol: 1,
  text: 1,
  jsonschema: 1,
  config: 1,
  store: 1,
  telemetry: 1,
  wire: 2,
  transport: 2,
  registry: 2,
  results: 2,
  policy: 2,
  approvals: 2,
  resilience: 2,
  egress: 2,
  auth: 2,
  audit: 2,
  client: 3,
  connection: 4,
  inputs: 4,
  host: 5,
  operations: 6,
  cli: 8,
  gateway: 7,
  adapters: 7,
  testing: 7,
  "index.ts": 7,
};

/** Siblings that may be imported: the HTTP port, which transport defines, egress implements and auth uses. */
const PORTS: readonly string[] = ["egress → transport/http-port.ts", "auth → transport/http-port.ts"];

/** Third-party modules and globals that belong to one folder. */
const OWNED: readonly { module: RegExp; owners: readonly string[] }[] = [
  { module: /^(undici|node:(net|tls|dns|dns\/promises|http2))$/, owners: ["egress"] },
  { module: /^(hono|hono\/.*|@hono\/.*)$/, owners: ["gateway"] },
  // The CLI waits on loopback for the answer of a login: `loopback-callback.ts`.
  { module: /^node:https?$/, owners: ["gateway", "cli"] },
  { module: /^(node:child_process|cross-spawn)$/, owners: ["transport"] },
  { module: /^node:sqlite$/, owners: ["store"] },
  { module: /^pg$/, owners: ["store"] },
  { module: /^@opentelemetry\//, owners: ["telemetry"] },
];

/** Within telemetry/: the API is all that observing a host needs; the SDK's packages are optional peers, loaded late. */
const OPENTELEMETRY: Readonly<Record<string, readonly string[]>> = {
  "telemetry/otel.ts": ["@opentelemetry/api"],
  "telemetry/otel-sdk.ts": [
    "@opentelemetry/api",
    "@opentelemetry/otlp-transformer",
    "@opentelemetry/resources",
    "@opentelemetry/sdk-metrics",
    "@opentelemetry/sdk-trace",
  ],
};

const OWNED_GLOBALS: readonly { text: RegExp; owners: readonly string[] }[] = [
  { text: /\bprocess\.env\b/, owners: ["config", "cli"] },
  {
    text: /\bDate\.now\(|\bperformance\.now\(|(?<![.\w])set(Timeout|Interval)\(|\bMath\.random\(/,
    owners: ["base"],
  },
];

interface SourceFile {
  readonly path: string;
  readonly folder: string;
  readonly text: string;
  readonly imports: readonly string[];
}

function readSources(): SourceFile[] {
  return readdirSync(src, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .map((path) => {
      const text = readFileSync(join(src, path), "utf8");
      const imports = [
        ...text.matchAll(
          /(?:^|\n)\s*(?:import|export)\b[^;'"`]*?from\s+["']([^"']+)["']|import\(\s*["']([^"']+)["']\s*\)|(?:^|\n)import\s+["']([^"']+)["']/g,
        ),
      ].map((match) => match[1] ?? match[2] ?? match[3] ?? "");
      return { path, folder: path.split("/")[0] ?? "", text, imports };
    });
}

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\//g, "").replaceAll(/^\s*\/\/.*$/gm, "");
}

describe("layers", () => {
  const sources = readSources();

  it("reads the sources at all", () => {
    expect(sources.length).toBeGreaterThan(20);
    expect(sources.flatMap((source) => source.imports).length).toBeGreaterThan(20);
  });

  it("has a level for every folder", () => {
    expect(sources.map((source) => source.folder).filter((folder) => LEVELS[folder] === undefined)).toEqual(
      [],
    );
  });

  it("imports point down only", () => {
    const wrong: string[] = [];
    for (const source of sources) {
      for (const target of source.imports.filter((name) => name.startsWith("."))) {
        const to = relative(src, resolve(dirname(join(src, source.path)), target));
        const toFolder = to.split("/")[0] ?? "";
        if (toFolder === source.folder || PORTS.includes(`${source.folder} → ${to}`)) continue;
        const from = LEVELS[source.folder] ?? -1;
        const level = LEVELS[toFolder] ?? 99;
        if (level > from || (level === from && level > 0)) wrong.push(`${source.path} imports ${to}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  it("third-party modules stay with their owners", () => {
    const wrong = sources.flatMap((source) =>
      source.imports
        .filter((name) =>
          OWNED.some((rule) => rule.module.test(name) && !rule.owners.includes(source.folder)),
        )
        .map((name) => `${source.path} imports ${name}`),
    );
    expect(wrong).toEqual([]);
  });

  it("the driver of PostgreSQL is loaded by one file, and that file by whoever has such a store", () => {
    const loading = (what: RegExp): string[] =>
      sources.flatMap(({ path, text }) => (what.test(withoutComments(text)) ? [path] : []));
    expect(loading(/^import (?!type )[^;]*from "pg"/m)).toEqual(["store/postgres.ts"]);
    expect(loading(/from "[^"]*\/postgres\.ts"/)).toEqual([]);
    expect(loading(/import\("\.\.\/store\/postgres\.ts"\)/)).toEqual(["host/open-store.ts"]);
  });

  it("OpenTelemetry is known to two files, its SDK to one of them and only when it is opened", () => {
    const found = sources
      .filter((source) => source.imports.some((name) => name.startsWith("@opentelemetry/")))
      .map(({ path, imports }) => [
        path,
        imports.filter((name) => name.startsWith("@opentelemetry/")).toSorted(),
      ]);
    expect(Object.fromEntries(found)).toEqual(OPENTELEMETRY);
    const loadedAtOnce = /^(?:import|export)(?! type\b)[^;]*?from\s+"@opentelemetry\/(?!api")/m;
    expect(sources.filter(({ text }) => loadedAtOnce.test(text)).map(({ path }) => path)).toEqual([]);
  });

  it("the environment, the clock and chance stay with their owners", () => {
    const wrong = sources.flatMap((source) =>
      OWNED_GLOBALS.filter(
        (rule) => !rule.owners.includes(source.folder) && rule.text.test(withoutComments(source.text)),
      ).map((rule) => `${source.path} uses ${String(rule.text)}`),
    );
    expect(wrong).toEqual([]);
  });

  it("folders have no index.ts but the public entries, and nothing exports a star", () => {
    const entries = ["index.ts", "client/index.ts", "testing/index.ts"];
    expect(
      sources
        .filter(
          (source) =>
            source.path.endsWith("index.ts") &&
            !entries.includes(source.path) &&
            source.folder !== "adapters",
        )
        .map((source) => source.path),
    ).toEqual([]);
    expect(sources.filter((source) => /^export \*/m.test(source.text)).map((source) => source.path)).toEqual(
      [],
    );
  });

  it("no name that says nothing, no file over 400 lines", () => {
    expect(
      sources
        .filter((source) => /(^|\/)(utils?|helpers?|common|shared|misc|lib)(\/|\.ts$)/.test(source.path))
        .map((source) => source.path),
    ).toEqual([]);
    expect(
      sources.filter((source) => source.text.split("\n").length > 401).map((source) => source.path),
    ).toEqual([]);
  });
});

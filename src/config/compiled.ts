/**
 * The configuration after `compile`: complete, frozen, durations in milliseconds, sizes in bytes, secrets still as late
 * references. Everything behind `config/` reads this form and never the file.
 */
import type { JsonObject } from "../base/json.ts";
import type { Grade, Source } from "../vocabulary.ts";

/** Text with references such as `${env:NAME}`, resolved late and for one server alone. */
export interface LateText {
  /** The text as written, references included: safe to show. */
  readonly template: string;
  /**
   * Present where the file holds a literal that looks like a secret: `template` is masked then, and only this function
   * gives the text. A function, so that no serialiser ever writes it down.
   */
  readonly reveal?: () => string;
}

/** Grades a call by its arguments: where all of `arguments` match, `grade` applies (it can only raise). */
export interface ArgumentCondition {
  readonly arguments: Readonly<Record<string, ArgumentTest>>;
  readonly grade: Grade;
}

/** One test of one argument, named by a dotted path. */
export interface ArgumentTest {
  readonly equals?: unknown;
  readonly matches?: string;
  readonly notMatches?: string;
  readonly above?: number;
  readonly below?: number;
  readonly isPresent?: boolean;
}

export type GuardRule =
  | {
      readonly kind: "sql";
      readonly argument: string;
      readonly dialect: "postgresql" | "mysql" | "sqlite";
      readonly maxRows: number;
    }
  | { readonly kind: "path"; readonly argument: string; readonly roots: readonly string[] }
  | { readonly kind: "url"; readonly argument: string; readonly hosts: readonly string[] }
  | {
      readonly kind: "number";
      readonly argument: string;
      readonly min: number | null;
      readonly max: number | null;
    }
  | { readonly kind: "match"; readonly argument: string; readonly pattern: string };

export type Label = "private" | "untrusted" | "external" | "public" | "trusted" | "internal";

export interface ToolRule {
  /** Exact name or pattern with `*`. */
  readonly pattern: string;
  readonly isExact: boolean;
  /** Where it stands, for "why": for example `mcpServers.github.tools["search_*"]`. */
  readonly path: string;
  readonly grade: Grade | null;
  /** L3 tools do nothing without it. */
  readonly enabled: boolean;
  /** L1 may be set to ask. */
  readonly ask: boolean;
  readonly when: readonly ArgumentCondition[];
  readonly say: string | null;
  /** The argument that holds a list shown item by item. */
  readonly items: string | null;
  /** The argument whose value must be typed for L3; `null`: the tool's name. */
  readonly confirm: string | null;
  readonly preview: { readonly tool: string; readonly args: JsonObject } | null;
  readonly guards: readonly GuardRule[];
  readonly undo: { readonly tool: string; readonly args: JsonObject } | null;
  readonly idempotent: boolean;
  readonly labels: readonly Label[];
  readonly timeoutMs: number | null;
  readonly schema: JsonObject | null;
}

export interface ServerLimits {
  /** Without progress. Default 30,000. */
  readonly timeoutMs: number;
  /** In all. Default 600,000. */
  readonly totalMs: number;
  /** Default 30,000; 120,000 for a first `npx` download. */
  readonly connectMs: number;
  /** Calls at once on one connection. Default 8. */
  readonly concurrency: number;
  /** Per tool and principal; `null`: no limit. */
  readonly perMinute: number | null;
  /** Kept inline per result. Default 1 MiB. */
  readonly resultBytes: number;
  /** Default 25,000. */
  readonly modelTokens: number;
  /** One line or message. Default 16 MiB. */
  readonly messageBytes: number;
}

export type Launch =
  | {
      readonly kind: "stdio";
      readonly command: LateText;
      readonly args: readonly LateText[];
      readonly env: Readonly<Record<string, LateText>>;
      /** Absolute. */
      readonly cwd: string;
    }
  | {
      readonly kind: "http" | "sse";
      readonly url: LateText;
      readonly headers: Readonly<Record<string, LateText>>;
    };

/** A package that a runner (`npx`, `uvx`, `docker`, …) fetches and starts. */
export interface LaunchedPackage {
  readonly ecosystem: "npm" | "pypi" | "oci";
  /** The program that fetches it, for example `npx`. */
  readonly runner: string;
  /** Without the version, for example `@modelcontextprotocol/server-filesystem`. */
  readonly name: string;
  /** The exact version, tag or digest; `null` where the entry names none (then the server is blocked). */
  readonly version: string | null;
  /** Index in `launch.args` where the package's own arguments begin. */
  readonly argsFrom: number;
}

/** What a server may ask of a client. */
export type InputKind = "elicitation" | "sampling" | "roots";

export interface ServerConfig {
  readonly name: string;
  /** Changes exactly when the entry changes: reload compares it. */
  readonly digest: string;
  /** Changes only when what is started or reached changes, so that a new grade does not restart a server. */
  readonly launchDigest: string;
  /** The package that `launch` fetches; `null` for a program of one's own and for HTTP. */
  readonly package: LaunchedPackage | null;
  readonly launch: Launch;
  readonly auth: ServerAuth | null;
  readonly source: Source | null;
  readonly scope: { readonly may: string | null; readonly mayNot: string | null };
  /** Exact names first, then patterns, most specific first. */
  readonly tools: readonly ToolRule[];
  /** Grade of tools that no rule names. Default L2. */
  readonly defaultGrade: Grade;
  readonly labels: readonly Label[];
  readonly limits: ServerLimits;
  readonly connect: "lazy" | "eager";
  /** Ends after so long without a call; default 900,000, `null` (never) for a remote server for all. */
  readonly idleStopMs: number | null;
  readonly scan: "note" | "mark" | "block";
  /** What it may ask during a call; `null`: as the host has it. */
  readonly inputs: readonly InputKind[] | null;
  readonly degraded: { readonly say: string | null; readonly maxAgeMs: number } | null;
  readonly rollout: { readonly percent: number; readonly principals: readonly string[] } | null;
  readonly sandbox: {
    readonly read: readonly string[];
    readonly write: readonly string[];
    /** Empty: no network. */
    readonly net: readonly "any"[];
  } | null;
  readonly allowPrivateAddresses: boolean;
  readonly disabled: boolean;
  /** Set where the entry may not run as it stands (an unlocked `npx` package): the reason and the fix. */
  readonly blocked: { readonly reason: string; readonly fix: string } | null;
}

export interface ServerAuth {
  readonly type: "oauth" | "client_credentials" | "workload_identity" | "enterprise" | "bearer" | "none";
  readonly scopes: readonly string[];
  /** The only authorization server that may see these credentials; `null`: the one that a person accepts at login. */
  readonly issuer: string | null;
  readonly clientId: LateText | null;
  readonly clientSecret: LateText | null;
  /** PEM, for `private_key_jwt`. */
  readonly privateKey: LateText | null;
  readonly clientMetadataUrl: string | null;
  /** `null`: a free port on 127.0.0.1. */
  readonly redirectUri: string | null;
  readonly dpop: "auto" | "required" | "off";
  /** A workload's JWT. */
  readonly assertion: LateText | null;
  readonly identityProvider: {
    readonly issuer: string;
    /** `null`: as its metadata says. */
    readonly tokenEndpoint: string | null;
    readonly clientId: LateText;
    readonly clientSecret: LateText | null;
    readonly idToken: LateText;
  } | null;
  readonly per: "shared" | "principal";
}

/** Where a person may answer. */
export type AnswerChannel = "terminal" | "console" | "callback";

export interface Config {
  /** Absolute path of the file, or `null` for an object given in code. */
  readonly file: string | null;
  /** Hex SHA-256 of the file's bytes (of the canonical JSON for an object). */
  readonly digest: string;
  readonly servers: ReadonlyMap<string, ServerConfig>;
  readonly egress: {
    readonly allow: readonly string[];
    /** URL of the proxy for everything that goes out; `null`: none. */
    readonly proxy: LateText | null;
    /** Absolute paths of PEM files with further certificate authorities. */
    readonly certificates: readonly string[];
  };
  readonly approvals: {
    readonly timeoutMs: number;
    readonly grants: "off" | "on";
    /** Where calls of any grade may be answered. */
    readonly channels: readonly AnswerChannel[];
    /** Where calls of this grade may be answered: what an approval is judged by. */
    readonly channelsByGrade: Readonly<Record<Exclude<Grade, "off">, readonly AnswerChannel[]>>;
    /** What a value that came out of a tool does to an L2 or L3 call. */
    readonly onProvenance: "ask" | "deny";
    /** Whether `--yes` of the CLI counts as the approval of the person at the terminal. */
    readonly yes: boolean;
  };
  readonly audit: { readonly retentionMs: number };
  readonly gateway: { readonly host: string; readonly port: number; readonly requireToken: boolean };
  readonly limits: { readonly concurrency: number; readonly startAtOnce: number };
  /** `sqlite` lives in `stateDir`. */
  readonly store: { readonly kind: "sqlite" } | { readonly kind: "postgresql"; readonly url: LateText };
  /** How tools are offered to a model: all, by search, or by search above so many tokens (default 6,000). */
  readonly catalog: { readonly mode: "auto" | "whole" | "search"; readonly thresholdTokens: number };
  readonly log: { readonly level: "error" | "warn" | "info" | "debug"; readonly format: "text" | "json" };
  /** Where traces and metrics of a gateway go; `null`: as the environment says. */
  readonly telemetry: {
    /** `null`: as the environment says. */
    readonly endpoint: LateText | null;
    readonly headers: Readonly<Record<string, LateText>>;
    readonly sample: number | null;
    readonly intervalMs: number | null;
  } | null;
  /** How a person hears of waiting approvals and alerts. */
  readonly notify: {
    readonly desktop: boolean;
    readonly command: readonly LateText[] | null;
    readonly webhook: LateText | null;
  };
  /** Where state lives; absolute. */
  readonly stateDir: string;
  /** Things worth saying that do not stop anything (a literal that looks like a secret, a rule that matches nothing). */
  readonly warnings: readonly ConfigProblem[];
}

export interface ConfigProblem {
  readonly file: string | null;
  /** 1-based; `null` for an object given in code. */
  readonly line: number | null;
  readonly column: number | null;
  /** For example `mcpServers.github.tools.merge.grade`. */
  readonly path: string;
  readonly message: string;
}

/**
 * Trust of a discovered configuration: configuration is code (it names programs to start), so a file that was merely found is
 * asked about once, by the hash of its content and its place, and again after a change by anything but Portcullis itself. A file
 * named with `--config` and an object given in code are consent and never come here.
 */
import { createHash } from "node:crypto";
import { isJsonObject, type JsonObject, type JsonValue } from "../base/json.ts";
import { PortcullisError } from "../errors.ts";
import type { Config, LateText, ServerConfig } from "./compiled.ts";
import { findDangers } from "./danger.ts";

/** What has to be trusted. */
export interface TrustNeeded {
  /** Real path of the file. */
  readonly file: string;
  /** Hex SHA-256 of its bytes. */
  readonly digest: string;
  /** The state directory that holds the answers: never one that the file itself names. */
  readonly stateDir: string;
}

/** The part of the store that trust needs: documents of the collection `trust`. */
export interface TrustDocuments {
  get(
    collection: "trust",
    key: string,
  ): Promise<{ readonly value: JsonValue; readonly version: number } | undefined>;
  put(
    collection: "trust",
    key: string,
    value: JsonValue,
    options?: { readonly ifVersion?: number },
  ): Promise<{ readonly version: number } | undefined>;
}

export type TrustVerdict = "trusted" | "new" | "changed";

/** What a person is shown before trusting a file. */
export interface TrustQuestion {
  readonly file: string;
  /** Never asked about before, or changed since. */
  readonly verdict: "new" | "changed";
  /** One line for each server, untruncated (`describeServers`). */
  readonly servers: readonly string[];
}

/** Asks a person; resolves to their answer. */
export type AskTrust = (question: TrustQuestion) => Promise<boolean>;

/** Compares what is stored for a file with what it is now. */
export function evaluateTrust(
  stored: JsonValue | undefined,
  needed: Pick<TrustNeeded, "file" | "digest">,
): TrustVerdict {
  if (!isJsonObject(stored) || stored["file"] !== needed.file) return "new";
  return stored["digest"] === needed.digest ? "trusted" : "changed";
}

/**
 * Resolves when the file is trusted: it was before, or the person says so now.
 *
 * @param ask `null` without a terminal.
 * @param nowMs milliseconds since the epoch.
 * @throws PortcullisError `config_untrusted`.
 */
export async function ensureTrusted(
  needed: TrustNeeded,
  config: Config,
  options: {
    readonly documents: TrustDocuments;
    readonly ask: AskTrust | null;
    readonly nowMs: () => number;
  },
): Promise<void> {
  const stored = await options.documents.get("trust", trustKey(needed.file));
  const verdict = evaluateTrust(stored?.value, needed);
  if (verdict === "trusted") return;
  const question: TrustQuestion = { file: needed.file, verdict, servers: describeServers(config) };
  if (options.ask !== null && (await options.ask(question))) {
    await recordTrust(needed, { documents: options.documents, by: "person", nowMs: options.nowMs() });
    return;
  }
  const why = verdict === "new" ? "was found and is not trusted yet" : "has changed since it was trusted";
  throw new PortcullisError(
    "config_untrusted",
    `\`${needed.file}\` ${why}: read it, then run \`portcullis trust\``,
    {
      data: { file: needed.file, verdict },
    },
  );
}

/** Trusts the file as it is (`portcullis trust`). */
export async function recordTrust(
  needed: Pick<TrustNeeded, "file" | "digest">,
  options: {
    readonly documents: TrustDocuments;
    readonly by: "person" | "portcullis";
    readonly nowMs: number;
  },
): Promise<void> {
  await options.documents.put("trust", trustKey(needed.file), toStored(needed, options));
}

/**
 * After an edit by Portcullis itself: trust moves from the old content to the new one, if the old one was trusted.
 *
 * @returns whether the new content is trusted now.
 */
export async function carryTrust(
  edit: { readonly file: string; readonly before: string; readonly after: string },
  options: { readonly documents: TrustDocuments; readonly nowMs: number },
): Promise<boolean> {
  const stored = await options.documents.get("trust", trustKey(edit.file));
  if (
    stored === undefined ||
    evaluateTrust(stored.value, { file: edit.file, digest: edit.before }) !== "trusted"
  ) {
    return false;
  }
  const value = toStored({ file: edit.file, digest: edit.after }, { by: "portcullis", nowMs: options.nowMs });
  const written = await options.documents.put("trust", trustKey(edit.file), value, {
    ifVersion: stored.version,
  });
  return written !== undefined;
}

function trustKey(file: string): string {
  return createHash("sha256").update(file).digest("hex");
}

function toStored(
  needed: Pick<TrustNeeded, "file" | "digest">,
  options: { readonly by: "person" | "portcullis"; readonly nowMs: number },
): JsonObject {
  return { file: needed.file, digest: needed.digest, by: options.by, at: options.nowMs };
}

/** What trust is given to, as a person reads it before they give it: that it is code, and exactly which (SEC-14, SEC-15). */
export function describeTrust(servers: readonly string[]): string {
  return `What it starts is code that runs on this machine with all your rights: dangerous where you do not know it. It would start or reach:\n  ${servers.join("\n  ")}`;
}

/**
 * What the file would start or reach, one line for each server, with what to look at twice (SEC-14 to SEC-16).
 */
export function describeServers(config: Config): readonly string[] {
  return [...config.servers.values()].map((server) => {
    const dangers = findDangers(server);
    const name = `${server.name}${server.disabled ? " (disabled)" : ""}`;
    const look = dangers.length === 0 ? "" : `\n    look twice: ${dangers.join("; ")}`;
    return `${name}: ${describeServer(server)}${look}`;
  });
}

/**
 * The exact command with every argument and variable, or the address with its headers. Nothing is cut; texts are quoted, so that
 * control and invisible characters show; literals that look like secrets stay masked.
 */
export function describeServer({ launch }: Pick<ServerConfig, "launch">): string {
  if (launch.kind !== "stdio")
    return `connects to ${quote(launch.url.template)}${listValues("headers", launch.headers)}`;
  const words = [launch.command, ...launch.args].map((text) => quote(text.template)).join(" ");
  return `runs ${words} in ${quote(launch.cwd)}${listValues("variables", launch.env)}`;
}

/** JSON text in which control and invisible characters are escaped. */
function quote(text: string): string {
  return JSON.stringify(text).replaceAll(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u{FE00}-\u{FE0F}\u{E0100}-\u{E01EF}]/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

function listValues(what: string, values: Readonly<Record<string, LateText>>): string {
  const shown = Object.entries(values).map(([name, text]) => `${name}=${quote(text.template)}`);
  return shown.length === 0 ? "" : ` with ${what} ${shown.join(" ")}`;
}

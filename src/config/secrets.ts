/**
 * Late references to text, for one server alone and in one pass: what a reference gives is never read for references again,
 * and text of a server never comes here. The values that references gave are named as secrets, so that redaction by value
 * can be told. No message and no `data` of an error holds a value.
 */
import { readFile, stat } from "node:fs/promises";
import { throwIfAborted, untilAborted } from "../base/abort.ts";
import { PortcullisError } from "../errors.ts";
import type { LateText } from "./compiled.ts";
import { describeFileError, describeNoFile } from "./file-kind.ts";
import { resolveConfigPath, type PathFacts } from "./paths.ts";
import { parseTemplate, type Reference } from "./references.ts";

/** Text with its references resolved. */
export interface ResolvedText {
  readonly value: string;
  /** Values inside `value` that must be shown to nobody; without duplicates, never empty strings. */
  readonly secrets: readonly string[];
}

/** Who asks for a secret. */
export interface SecretRequest {
  readonly reference: Reference;
  /** Name of the server it is for; `null` for the host itself (store, proxy, notifications). */
  readonly server: string | null;
  readonly signal?: AbortSignal;
}

/** A key-management service of the library's user: `undefined` hands the question on to environment and files. */
export type ResolveSecret = (request: SecretRequest) => Promise<string | undefined> | string | undefined;

/** Gives the value of a reference; `undefined`: there is none. */
export interface LateResolver {
  readonly server: string | null;
  lookUp(reference: Reference, signal: AbortSignal | undefined): Promise<string | undefined>;
}

export interface LateResolverOptions extends PathFacts {
  readonly server: string | null;
  /** The environment of this process. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Asked first. */
  readonly resolveSecret?: ResolveSecret;
  /** How `${keychain:NAME}` is answered; without it nothing is found. */
  readonly readKeychain?: (name: string, signal: AbortSignal | undefined) => Promise<string | undefined>;
}

/** The largest file that `${file:PATH}` reads: 64 KiB. */
const MAX_SECRET_FILE_BYTES = 65_536;

/**
 * Names whose values are no secrets although they come from the environment: redacting a home folder or a language
 * everywhere would help nobody.
 */
const PLAIN_NAMES: ReadonlySet<string> = new Set([
  "HOME",
  "USER",
  "LOGNAME",
  "USERNAME",
  "USERPROFILE",
  "PATH",
  "PWD",
  "SHELL",
  "LANG",
  "TZ",
  "TMPDIR",
  "TEMP",
  "TMP",
  "HOSTNAME",
]);

/** Values below this length are not named as secrets: redacting `1` or `on` would garble everything. */
const MIN_SECRET_LENGTH = 4;

/** The resolver of one server: `resolveSecret` first, then the environment, files and the keychain. */
export function createLateResolver(options: LateResolverOptions): LateResolver {
  return {
    server: options.server,
    async lookUp(reference, signal) {
      const request: SecretRequest = {
        reference,
        server: options.server,
        ...(signal === undefined ? {} : { signal }),
      };
      const given = await options.resolveSecret?.(request);
      if (given !== undefined) return given;
      switch (reference.scheme) {
        case "env":
          return readVariable(options.env, reference.name, options.platform);
        case "file":
          return readSecretFile(resolveConfigPath(reference.name, options), reference);
        case "keychain":
          return options.readKeychain?.(reference.name, signal);
      }
    },
  };
}

/** Names of variables are case-insensitive on Windows. */
function readVariable(
  env: Readonly<Record<string, string | undefined>>,
  name: string,
  platform: NodeJS.Platform,
): string | undefined {
  if (Object.hasOwn(env, name)) return env[name];
  if (platform !== "win32") return undefined;
  const key = Object.keys(env).find((candidate) => candidate.toUpperCase() === name.toUpperCase());
  return key === undefined ? undefined : env[key];
}

/** The file's text without one line break at its end. */
async function readSecretFile(path: string, reference: Reference): Promise<string | undefined> {
  try {
    const stats = await stat(path);
    const noFile = describeNoFile(stats);
    if (noFile !== undefined) throw unresolved(reference, noFile);
    if (stats.size > MAX_SECRET_FILE_BYTES)
      throw unresolved(reference, `is larger than ${MAX_SECRET_FILE_BYTES} bytes`);
    return (await readFile(path, "utf8")).replace(/\r?\n$/, "");
  } catch (error) {
    if (error instanceof PortcullisError) throw error;
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw unresolved(reference, describeFileError(error), error);
  }
}

/**
 * Resolves configured text.
 *
 * @param where what the text is for, for example `mcpServers.github.env.TOKEN`: named in the error.
 * @throws PortcullisError `secret_unresolved` that names the reference and the place; the signal's reason.
 */
export async function resolveLate(
  late: LateText,
  resolver: LateResolver,
  where: string,
  signal?: AbortSignal,
): Promise<ResolvedText> {
  const text = late.reveal?.() ?? late.template;
  const parsed = parseTemplate(text);
  if (!parsed.ok) throw new PortcullisError("config_invalid", `${where}: ${parsed.message}`);
  const secrets = new Set<string>();
  let value = "";
  for (const part of parsed.parts) {
    if (part.kind === "text") {
      value += part.text;
      continue;
    }
    const found = await resolveReference(part.reference, resolver, where, signal);
    value += found;
    if (isSecret(part.reference, found)) secrets.add(found);
  }
  // A literal that looks like a secret is one for redaction too, whole and by its parts (`Bearer x`).
  if (late.reveal !== undefined) for (const secret of literalSecrets(value)) secrets.add(secret);
  return { value, secrets: [...secrets] };
}

function isSecret(reference: Reference, value: string): boolean {
  if (value.length < MIN_SECRET_LENGTH || value === reference.fallback) return false;
  return reference.scheme !== "env" || !PLAIN_NAMES.has(reference.name.toUpperCase());
}

function literalSecrets(value: string): readonly string[] {
  return [value, value.replace(/^(?:bearer|basic|token)\s+/i, "")].filter(
    (text) => text.length >= MIN_SECRET_LENGTH,
  );
}

async function resolveReference(
  reference: Reference,
  resolver: LateResolver,
  where: string,
  signal: AbortSignal | undefined,
): Promise<string> {
  throwIfAborted(signal);
  let found: string | undefined;
  try {
    found = await untilAborted(resolver.lookUp(reference, signal), signal);
  } catch (error) {
    throwIfAborted(signal);
    if (error instanceof PortcullisError) {
      throw new PortcullisError(error.code, `${where}: ${error.message}`, { cause: error, data: error.data });
    }
    // The callback's own message may hold anything, a value included: it stays in `cause`.
    throw new PortcullisError(
      "secret_unresolved",
      `${where}: ${describeReference(reference)} could not be looked up`,
      {
        cause: error,
        data: { reference: describeReference(reference), where },
      },
    );
  }
  if (found !== undefined && found !== "") return found;
  if (reference.fallback !== null) return reference.fallback;
  const why = found === undefined ? missingReason(reference) : "is empty";
  throw new PortcullisError("secret_unresolved", `${where}: ${describeReference(reference)} ${why}`, {
    data: { reference: describeReference(reference), where },
  });
}

function missingReason(reference: Reference): string {
  switch (reference.scheme) {
    case "env":
      return "is not set: set the variable where Portcullis starts";
    case "file":
      return "does not exist";
    case "keychain":
      return "is not in the keychain";
  }
}

/** `${env:NAME}` in backticks. */
function describeReference(reference: Reference): string {
  return `\`\${${reference.scheme}:${JSON.stringify(reference.name).slice(1, -1)}}\``;
}

function unresolved(reference: Reference, why: string, cause?: unknown): PortcullisError {
  return new PortcullisError("secret_unresolved", `${describeReference(reference)} ${why}`, {
    cause,
    data: { reference: describeReference(reference) },
  });
}

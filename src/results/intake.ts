/**
 * What a server answered → what a person and a model get. Nothing it says is believed: kinds, types, sizes and depths are
 * checked, known blocks are kept in order, everything else is named and replaced, and no input makes it throw.
 */
import {
  isJsonObject,
  ownProperty,
  parseJson,
  canonicalJson,
  type JsonObject,
  type JsonValue,
} from "../base/json.ts";
import { atOnce, type Sliced } from "../base/slices.ts";
import type { ContentBlock } from "../protocol/types.ts";
import { byteLength, splitAtBytes } from "../text/clean.ts";
import { createRedactor, type Redactor } from "../text/redact.ts";
import { inspection } from "../text/scan.ts";
import type { Finding } from "../vocabulary.ts";
import { placeholder, takeBlock, type Tray } from "./blocks.ts";
import { BYTES_PER_TOKEN, type Channels, type ScanMode, type TextKind, type TextSource } from "./channels.ts";
import { isBase64 } from "./media.ts";
import { checkOutput, type OutputValidator } from "./output-schema.ts";
import { cleanedJson, cleanMeta, measureJson, previewJson, STRUCTURED_LIMITS } from "./structured.ts";

export interface IntakeOptions {
  readonly source: TextSource;
  readonly channels: Channels;
  readonly scan: ScanMode;
  /** Bytes kept inline. Default 1 MiB. */
  readonly maxBytes?: number;
  /** Default 25,000. */
  readonly modelTokens?: number;
  /** Blocks kept inline. Default 1,000. */
  readonly maxBlocks?: number;
  /** Under which the caller will store what does not fit, so that the model can be told; `null`: it is not stored. */
  readonly restId: string | null;
  /** Checks `structuredContent`; `null`: the tool declares no schema. */
  readonly validateOutput?: OutputValidator | null;
  /** Takes known secret values out of everything. */
  readonly redactor?: Pick<Redactor, "redactValues" | "valueRedaction">;
  /** A person has released what was held back. */
  readonly isReleased?: boolean;
}

export interface Intake {
  /** The person's channel: known blocks in order, cleaned, capped. */
  readonly content: readonly ContentBlock[];
  /** Cleaned; absent where there was none or it exceeded a limit. */
  readonly structured?: JsonValue;
  readonly isError: boolean;
  /** The model's channel. */
  readonly model: string;
  /** High findings kept the text out of `model`. */
  readonly isBlocked: boolean;
  readonly findings: readonly Finding[];
  /** What did not fit or was held back, to be stored under `restId` and paged. */
  readonly rest?: Rest;
  /** What was wrong with the form of the result, one plain sentence each, at most 50. */
  readonly problems: readonly string[];
  /** `_meta` of the result, cleaned. */
  readonly meta?: JsonObject;
}

/** What is kept aside. `text` is whole, page 1 included, and raw: it is cleaned and scanned again whenever it is read. */
export interface Rest {
  readonly text: string;
  /** Bytes of a page: what the model gets at once. */
  readonly pageBytes: number;
}

const MIB = 1_048_576;
const MAX_PROBLEMS = 50;
const MAX_FINDINGS = 100;
const NO_SECRETS = createRedactor();

/** `toolResultIntake` without a pause. */
export function intakeToolResult(raw: unknown, options: IntakeOptions): Intake {
  return atOnce(toolResultIntake(raw, options));
}

/** Takes the result of `tools/call` in, in slices where it is large. @param raw the `result` member, as parsed. Never throws. */
export function* toolResultIntake(raw: unknown, options: IntakeOptions): Sliced<Intake> {
  const tray = createTray(options);
  const result: object = isJsonObject(raw) ? raw : {};
  if (!isJsonObject(raw)) tray.problems.push("the result is no object");
  const isError = readIsError(ownProperty(result, "isError"), tray);
  yield* takeContent(ownProperty(result, "content"), options.maxBlocks ?? 1_000, tray);
  const structured = yield* takeStructured(result, tray);
  for (const finding of checkOutput(options.validateOutput ?? null, { isError, ...structured }))
    tray.findings.push(finding);
  if (tray.content.length === 0) sayEmpty(structured, tray);
  const meta = ownProperty(result, "_meta");
  return finish(isError ? "error" : "result", tray, options, isError, structured.structured, meta);
}

/** An empty tray with the room that `options` give. */
export function createTray({
  maxBytes = MIB,
  redactor = NO_SECRETS,
}: Pick<IntakeOptions, "maxBytes" | "redactor">): Tray {
  return {
    roomBytes: maxBytes,
    content: [],
    modelParts: [],
    findings: [],
    problems: [],
    isCut: false,
    redactor,
  };
}

/** Builds the model's channel out of what lies on the tray, and sets the rest aside. */
export function finish(
  kind: TextKind,
  tray: Tray,
  options: IntakeOptions,
  isError: boolean,
  structured: JsonValue | undefined,
  meta: unknown,
): Intake {
  const body = tray.modelParts.length === 1 ? (tray.modelParts[0] ?? "") : tray.modelParts.join("\n\n");
  const maxTokens = options.modelTokens ?? 25_000;
  const findings = tray.findings.length > MAX_FINDINGS ? worstFirst(tray.findings) : tray.findings;
  const {
    text: model,
    isBlocked,
    cutCharacters,
  } = options.channels.modelText(kind, options.source, body, {
    mode: options.scan,
    maxTokens,
    restId: options.restId,
    findings,
    isReleased: options.isReleased ?? false,
  });
  const cleanedMeta = meta === undefined ? undefined : cleanMeta(meta);
  // What is held back is kept as well, so that a person can look at it and release it.
  const hasRest = isBlocked || cutCharacters > 0 || tray.isCut;
  return {
    content: tray.content,
    ...(structured === undefined ? {} : { structured }),
    isError,
    model,
    isBlocked,
    findings,
    ...(hasRest ? { rest: { text: body, pageBytes: Math.floor(maxTokens * BYTES_PER_TOKEN) } } : {}),
    problems: tray.problems.slice(0, MAX_PROBLEMS),
    ...(cleanedMeta === undefined ? {} : { meta: cleanedMeta }),
  };
}

function worstFirst(findings: readonly Finding[]): readonly Finding[] {
  const rank = { high: 0, low: 1, note: 2 };
  return [...findings].sort((one, other) => rank[one.severity] - rank[other.severity]).slice(0, MAX_FINDINGS);
}

/** Only `true` is an error. Absent and `null` are not; anything else is named, because the server meant something by it. */
function readIsError(value: unknown, tray: Tray): boolean {
  if (value === undefined || typeof value === "boolean") return value === true;
  tray.problems.push(
    `isError is ${value === null ? "null" : `a ${typeof value}`} instead of true or false, read as false`,
  );
  if (value !== null) {
    const message = "isError has the wrong type: the tool may have failed all the same";
    tray.findings.push({ rule: "result.is-error", severity: "low", where: "/isError", message });
  }
  return false;
}

function* takeContent(content: unknown, maxBlocks: number, tray: Tray): Sliced<void> {
  if (content === undefined || content === null) {
    tray.problems.push("the result has no content");
    return;
  }
  if (!Array.isArray(content)) {
    tray.problems.push("content is no array; taken as its only block");
    yield* takeBlock(content, "/content", tray);
    return;
  }
  for (let at = 0; at < content.length; at += 1) {
    if (at >= maxBlocks || tray.roomBytes <= 0) {
      yield* keepAside(content.slice(at) as unknown[], tray);
      return;
    }
    // Small blocks come in large numbers as well.
    if (at > 0) yield;
    yield* takeBlock(content[at], `/content/${at}`, tray);
  }
}

/** Blocks beyond the limits: their text can be paged, the rest is counted. */
function* keepAside(blocks: readonly unknown[], tray: Tray): Sliced<void> {
  tray.isCut = true;
  const text = `${blocks.length} more blocks are kept aside`;
  tray.problems.push(text);
  tray.content.push(placeholder("more-blocks", text));
  let others = 0;
  for (const block of blocks) {
    yield;
    const said = isJsonObject(block) ? ownProperty(block, "text") : undefined;
    if (typeof said === "string") tray.modelParts.push(yield* tray.redactor.valueRedaction(said));
    else others += 1;
  }
  if (others > 0) tray.modelParts.push(`[${others} more blocks that are not text]`);
}

interface Structured {
  readonly structured: JsonValue | undefined;
  readonly isWithheld: boolean;
}

/** Larger structured data is gone through in slices, one for each thing that is done with it. */
const LARGE = 65_536;

function* takeStructured(result: object, tray: Tray): Sliced<Structured> {
  const value = ownProperty(result, "structuredContent");
  if (value === undefined) return { structured: undefined, isWithheld: false };
  const limits = { ...STRUCTURED_LIMITS, maxCharacters: Math.max(tray.roomBytes, 0) };
  const measure = measureJson(value, limits);
  if (measure.excess !== null) {
    yield* withholdStructured(value, measure.excess, tray);
    return { structured: undefined, isWithheld: true };
  }
  const isLarge = measure.values * 8 + measure.characters > LARGE;
  if (isLarge) yield;
  const text = JSON.stringify(value);
  if (isLarge) yield;
  const redacted = yield* tray.redactor.valueRedaction(text);
  // What secrets leave behind is JSON still, because none of their forms holds a quotation mark by itself.
  const kept = (redacted === text ? value : (parseJson(redacted) ?? null)) as JsonValue;
  tray.roomBytes -= byteLength(text);
  if (!tray.modelParts.some((part) => says(part, redacted, kept))) {
    for (const finding of yield* inspection(redacted, "/structuredContent")) tray.findings.push(finding);
    if (isLarge) yield;
    tray.modelParts.push(measure.longest > LONG_BINARY ? withoutBinaries(kept, redacted) : redacted);
  }
  if (isLarge) yield;
  return { structured: measure.holdsHidden ? yield* cleanedJson(kept) : kept, isWithheld: false };
}

function* withholdStructured(value: unknown, excess: keyof typeof LIMIT_NAMES, tray: Tray): Sliced<void> {
  tray.problems.push(`structuredContent exceeds the limit of ${LIMIT_NAMES[excess]} and is not kept here`);
  tray.content.push(placeholder("structured", "structured data: too large or too deep to keep here"));
  const isFlat = measureJson(value, { ...STRUCTURED_LIMITS, maxCharacters: Infinity }).excess === null;
  if (!isFlat) {
    tray.modelParts.push(
      `[structured data, its beginning]\n${tray.redactor.redactValues(previewJson(value))}`,
    );
    return;
  }
  yield;
  const whole = JSON.stringify(value);
  yield;
  const text = yield* tray.redactor.valueRedaction(whole);
  for (const finding of yield* inspection(splitAtBytes(text, MIB).head, "/structuredContent"))
    tray.findings.push(finding);
  yield;
  tray.modelParts.push(withoutBinaries(value as JsonValue, text));
}

/** Strings of base64 longer than this are of no use to a model. */
const LONG_BINARY = 1_024;

/** The JSON text for the model: long base64 is only counted. */
function withoutBinaries(value: JsonValue, text: string): string {
  if (text.length <= LONG_BINARY) return text;
  return JSON.stringify(value, (_name, member: unknown) =>
    typeof member === "string" && member.length > LONG_BINARY && isBase64(member)
      ? `[${member.length} characters of base64]`
      : member,
  );
}

const LIMIT_NAMES = { depth: "depth", count: "count of values", size: "size", type: "JSON types" } as const;

/** Larger texts are not parsed to find out whether they say the same. */
const MAX_COMPARED = 65_536;

/** The text block that servers add for older clients says the same as the structured data: the model needs it once. */
function says(part: string, text: string, value: JsonValue): boolean {
  if (part === text) return true;
  const first = part.charCodeAt(0);
  if (
    (first !== 0x7b && first !== 0x5b) ||
    part.length > MAX_COMPARED ||
    part.length < text.length ||
    part.length > text.length * 4
  )
    return false;
  const parsed = parseJson(part);
  if (
    parsed === undefined ||
    measureJson(parsed, { ...STRUCTURED_LIMITS, maxCharacters: MAX_COMPARED }).excess !== null
  )
    return false;
  return canonicalJson(parsed) === canonicalJson(value);
}

function sayEmpty({ structured }: Structured, tray: Tray): void {
  if (structured !== undefined) {
    const text = JSON.stringify(structured, null, 2);
    tray.content.push({ type: "text", text, _meta: { "portcullis/placeholder": "structured" } });
    return;
  }
  tray.content.push(placeholder("empty", "the tool returned nothing"));
  if (tray.modelParts.length === 0) tray.modelParts.push("[the tool returned nothing]");
}

/**
 * One content block of a server → what a person gets, what the model is told, what is kept aside. Known kinds keep their order
 * and their form; everything else becomes a placeholder that says what it was. Nothing is opened, nothing is decoded whole.
 */
import type { JsonObject } from "../base/json.ts";
import type { Sliced } from "../base/slices.ts";
import type { ContentBlock, ResourceContents, TextContent } from "../protocol/types.ts";
import { byteLength, cleanDataInSlices, oneLine, splitAtBytes, visibleSample } from "../text/clean.ts";
import type { Redactor } from "../text/redact.ts";
import { inspection, inspectText } from "../text/scan.ts";
import type { Finding } from "../vocabulary.ts";
import { checkUri, safeName } from "./links.ts";
import { checkMedia, cleanMimeType, decodedBytes, isBase64 } from "./media.ts";
import { cleanAnnotations, cleanMeta } from "./structured.ts";

/** What is read while the blocks of one result are taken; `takeBlock` writes to it. */
export interface Tray {
  /** Bytes that may still be kept inline. */
  roomBytes: number;
  readonly content: ContentBlock[];
  /** Raw text for the model, joined by blank lines. */
  readonly modelParts: string[];
  readonly findings: Finding[];
  readonly problems: string[];
  /** Text was cut at the inline cap. */
  isCut: boolean;
  /** Takes known secret values out. */
  readonly redactor: Pick<Redactor, "redactValues" | "valueRedaction">;
}

/** Marks blocks of ours among those of the server. */
export const PLACEHOLDER = "portcullis/placeholder";

export function placeholder(reason: string, text: string): TextContent {
  return { type: "text", text: `[${text}]`, _meta: { [PLACEHOLDER]: reason } };
}

/** In slices where its text is long. @param where JSON pointer of the block. */
export function* takeBlock(raw: unknown, where: string, tray: Tray): Sliced<void> {
  if (typeof raw === "string") {
    tray.problems.push(`${where}: a bare string instead of a block`);
    yield* takeText(raw, {}, where, tray);
    return;
  }
  if (typeof raw !== "object" || raw === null || Array.isArray(raw)) {
    replace(
      tray,
      where,
      "not-a-block",
      `no content block: ${raw === null ? "null" : Array.isArray(raw) ? "array" : typeof raw}`,
    );
    return;
  }
  const block = raw as Readonly<Record<string, unknown>>;
  switch (block["type"]) {
    case "text":
      if (typeof block["text"] === "string") yield* takeText(block["text"], block, where, tray);
      else replace(tray, where, "text", "a text block without text");
      return;
    case "image":
    case "audio":
      takeMedia(block["type"], block, where, tray);
      return;
    case "resource_link":
      takeLink(block, where, tray);
      return;
    case "resource":
      yield* takeResource(block, where, tray);
      return;
    case undefined:
      replace(tray, where, "untyped", "a block without a type");
      return;
    default:
      replace(tray, where, "unknown", `a block of the unknown type ${nameValue(block["type"])}`);
  }
}

/** A value of a server for a sentence of ours; never through `String`, which calls what the value brings with it. */
function nameValue(value: unknown): string {
  return typeof value === "string"
    ? visibleSample(value, 40)
    : value === null
      ? "null"
      : Array.isArray(value)
        ? "an array"
        : typeof value;
}

function replace(tray: Tray, where: string, reason: string, text: string): void {
  tray.problems.push(`${where}: ${text}`);
  tray.content.push(placeholder(reason, text));
  tray.modelParts.push(`[${text}]`);
}

/** `annotations` and `_meta` as far as they are fit to be kept. */
function extras(block: Readonly<Record<string, unknown>>): { annotations?: JsonObject; _meta?: JsonObject } {
  const annotations = block["annotations"] === undefined ? undefined : cleanAnnotations(block["annotations"]);
  const meta = block["_meta"] === undefined ? undefined : cleanMeta(block["_meta"]);
  return {
    ...(annotations === undefined ? {} : { annotations }),
    ...(meta === undefined ? {} : { _meta: meta }),
  };
}

function* takeText(
  raw: string,
  block: Readonly<Record<string, unknown>>,
  where: string,
  tray: Tray,
): Sliced<void> {
  const text = yield* tray.redactor.valueRedaction(raw);
  tray.modelParts.push(text);
  const shown = yield* fitText(text, where, tray);
  tray.content.push({ type: "text", text: shown, ...extras(block) });
}

/** Scans, cleans and cuts a text to the room that is left; says so in a block of its own where it was cut. */
function* fitText(text: string, where: string, tray: Tray): Sliced<string> {
  const { head, tail } = splitAtBytes(text, tray.roomBytes);
  tray.roomBytes -= byteLength(head);
  for (const finding of yield* inspection(head, `${where}/text`)) tray.findings.push(finding);
  if (tail !== "") {
    tray.isCut = true;
    tray.problems.push(`${where}: cut, ${tail.length} characters are kept aside`);
  }
  return yield* cleanDataInSlices(head);
}

function takeMedia(
  kind: "image" | "audio",
  block: Readonly<Record<string, unknown>>,
  where: string,
  tray: Tray,
): void {
  const { data, mimeType: declared } = block;
  const size = typeof data === "string" ? data.length : 0;
  if (typeof data === "string" && size > tray.roomBytes) {
    const mimeType = cleanMimeType(declared);
    const text = `${kind} of type ${mimeType}, ${describeBytes(decodedBytes(data))}: too large to keep here`;
    replace(tray, where, "too-large", text);
    return;
  }
  const verdict = checkMedia(kind, data, declared);
  if (!verdict.ok) {
    replace(
      tray,
      where,
      `bad-${kind}`,
      `${kind} withheld: ${verdict.reason} (declared as ${nameValue(declared)})`,
    );
    return;
  }
  const { mimeType, bytes, differs } = verdict.media;
  if (differs)
    tray.problems.push(`${where}: declared as ${nameValue(declared)}, but its bytes are ${mimeType}`);
  tray.roomBytes -= size;
  tray.content.push({ type: kind, data: data as string, mimeType, ...extras(block) });
  tray.modelParts.push(`[${kind} of type ${mimeType}, ${describeBytes(bytes)}: not shown here]`);
}

function takeLink(block: Readonly<Record<string, unknown>>, where: string, tray: Tray): void {
  const verdict = checkUri(redactAny(block["uri"], tray));
  const name = safeName(redactAny(block["name"], tray));
  if (!verdict.ok) {
    tray.findings.push({
      rule: "link.scheme",
      severity: "low",
      where,
      message: `links to an address with the scheme ${verdict.scheme}`,
    });
    replace(tray, where, "bad-link", `link “${name}” withheld: its address begins with ${verdict.scheme}`);
    return;
  }
  if (verdict.finding !== null) tray.findings.push({ ...verdict.finding, where });
  const { title, description, size, mimeType } = block;
  const said = (value: unknown): string | undefined =>
    typeof value === "string" ? oneLine(tray.redactor.redactValues(value), 500) : undefined;
  const shownTitle = said(title);
  const shownDescription = said(description);
  const texts = [name, shownTitle, shownDescription].filter((text) => text !== undefined).join("\n");
  for (const finding of inspectText(texts, where)) tray.findings.push(finding);
  const kept = extras(block);
  const meta = verdict.isLocal ? { ...kept._meta, "portcullis/local-file": true } : kept._meta;
  tray.roomBytes -= verdict.uri.length + texts.length;
  tray.content.push({
    type: "resource_link",
    uri: verdict.uri,
    name,
    ...(shownTitle === undefined ? {} : { title: shownTitle }),
    ...(shownDescription === undefined ? {} : { description: shownDescription }),
    ...(mimeType === undefined ? {} : { mimeType: cleanMimeType(mimeType) }),
    ...(typeof size === "number" && size >= 0 && Number.isFinite(size) ? { size } : {}),
    ...(kept.annotations === undefined ? {} : { annotations: kept.annotations }),
    ...(meta === undefined ? {} : { _meta: meta }),
  });
  const about = shownDescription === undefined ? "" : `: ${shownDescription}`;
  tray.modelParts.push(`[link “${name}” to ${verdict.uri}, not opened${about}]`);
}

function redactAny(value: unknown, tray: Tray): unknown {
  return typeof value === "string" ? tray.redactor.redactValues(value) : value;
}

function* takeResource(block: Readonly<Record<string, unknown>>, where: string, tray: Tray): Sliced<void> {
  const raw = block["resource"];
  if (typeof raw !== "object" || raw === null || Array.isArray(raw)) {
    replace(tray, where, "resource", "an embedded resource without content");
    return;
  }
  const contents = yield* takeResourceContents(
    raw as Readonly<Record<string, unknown>>,
    `${where}/resource`,
    tray,
  );
  if (contents === null) return;
  tray.content.push({ type: "resource", resource: contents, ...extras(block) });
}

/**
 * The contents of a resource, embedded or read; `null` where a placeholder was put in their place.
 * @param where JSON pointer of the contents.
 */
export function* takeResourceContents(
  resource: Readonly<Record<string, unknown>>,
  where: string,
  tray: Tray,
): Sliced<ResourceContents | null> {
  const verdict = checkUri(redactAny(resource["uri"], tray));
  if (!verdict.ok) {
    tray.findings.push({
      rule: "link.scheme",
      severity: "low",
      where,
      message: `has an address with the scheme ${verdict.scheme}`,
    });
  } else if (verdict.finding !== null && verdict.isLocal) tray.findings.push({ ...verdict.finding, where });
  const uri = verdict.ok ? verdict.uri : `about:blank#${verdict.scheme}`;
  const mimeType = resource["mimeType"] === undefined ? undefined : cleanMimeType(resource["mimeType"]);
  const meta = resource["_meta"] === undefined ? undefined : cleanMeta(resource["_meta"]);
  const common = {
    uri,
    ...(mimeType === undefined ? {} : { mimeType }),
    ...(meta === undefined ? {} : { _meta: meta }),
  };
  const { text, blob } = resource;
  if (typeof text === "string") {
    const redacted = yield* tray.redactor.valueRedaction(text);
    tray.modelParts.push(`[resource ${uri}]\n${redacted}`);
    return { ...common, text: yield* fitText(redacted, where, tray) };
  }
  if (typeof blob !== "string") {
    replace(tray, where, "resource", `resource ${uri} with neither text nor data`);
    return null;
  }
  const shownType = mimeType ?? "application/octet-stream";
  if (blob.length > tray.roomBytes) {
    replace(
      tray,
      where,
      "too-large",
      `resource ${uri} of type ${shownType}, ${describeBytes(decodedBytes(blob))}: too large to keep here`,
    );
    return null;
  }
  if (!isBase64(blob)) {
    replace(tray, where, "resource", `resource ${uri} withheld: its data is not base64`);
    return null;
  }
  tray.roomBytes -= blob.length;
  tray.modelParts.push(
    `[resource ${uri} of type ${shownType}, ${describeBytes(decodedBytes(blob))}: not shown here]`,
  );
  return { ...common, blob };
}

/** `12 bytes`, `3.4 KB`, `20 MB`. */
export function describeBytes(bytes: number): string {
  if (bytes < 1_000) return `${bytes} bytes`;
  const [size, unit] = bytes < 1_000_000 ? [bytes / 1_000, "KB"] : [bytes / 1_000_000, "MB"];
  return `${size < 10 ? size.toFixed(1) : Math.round(size)} ${unit}`;
}

/**
 * The catalog of one connection, from lists as they were received. Linear in their size. One bad item is quarantined with its
 * reason and touches no other; equal definitions of the last catalog are not judged again.
 */
import { throwIfAborted } from "../base/abort.ts";
import { isJsonObject, ownProperty, type JsonObject } from "../base/json.ts";
import { cleanForModel, cleanForPerson, clip, oneLine } from "../text/clean.ts";
import { scanText } from "../text/scan.ts";
import type { ConnectionKey, Finding } from "../vocabulary.ts";
import type {
  Catalog,
  InstructionsEntry,
  ItemKind,
  ListName,
  PromptArgumentEntry,
  PromptEntry,
  QuarantinedItem,
  ResourceEntry,
  ToolEntry,
} from "./entry.ts";
import { copyWithin } from "../jsonschema/bounds.ts";
import { pinOfText } from "./pins.ts";
import { definitionBytes, judgeToolItem, type ToolItemOptions } from "./tool-item.ts";

interface CatalogLimits {
  /** Default 2,000 of each kind. */
  readonly items: number;
  /** Quarantined items kept one by one; the rest is counted. Default 2,000. */
  readonly quarantined: number;
  /** Definitions of all tools together, as JSON text. Default 32 MiB. */
  readonly bytes: number;
}

const DEFAULT_CATALOG_LIMITS: CatalogLimits = {
  items: 2_000,
  quarantined: 2_000,
  bytes: 32 * 1024 * 1024,
};

export interface CatalogInput {
  readonly key: ConnectionKey;
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
  /** Items as they were parsed: unknown JSON. */
  readonly tools?: readonly unknown[];
  readonly resources?: readonly unknown[];
  readonly templates?: readonly unknown[];
  readonly prompts?: readonly unknown[];
  readonly instructions?: unknown;
  readonly partial?: readonly ListName[];
  /** What was found while the lists were read. */
  readonly findings?: readonly Finding[];
  /** What was refused before and is not in the lists any more. */
  readonly held?: readonly QuarantinedItem[];
}

export interface CatalogOptions extends ToolItemOptions {
  readonly limits?: Partial<CatalogLimits>;
  readonly previous?: Catalog | undefined;
}

const MAX_ITEM_BYTES = 64 * 1024;
const MAX_TEXT = 8_000;
const MAX_INSTRUCTIONS = 32_000;
const MAX_RAW_INSTRUCTIONS = 256 * 1024;
const MAX_PROMPT_ARGUMENTS = 100;

/** At once: for small lists and tests. A list of ordinary tools takes about 0.1 ms per tool. */
export function buildCatalog(input: CatalogInput, options: CatalogOptions = {}): Catalog {
  const building = catalogSteps(input, options);
  let step = building.next();
  while (step.done !== true) step = building.next();
  return step.value;
}

/** Work between two turns of the event loop, in bytes of definitions and in items. */
const SLICE_BYTES = 48 * 1024;
const ITEM_BYTES = 1024;

/** The same in slices of some milliseconds, so that no list of a server holds the event loop. @throws the reason of `signal`. */
export async function buildCatalogInSlices(
  input: CatalogInput,
  options: CatalogOptions = {},
  signal?: AbortSignal,
): Promise<Catalog> {
  const building = catalogSteps(input, options);
  let bytes = 0;
  for (let step = building.next(); ; step = building.next()) {
    if (step.done === true) return step.value;
    bytes += step.value + ITEM_BYTES;
    if (bytes < SLICE_BYTES) continue;
    bytes = 0;
    await new Promise<void>((resolve) => setImmediate(resolve));
    throwIfAborted(signal);
  }
}

/** Yields after every item how many bytes it was. */
function* catalogSteps(input: CatalogInput, options: CatalogOptions): Generator<number, Catalog> {
  const limits = { ...DEFAULT_CATALOG_LIMITS, ...options.limits };
  const { server } = input.key;
  const findings: Finding[] = [...(input.findings ?? [])].slice(0, 500);
  const quarantined: QuarantinedItem[] = [];
  let uncounted = 0;
  const hold = (item: QuarantinedItem): void => {
    if (quarantined.length < limits.quarantined) quarantined.push(item);
    else uncounted += 1;
  };
  for (const item of input.held ?? []) hold(item);

  const tools: ToolEntry[] = [];
  let bytes = 0;
  const names = new Set<string>();
  const known =
    options.previous === undefined
      ? undefined
      : new Map(options.previous.tools.map((tool) => [tool.name, tool]));
  for (const [index, value] of (input.tools ?? []).entries()) {
    const size = sizeOf(value, definitionBytes(options));
    bytes += size;
    yield size;
    if (tools.length >= limits.items || bytes > limits.bytes) {
      const name = isJsonObject(value) ? ownProperty(value, "name") : undefined;
      const reason = `more than ${limits.items} tools or ${limits.bytes} bytes: this one is left out`;
      const isName = typeof name === "string" && name.length <= 512;
      hold({
        kind: "tool",
        server,
        name: isName ? name : null,
        index,
        quarantine: { code: "limit", reason },
        raw: null,
      });
      continue;
    }
    const verdict = judgeToolItem(server, value, options, known);
    if (!verdict.ok) {
      hold({
        kind: "tool",
        server,
        name: verdict.name,
        index,
        quarantine: verdict.quarantine,
        raw: verdict.raw,
      });
    } else if (names.has(verdict.entry.name)) {
      const quarantine = {
        code: "duplicate_name",
        reason: "a tool of this name came before: the first one is used",
      } as const;
      hold({ kind: "tool", server, name: verdict.entry.name, index, quarantine, raw: verdict.entry.raw });
      findings.push({
        rule: "catalog.duplicate-name",
        severity: "low",
        where: `tools/${index}`,
        message: `${oneLine(verdict.entry.name, 80)} came twice`,
      });
    } else {
      names.add(verdict.entry.name);
      tools.push(verdict.entry);
    }
  }

  const collect = function* <Entry>(
    kind: ItemKind,
    values: readonly unknown[],
    judge: (value: JsonObject) => Entry | string,
  ): Generator<number, Entry[]> {
    const entries: Entry[] = [];
    const seen = new Set<string>();
    for (const [index, value] of values.entries()) {
      yield sizeOf(value, MAX_ITEM_BYTES);
      const refuse = (code: QuarantinedItem["quarantine"]["code"], reason: string): void => {
        hold({ kind, server, name: null, index, quarantine: { code, reason }, raw: null });
      };
      if (!isJsonObject(value)) refuse("not_an_object", "the item is not an object");
      else if (entries.length >= limits.items)
        refuse("limit", `more than ${limits.items}: this one is left out`);
      else if (!copyWithin(value, MAX_ITEM_BYTES).ok)
        refuse("limit", `it is larger than ${MAX_ITEM_BYTES / 1024} KiB or nested too deeply`);
      else {
        const entry = judge(value);
        const identity =
          kind === "resource"
            ? ownProperty(value, "uri")
            : ownProperty(value, kind === "template" ? "uriTemplate" : "name");
        if (typeof entry === "string") refuse("bad_definition", entry);
        else if (seen.has(String(identity)))
          refuse("duplicate_name", "one like it came before: the first one is used");
        else {
          seen.add(String(identity));
          entries.push(entry);
        }
      }
    }
    return entries;
  };

  const catalog: Catalog = {
    key: input.key,
    tools,
    resources: yield* collect("resource", input.resources ?? [], (value) =>
      judgeResource(server, "resource", value),
    ),
    templates: yield* collect("template", input.templates ?? [], (value) =>
      judgeResource(server, "template", value),
    ),
    prompts: yield* collect("prompt", input.prompts ?? [], (value) => judgePrompt(server, value)),
    quarantined,
    instructions: judgeInstructions(input.instructions, findings),
    findings,
    partial: input.partial ?? [],
    receivedAt: input.receivedAt,
  };
  if (uncounted > 0) {
    findings.push({
      rule: "catalog.more-quarantined",
      severity: "low",
      where: "",
      message: `${uncounted} more items were left out`,
    });
  }
  return catalog;
}

function sizeOf(value: unknown, maxBytes: number): number {
  const copied = copyWithin(value, maxBytes);
  return copied.ok ? copied.bytes : maxBytes;
}

interface Texts {
  readonly title: string | null;
  readonly description: string | null;
  readonly findings: readonly Finding[];
}

/** Title and description of anything that is listed; a text of the wrong type is an error of the whole item. */
function readTexts(value: JsonObject): Texts | string {
  const findings: Finding[] = [];
  for (const name of ["title", "description"]) {
    const text = ownProperty(value, name);
    if (text === undefined || text === null) continue;
    if (typeof text !== "string") return `its ${name} is not a string`;
    findings.push(...scanText(text, `/${name}`));
  }
  const title = ownProperty(value, "title");
  const description = ownProperty(value, "description");
  return {
    title: typeof title === "string" && title !== "" ? oneLine(title) : null,
    description:
      typeof description === "string" && description !== ""
        ? clip(cleanForPerson(description), MAX_TEXT)
        : null,
    findings,
  };
}

function judgeResource(
  server: string,
  kind: "resource" | "template",
  value: JsonObject,
): ResourceEntry | string {
  const uri = ownProperty(value, kind === "resource" ? "uri" : "uriTemplate");
  if (typeof uri !== "string" || uri === "")
    return kind === "resource" ? "it has no `uri`" : "it has no `uriTemplate`";
  if (uri.length > 4_096) return "its address is longer than 4,096 characters";
  if (/[\u0000-\u001f\u007f]/.test(uri)) return "its address holds control characters";
  const texts = readTexts(value);
  if (typeof texts === "string") return texts;
  const name = ownProperty(value, "name");
  const mimeType = ownProperty(value, "mimeType");
  return {
    kind,
    server,
    uri,
    name: oneLine(typeof name === "string" && name !== "" ? name : uri),
    ...texts,
    mimeType: typeof mimeType === "string" ? oneLine(mimeType, 100) : null,
    raw: value,
  };
}

function judgePrompt(server: string, value: JsonObject): PromptEntry | string {
  const name = ownProperty(value, "name");
  if (typeof name !== "string" || name === "") return "it has no name";
  if (name.length > 512 || /[\u0000-\u001f\u007f]/.test(name))
    return "its name is too long or holds control characters";
  const texts = readTexts(value);
  if (typeof texts === "string") return texts;
  const list = ownProperty(value, "arguments") ?? [];
  if (!Array.isArray(list)) return "its arguments are not a list";
  if (list.length > MAX_PROMPT_ARGUMENTS) return `it has more than ${MAX_PROMPT_ARGUMENTS} arguments`;
  const read: PromptArgumentEntry[] = [];
  const findings: Finding[] = [...texts.findings];
  for (const item of list as readonly unknown[]) {
    const argumentName = isJsonObject(item) ? ownProperty(item, "name") : undefined;
    if (!isJsonObject(item) || typeof argumentName !== "string" || argumentName === "")
      return "an argument of it has no name";
    const description = ownProperty(item, "description");
    const isText = typeof description === "string";
    if (isText) findings.push(...scanText(description, "/arguments"));
    read.push({
      name: argumentName,
      description: isText ? clip(cleanForPerson(description), MAX_TEXT) : null,
      isRequired: ownProperty(item, "required") === true,
    });
  }
  return { kind: "prompt", server, name, ...texts, findings, arguments: read, raw: value };
}

function judgeInstructions(value: unknown, findings: Finding[]): InstructionsEntry | null {
  if (value === undefined || value === null || value === "") return null;
  if (typeof value !== "string") {
    findings.push({
      rule: "catalog.instructions",
      severity: "low",
      where: "/instructions",
      message: "the instructions are not a string",
    });
    return null;
  }
  const cut = value.slice(0, MAX_INSTRUCTIONS);
  if (cut.length < value.length) {
    findings.push({
      rule: "catalog.instructions",
      severity: "low",
      where: "/instructions",
      message: "the instructions are too long and were cut",
    });
  }
  return {
    raw: value.slice(0, MAX_RAW_INSTRUCTIONS),
    text: cleanForPerson(cut),
    modelText: cleanForModel(cut),
    pin: pinOfText(value),
    findings: scanText(cut, "/instructions"),
  };
}

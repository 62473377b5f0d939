/**
 * One page of a list, cleaned: a bad item is left out and named, never the page. Pure. Unknown members pass through.
 *
 * What is checked is only what every reader relies on: the identity of an item, and that its texts are texts. Schemas,
 * names for models and contents are judged by the registry.
 */
import { isJsonObject, ownProperty, type JsonObject, type JsonValue } from "../base/json.ts";
import type { ListKind } from "../protocol/methods.ts";
import type { Prompt, Resource, ResourceTemplate, Tool } from "../protocol/types.ts";
import { oneLine } from "../text/clean.ts";
import type { Finding } from "../vocabulary.ts";

/** The item type of each kind. */
export interface ListItems {
  readonly tools: Tool;
  readonly prompts: Prompt;
  readonly resources: Resource;
  readonly resourceTemplates: ResourceTemplate;
}

export interface CleanPage<Kind extends ListKind> {
  readonly items: readonly ListItems[Kind][];
  /** The items that were looked at, good and bad, as they came: for whoever judges them again and names what is left out. */
  readonly raw: readonly JsonValue[];
  /** About single items where `where` names one, such as `tools/3`; about the list where it is the kind. */
  readonly findings: readonly Finding[];
  /** Absent at the end. `""` is a cursor like any other. */
  readonly nextCursor?: string;
}

export interface PageContext {
  /** Identities of earlier pages; those of this one are added. */
  readonly seen: Set<string>;
  /** How many more items may be taken. */
  readonly room: number;
}

interface KindRules {
  /** The member that names an item within its kind. */
  readonly identity: string;
  readonly requiredText: readonly string[];
  readonly optionalText: readonly string[];
}

const RULES: Readonly<Record<ListKind, KindRules>> = {
  tools: { identity: "name", requiredText: [], optionalText: ["title", "description"] },
  prompts: { identity: "name", requiredText: [], optionalText: ["title", "description"] },
  resources: { identity: "uri", requiredText: ["name"], optionalText: ["title", "description", "mimeType"] },
  resourceTemplates: {
    identity: "uriTemplate",
    requiredText: ["name"],
    optionalText: ["title", "description", "mimeType"],
  },
};

/** Members that must be objects where they are there. */
const OBJECT_MEMBERS = ["annotations", "_meta", "outputSchema", "execution"] as const;
const MAX_IDENTITY_LENGTH = 2_048;
/** One item as JSON text; larger ones are left out. */
const MAX_ITEM_LENGTH = 512 * 1024;
/** Findings of one page; what is beyond is counted in the last one. */
const MAX_FINDINGS = 50;
/** Bad items of one page; a list with more is not read to its end. */
const MAX_BAD_ITEMS = 2_000;

/** @returns the cleaned page, or `undefined` where the result is not a list of this kind at all. */
export function cleanPage<Kind extends ListKind>(
  kind: Kind,
  result: JsonObject,
  context: PageContext,
): CleanPage<Kind> | undefined {
  const raw = ownProperty(result, kind);
  if (!Array.isArray(raw)) return undefined;
  const items: ListItems[Kind][] = [];
  const findings: Finding[] = [];
  let unreported = 0;
  let looked = 0;
  const report = (finding: Finding): void => {
    if (findings.length < MAX_FINDINGS) findings.push(finding);
    else unreported += 1;
  };
  for (const [index, value] of (raw as JsonValue[]).entries()) {
    if (items.length >= context.room || index - items.length >= MAX_BAD_ITEMS) {
      const message = `only the first items are used; ${raw.length - index} more of this page were left out`;
      findings.push(finding("catalog.too-many", kind, message));
      break;
    }
    looked = index + 1;
    const item = cleanItem(kind, value, `${kind}/${index}`, context.seen, report);
    if (item !== undefined) items.push(item as unknown as ListItems[Kind]);
  }
  if (unreported > 0)
    findings.push(finding("catalog.more-findings", kind, `${unreported} more findings were left out`));
  const nextCursor = ownProperty(result, "nextCursor");
  return {
    items,
    raw: looked === raw.length ? (raw as JsonValue[]) : (raw.slice(0, looked) as JsonValue[]),
    findings,
    ...(typeof nextCursor === "string" ? { nextCursor } : {}),
  };
}

function cleanItem(
  kind: ListKind,
  value: JsonValue,
  where: string,
  seen: Set<string>,
  report: (finding: Finding) => void,
): JsonObject | undefined {
  const rules = RULES[kind];
  const refuse = (message: string): undefined => {
    report(finding("catalog.bad-item", where, message));
    return undefined;
  };
  if (!isJsonObject(value)) return refuse("the item is not an object; it was left out");
  const identity = ownProperty(value, rules.identity);
  if (typeof identity !== "string" || identity === "")
    return refuse(`the item has no ${rules.identity}; it was left out`);
  const shown = oneLine(identity, 80);
  if (identity.length > MAX_IDENTITY_LENGTH)
    return refuse(`the ${rules.identity} of \`${shown}\` is too long; it was left out`);
  if (JSON.stringify(value).length > MAX_ITEM_LENGTH)
    return refuse(`\`${shown}\` is larger than 512 KiB; it was left out`);
  if (kind === "tools" && !isJsonObject(ownProperty(value, "inputSchema"))) {
    return refuse(`the tool \`${shown}\` has no inputSchema object; it was left out`);
  }
  if (seen.has(identity)) {
    report(finding("catalog.duplicate-name", where, `\`${shown}\` came twice; the first one is used`));
    return undefined;
  }
  seen.add(identity);
  const item = dropBadMembers(kind, value, rules, where, shown, report);
  for (const name of rules.requiredText) {
    // Resources without a name are common and harmless: their address names them.
    if (typeof ownProperty(item, name) !== "string") item[name] = identity;
  }
  return item;
}

function dropBadMembers(
  kind: ListKind,
  value: JsonObject,
  rules: KindRules,
  where: string,
  shown: string,
  report: (finding: Finding) => void,
): JsonObject {
  const item: JsonObject = { ...value };
  const drop = (name: string): void => {
    report(
      finding("catalog.bad-member", where, `\`${name}\` of \`${shown}\` has the wrong type; it was ignored`),
    );
    delete item[name];
  };
  for (const name of rules.optionalText) {
    if (Object.hasOwn(item, name) && typeof item[name] !== "string") drop(name);
  }
  for (const name of OBJECT_MEMBERS) {
    if (Object.hasOwn(item, name) && !isJsonObject(item[name])) drop(name);
  }
  if (Object.hasOwn(item, "icons") && !isListOf(item["icons"], "src")) drop("icons");
  if (kind === "prompts" && Object.hasOwn(item, "arguments") && !isListOf(item["arguments"], "name"))
    drop("arguments");
  return item;
}

/** Whether every member of a list is an object that has `name` as text. */
function isListOf(value: JsonValue | undefined, name: string): boolean {
  return (
    Array.isArray(value) &&
    value.every((entry) => isJsonObject(entry) && typeof ownProperty(entry, name) === "string")
  );
}

function finding(rule: string, where: string, message: string): Finding {
  return {
    rule,
    severity: rule === "catalog.bad-item" || rule === "catalog.duplicate-name" ? "low" : "note",
    where,
    message,
  };
}

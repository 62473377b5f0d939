/**
 * A first proposal of grades for the tools of a new server, from names, schemas and what the server claims: for a person to
 * look at, never applied by itself. In doubt it says L2.
 */
import { isJsonObject, ownProperty } from "../base/json.ts";
import type { Label } from "../config/compiled.ts";
import { higherGrade, type Grade } from "../vocabulary.ts";
import { raiseByClaim, readClaim } from "./annotations.ts";

export interface SuggestionInput {
  readonly name: string;
  readonly annotations: unknown;
  readonly inputSchema: unknown;
}

export interface Suggestion {
  readonly name: string;
  readonly grade: Exclude<Grade, "off">;
  /** For L1: the tool of the same server that seems to take it back. */
  readonly undo: string | null;
  readonly labels: readonly Label[];
  /** Plain sentences; never empty. */
  readonly reasons: readonly string[];
}

const words = (list: string): ReadonlySet<string> => new Set(list.split(/\s+/));

const READS = words(
  `browse check compare count describe diff download echo estimate explain export fetch find get head info inspect list load
  lookup peek preview query read resolve retrieve scan search select show stat stats status summarize tail test tree validate
  verify view whoami`,
);
const IRREVERSIBLE = words(
  `delete destroy drop erase purge remove wipe truncate terminate uninstall unpublish revoke deactivate ban kick kill format reset
  rollback overwrite prune`,
);
/** Money, law and running whatever comes: as the verb of the name only, since they are nouns as well. */
const GRAVE = words(
  `book buy charge checkout deploy eval exec execute invoke order pay purchase refund run sell sign spawn submit transfer withdraw wire`,
);
const OUTWARD = words(`email mail message notify post publish reply send share tweet upload forward invite`);
const WRITES = words(
  `accept add append apply approve archive assign attach cancel clear clone close comment commit copy create disable edit enable
  fork import insert install label lock make mark merge move new open patch pin push put register rename reopen replace request
  restart restore save schedule set star start stop subscribe sync tag unarchive unassign unlock unpin unstar unsubscribe update
  upsert write`,
);
const TAKEN_BACK: Readonly<Record<string, readonly string[]>> = {
  create: ["delete", "close", "remove", "archive"],
  add: ["remove", "delete"],
  open: ["close"],
  reopen: ["close"],
  close: ["reopen", "open"],
  star: ["unstar"],
  pin: ["unpin"],
  lock: ["unlock"],
  archive: ["unarchive", "restore"],
  assign: ["unassign"],
  subscribe: ["unsubscribe"],
  enable: ["disable"],
  disable: ["enable"],
  insert: ["delete", "remove"],
};

const MONEY = /^(amount|price|total|currency|iban|card(_?number)?|account(_?number)?)$/i;
const COMMAND = /^(command|cmd|script|code|shell|sql|statement)$/i;
const RECIPIENT = /^(to|cc|bcc|recipients?|email|channel|webhook)$/i;
const ADDRESS = /^(url|uri|endpoint|host)$/i;

/** One proposal per tool, in the order given. */
export function suggestGrades(tools: readonly SuggestionInput[]): readonly Suggestion[] {
  const names = new Map(tools.map(({ name }) => [wordsOf(name).join(" "), name]));
  return tools.map((tool) => suggest(tool, names));
}

function suggest(tool: SuggestionInput, names: ReadonlyMap<string, string>): Suggestion {
  const parts = wordsOf(tool.name);
  const byName = gradeByName(parts);
  const reasons = [byName.reason];
  let { grade } = byName;
  const raise = (to: Exclude<Grade, "off">, reason: string): void => {
    if (higherGrade(grade, to) === grade) return;
    grade = to;
    reasons.push(reason);
  };
  const labels: Label[] = [];
  for (const name of argumentsOf(tool.inputSchema)) {
    if (MONEY.test(name)) raise("L3", `the argument \`${clip(name)}\` looks like money`);
    if (COMMAND.test(name))
      raise(
        "L2",
        `the argument \`${clip(name)}\` looks like something to run: a guard or a condition may help`,
      );
    if (RECIPIENT.test(name) && grade !== "L0")
      raise("L2", `the argument \`${clip(name)}\` looks like a recipient`);
    if (ADDRESS.test(name) && !labels.includes("external")) labels.push("external");
  }
  const undo = byName.grade === "L2" && grade === "L2" ? findUndo(parts, names) : null;
  if (undo !== null) {
    grade = "L1";
    reasons.push(`\`${clip(undo)}\` seems to take it back`);
  }
  const claim = readClaim(tool.annotations);
  const claimed = raiseByClaim(tool.annotations, claim);
  if (claimed !== null && claimed.grade !== "off") raise(claimed.grade, claimed.reason.message);
  if (claim.isStated && claim.readOnly && grade !== "L0")
    reasons.push("the server itself says that it only reads, which nobody has checked");
  return { name: tool.name, grade, undo: grade === "L1" ? undo : null, labels, reasons };
}

function gradeByName(parts: readonly string[]): {
  readonly grade: Exclude<Grade, "off">;
  readonly reason: string;
} {
  const [first = ""] = parts;
  const last = parts.at(-1) ?? "";
  const grave = [first, last].find((word) => GRAVE.has(word));
  const irreversible = parts.find((word) => IRREVERSIBLE.has(word));
  if (irreversible !== undefined) return { grade: "L3", reason: `its name says \`${irreversible}\`` };
  if (READS.has(first) && !parts.some((word) => WRITES.has(word) || OUTWARD.has(word)))
    return { grade: "L0", reason: `its name says \`${first}\`` };
  if (grave !== undefined) return { grade: "L3", reason: `its name says \`${grave}\`` };
  const outward = parts.find((word) => OUTWARD.has(word));
  if (outward !== undefined)
    return { grade: "L2", reason: `its name says \`${outward}\`: what is sent cannot be called back` };
  const write = parts.find((word) => WRITES.has(word));
  if (write !== undefined) return { grade: "L2", reason: `its name says \`${write}\`` };
  if (READS.has(last)) return { grade: "L0", reason: `its name says \`${last}\`` };
  return { grade: "L2", reason: "its name does not say what it does" };
}

function findUndo(parts: readonly string[], names: ReadonlyMap<string, string>): string | null {
  for (const [index, word] of parts.entries()) {
    for (const back of Object.hasOwn(TAKEN_BACK, word) ? (TAKEN_BACK[word] ?? []) : []) {
      const name = names.get([...parts.slice(0, index), back, ...parts.slice(index + 1)].join(" "));
      if (name !== undefined) return name;
    }
  }
  return null;
}

/** `createIssue`, `create_issue`, `create-issue` and `issues.create` all come apart into words. */
function wordsOf(name: string): readonly string[] {
  return name
    .slice(0, 200)
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== "");
}

function argumentsOf(schema: unknown): readonly string[] {
  const properties = isJsonObject(schema) ? ownProperty(schema, "properties") : undefined;
  return isJsonObject(properties) ? Object.keys(properties).slice(0, 200) : [];
}

function clip(name: string): string {
  return name.slice(0, 64).replaceAll(/[^\x20-\x7E]/g, "?");
}

/**
 * The arguments below the sentence, as a table: one row per value, long ones folded, what came out of a tool's output marked
 * with its source, and what differs from the last approved call of the tool.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../base/json.ts";
import { oneLine, clip, type MakeVisible } from "./plain-text.ts";

/** A value in the arguments that came out of a tool's output. */
export interface ArgumentOrigin {
  /** JSON pointer into the arguments. */
  readonly where: string;
  /** One sentence: what came from where. */
  readonly message: string;
}

export interface DetailRow {
  /** JSON pointer into the arguments. */
  readonly where: string;
  /** Dotted name for people. */
  readonly name: string;
  /** Made visible; lines are kept. Cut at `MAX_VALUE` characters. */
  readonly value: string;
  /** Length of the whole value. */
  readonly characters: number;
  /** Long or of several lines: show the first line and let the person unfold it. */
  readonly isFolded: boolean;
  readonly origins: readonly string[];
  /** Against the last approved call of this tool; `null` where there was none. */
  readonly change: "same" | "changed" | "new" | "removed" | null;
  /** For `changed` and `removed`: what it was. */
  readonly before: string | null;
}

const MAX_ROWS = 200;
const MAX_DEPTH = 6;
const MAX_VALUE = 20_000;
const MAX_BEFORE = 2_000;
const FOLD_ABOVE = 160;

/** @param before the arguments of the last approved call of this tool, or `null`. */
export function detailRows(
  args: JsonObject,
  before: JsonObject | null,
  origins: readonly ArgumentOrigin[],
  makeVisible: MakeVisible,
): readonly DetailRow[] {
  const now = flatten(args);
  const then = before === null ? null : flatten(before);
  const rows: DetailRow[] = [];
  for (const [where, leaf] of now) {
    const old = then?.get(where);
    const change =
      then === null ? null : old === undefined ? "new" : old.text === leaf.text ? "same" : "changed";
    rows.push(
      row(
        where,
        leaf,
        originsAt(origins, where),
        change,
        change === "changed" ? (old?.text ?? null) : null,
        makeVisible,
      ),
    );
  }
  for (const [where, leaf] of then ?? []) {
    if (!now.has(where))
      rows.push(row(where, { name: leaf.name, text: "" }, [], "removed", leaf.text, makeVisible));
  }
  if (rows.length <= MAX_ROWS) return rows;
  // What must be seen goes first, so that the cap cannot hide it.
  const ranked = [
    ...rows.filter((one) => one.origins.length > 0),
    ...rows.filter((one) => one.origins.length === 0),
  ];
  const left = { name: "…", text: `${rows.length - MAX_ROWS} more values` };
  return [...ranked.slice(0, MAX_ROWS), row("", left, [], null, null, makeVisible)];
}

interface Leaf {
  readonly name: string;
  readonly text: string;
}

function flatten(args: JsonObject): Map<string, Leaf> {
  const leaves = new Map<string, Leaf>();
  const visit = (value: JsonValue, where: string, name: string, depth: number): void => {
    if (isJsonObject(value) && depth < MAX_DEPTH && Object.keys(value).length > 0) {
      for (const [key, member] of Object.entries(value)) {
        visit(member, `${where}/${escapePointer(key)}`, name === "" ? key : `${name}.${key}`, depth + 1);
      }
      return;
    }
    if (
      Array.isArray(value) &&
      depth < MAX_DEPTH &&
      value.some((item) => typeof item === "object" && item !== null)
    ) {
      value.forEach((item, index) => visit(item, `${where}/${index}`, `${name}[${index + 1}]`, depth + 1));
      return;
    }
    leaves.set(where, { name, text: textOf(value) });
  };
  visit(args, "", "", 0);
  leaves.delete("");
  return leaves;
}

function textOf(value: JsonValue): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value) && value.every((item) => typeof item !== "object"))
    return value.map(String).join("\n");
  return JSON.stringify(value);
}

/** RFC 6901. */
function escapePointer(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}

function originsAt(origins: readonly ArgumentOrigin[], where: string): readonly string[] {
  return origins
    .filter((origin) => origin.where === where || origin.where.startsWith(`${where}/`))
    .map((origin) => origin.message);
}

function row(
  where: string,
  leaf: Leaf,
  origins: readonly string[],
  change: DetailRow["change"],
  before: string | null,
  makeVisible: MakeVisible,
): DetailRow {
  return {
    where,
    name: clip(oneLine(leaf.name.slice(0, 800), makeVisible), 200).shown,
    value: makeVisible(clip(leaf.text, MAX_VALUE).shown),
    characters: leaf.text.length,
    isFolded: leaf.text.length > FOLD_ABOVE || leaf.text.includes("\n"),
    origins,
    change,
    before: before === null ? null : makeVisible(clip(before, MAX_BEFORE).shown),
  };
}

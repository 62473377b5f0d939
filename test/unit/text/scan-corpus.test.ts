/**
 * Measures the scan on the corpus (`test/corpus/`) and holds the table in docs/security/scan.md to it. With
 * `UPDATE_SCAN_TABLE=1` the table is written instead.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { highestSeverity, scanText } from "../../../src/text/scan.ts";

interface Item {
  readonly id: string;
  readonly set: "tuned" | "held-out";
  readonly kind?: string;
  readonly form: string;
  readonly text: string;
}

const DOC = new URL("../../../docs/security/scan.md", import.meta.url);
const load = (name: string): readonly Item[] =>
  readFileSync(new URL(`../../corpus/${name}`, import.meta.url), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Item);

const judge = (items: readonly Item[]): { readonly item: Item; readonly worst: string | null }[] =>
  items.map((item) => ({ item, worst: highestSeverity(scanText(item.text, "")) }));

const attacks = judge(load("attacks.jsonl"));
const benign = judge(load("benign.jsonl"));

interface Score {
  readonly attacks: number;
  readonly benign: number;
  readonly caught: number;
  readonly wrong: number;
}

/** @param levels which severities count as caught. */
function score(set: Item["set"] | "all", levels: readonly string[]): Score {
  const inSet = ({ item }: { readonly item: Item }): boolean => set === "all" || item.set === set;
  const counts = ({ worst }: { readonly worst: string | null }): boolean =>
    worst !== null && levels.includes(worst);
  return {
    attacks: attacks.filter(inSet).length,
    benign: benign.filter(inSet).length,
    caught: attacks.filter(inSet).filter(counts).length,
    wrong: benign.filter(inSet).filter(counts).length,
  };
}

const percent = (part: number, whole: number): string =>
  whole === 0 ? "–" : `${((100 * part) / whole).toFixed(1)} %`;

function row(name: string, { attacks: all, benign: honest, caught, wrong }: Score): string {
  return `| ${name} | ${caught} of ${all} | ${wrong} of ${honest} | ${percent(caught, caught + wrong)} | ${percent(caught, all)} |`;
}

function tables(): string {
  const lines = [
    "| set, severity | attacks found | honest texts flagged | precision | recall |",
    "|---|---|---|---|---|",
  ];
  for (const set of ["tuned", "held-out", "all"] as const) {
    lines.push(row(`${set}, high (held back)`, score(set, ["high"])));
    lines.push(row(`${set}, low or high (marked)`, score(set, ["high", "low"])));
  }
  lines.push("", "| kind of attack | texts | held back | marked | not seen |", "|---|---|---|---|---|");
  for (const kind of [...new Set(attacks.map(({ item }) => item.kind ?? ""))].sort()) {
    const of = attacks.filter(({ item }) => item.kind === kind);
    const high = of.filter(({ worst }) => worst === "high").length;
    const low = of.filter(({ worst }) => worst === "low").length;
    lines.push(`| ${kind} | ${of.length} | ${high} | ${low} | ${of.length - high - low} |`);
  }
  lines.push("", "| honest text | texts | held back | marked |", "|---|---|---|---|");
  for (const form of [...new Set(benign.map(({ item }) => item.form))].sort()) {
    const of = benign.filter(({ item }) => item.form === form);
    const high = of.filter(({ worst }) => worst === "high").length;
    lines.push(`| ${form} | ${of.length} | ${high} | ${of.filter(({ worst }) => worst === "low").length} |`);
  }
  return lines.join("\n");
}

describe("the corpus", () => {
  it("is large and varied enough to say something", () => {
    expect(attacks.length).toBeGreaterThanOrEqual(120);
    expect(benign.length).toBeGreaterThanOrEqual(200);
    expect(new Set([...attacks, ...benign].map(({ item }) => item.text)).size).toBe(
      attacks.length + benign.length,
    );
    expect(attacks.filter(({ item }) => item.set === "held-out").length).toBeGreaterThanOrEqual(25);
    expect(benign.filter(({ item }) => item.set === "held-out").length).toBeGreaterThanOrEqual(30);
  });

  it("finds high severity precise, and most attacks at least marked", () => {
    for (const set of ["tuned", "held-out", "all"] as const) {
      const high = score(set, ["high"]);
      expect(high.caught / (high.caught + high.wrong)).toBeGreaterThanOrEqual(0.97);
    }
    const marked = score("all", ["high", "low"]);
    expect(marked.caught / marked.attacks).toBeGreaterThanOrEqual(0.8);
    // Texts about security are marked; nearly all others must not be.
    const ordinary = benign.filter(({ item }) => item.form !== "security");
    expect(
      ordinary.filter(({ worst }) => worst === "low" || worst === "high").length / ordinary.length,
    ).toBeLessThan(0.12);
  });

  it("gives the figures that the documentation states", () => {
    const doc = readFileSync(DOC, "utf8");
    const [before = "", , after = ""] = doc.split(/<!-- (?:begin|end) of figures -->/);
    const wanted = `${before}<!-- begin of figures -->\n\n${tables()}\n\n<!-- end of figures -->${after}`;
    if (process.env["UPDATE_SCAN_TABLE"] === "1") writeFileSync(DOC, wanted);
    else expect(doc).toBe(wanted);
  });
});

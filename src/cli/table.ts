/** Tables for a terminal. What servers wrote is made visible before it is measured, so that it moves no column. */
import { cleanForPerson } from "../text/clean.ts";

const GAP = "  ";
/** What the last column has to have at least: it is left to the terminal to wrap it. */
const LAST_COLUMN = 20;

/**
 * Columns as wide as their longest cell; the last one is not padded. Where the terminal is too narrow for them, each row is a
 * paragraph: its first cell, and below it the others with their names.
 *
 * @param columns of the terminal; by default those of standard output, and any number where that is no terminal.
 */
export function table(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  columns: number = process.stdout.isTTY ? process.stdout.columns : Number.POSITIVE_INFINITY,
): string {
  const all = [header, ...rows].map((cells) => cells.map(toCell));
  const widths = header.map((_name, column) => Math.max(...all.map((cells) => (cells[column] ?? "").length)));
  const last = header.length - 1;
  const fixed = widths.slice(0, last).reduce((sum, width) => sum + width + GAP.length, 0);
  if (fixed + Math.min(widths[last] ?? 0, LAST_COLUMN) > columns) return paragraphs(all);
  return all
    .map((cells) =>
      cells
        .map((cell, column) => (column === last ? cell : cell.padEnd(widths[column] ?? 0)))
        .join(GAP)
        .trimEnd(),
    )
    .join("\n");
}

function paragraphs([header = [], ...rows]: readonly (readonly string[])[]): string {
  const [, ...names] = header;
  const width = Math.max(...names.map((name) => name.length));
  return rows
    .map(([first = "", ...cells]) => {
      const lines = cells.map((cell, at) => `${GAP}${(names[at] ?? "").padEnd(width)}${GAP}${cell}`);
      return [first, ...lines.filter((_line, at) => cells[at] !== "")].join("\n");
    })
    .join("\n");
}

function toCell(text: string): string {
  return cleanForPerson(text).replaceAll(/[\n\t]+/gu, " ");
}

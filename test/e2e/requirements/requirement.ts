/** One duty of the specification, and how a table of them is written down: a line per row, columns divided by `|`. */

export type Strength = "MUST" | "MUST NOT" | "SHOULD" | "SHOULD NOT" | "REC" | "DER";

export type Status =
  /** Tests cite it by its id. */
  | { readonly by: "tests" }
  | { readonly notOurs: string }
  /** Named after the work that will close it. */
  | { readonly open: string };

export interface Requirement {
  /** `AREA-NN`, stable: tests cite it in square brackets. */
  readonly id: string;
  readonly area: string;
  readonly requirement: string;
  /** `REC`: guidance without an RFC 2119 word. `DER`: the mirror image of a duty of the server. */
  readonly strength: Strength;
  /** `modern`: 2026-07-28; `legacy`: the revisions with `initialize`. */
  readonly era: "modern" | "legacy" | "both";
  readonly status: Status;
}

const ROW =
  /^(?<number>\d\d) \| (?<strength>MUST|MUST NOT|SHOULD|SHOULD NOT|REC|DER) *\| (?<era>modern|legacy|both) *\| (?<requirement>\S.*)$/;

/**
 * @param table.status of all rows but those in `except` (by id).
 * @throws Error for a line that is no row, or an exception that is none.
 */
export function readArea(table: {
  readonly area: string;
  readonly status: Status;
  readonly except?: Readonly<Record<string, Status>>;
  readonly rows: string;
}): readonly Requirement[] {
  const { area, except = {} } = table;
  const rows = table.rows
    .trim()
    .split("\n")
    .map((line): Requirement => {
      const { number, strength, era, requirement } = ROW.exec(line)?.groups ?? {};
      if (number === undefined || requirement === undefined) throw new Error(`${area}: no row: ${line}`);
      const id = `${area}-${number}`;
      return {
        id,
        area,
        requirement,
        strength: strength as Strength,
        era: era as Requirement["era"],
        status: except[id] ?? table.status,
      };
    });
  const stray = Object.keys(except).find((id) => !rows.some((row) => row.id === id));
  if (stray !== undefined) throw new Error(`${area}: no such row: ${stray}`);
  return rows;
}

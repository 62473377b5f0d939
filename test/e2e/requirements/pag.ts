/** Pagination. */
import { readArea, type Requirement } from "./requirement.ts";

export const pag: readonly Requirement[] = readArea({
  area: "PAG",
  status: { by: "tests" },
  rows: `
01 | MUST NOT   | both   | Assume no fixed page size
02 | SHOULD     | both   | Missing nextCursor = end of results
03 | SHOULD     | both   | Support paginated and non-paginated flows
04 | MUST       | both   | Cursors are opaque: no parsing, no modification, no format assumptions
05 | MUST NOT   | modern | Empty string is a valid cursor, not the end
06 | MUST NOT   | legacy | Do not persist cursors across sessions
07 | SHOULD     | both   | Handle pagination for large prompt lists
08 | DER        | both   | Guard against cursor loops / unbounded pages
`,
});

/** A proposal of grades for people: a table with its reasons, and the same as configuration to paste. */
import type { Proposal } from "../../operations/suggest.ts";
import { table } from "../table.ts";

export function renderProposal({ server, tools, config, file }: Proposal): string {
  if (tools.length === 0) return `\`${server}\` has no tools`;
  const rows = tools.map(({ tool, now, grade, rule, reasons }) => [
    tool,
    now,
    rule === null ? "(set)" : grade,
    reasons.join("; "),
  ]);
  const shown = table(["TOOL", "NOW", "PROPOSED", "BECAUSE"], rows);
  if (file !== null) return `${shown}\n\nwritten to ${file}`;
  if (tools.every(({ rule }) => rule === null))
    return `${shown}\n\nevery tool has a rule of its own: nothing to propose`;
  return [
    shown,
    "",
    "A proposal from names, schemas and what the server claims: look at each line. To paste into the configuration:",
    JSON.stringify(config, null, 2),
    `Or have it written: portcullis grade ${server} --suggest --accept`,
  ].join("\n");
}

/** `portcullis tools` for people. */
import type { ToolView } from "../../host/views.ts";
import type { TroubledServer } from "../../operations/tools.ts";
import { table } from "../table.ts";
import { renderTrouble } from "./status.ts";

const DESCRIPTION = 60;

export function renderTools(document: {
  readonly tools: readonly ToolView[];
  readonly troubled: readonly TroubledServer[];
}): string {
  return [renderTable(document.tools), ...document.troubled.flatMap(renderTrouble)].join("\n");
}

function renderTable(tools: readonly ToolView[]): string {
  if (tools.length === 0) return "no tools";
  const rows = tools.map((tool) => [
    tool.name,
    tool.quarantine === null ? tool.grade : "held",
    tool.gradeFrom,
    tool.pin,
    String(tool.tokens),
    tool.quarantine === null ? firstLine(tool.description ?? tool.title ?? "") : tool.quarantine.reason,
  ]);
  return table(["TOOL", "GRADE", "FROM", "DEFINITION", "TOKENS", "DESCRIPTION (the server's words)"], rows);
}

function firstLine(text: string): string {
  const line = text.split("\n")[0] ?? "";
  return line.length > DESCRIPTION ? `${line.slice(0, DESCRIPTION)}…` : line;
}

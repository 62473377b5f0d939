/** `portcullis tools` for people. */
import type { ToolView } from "../../host/views.ts";
import { table } from "../output.ts";

const DESCRIPTION = 60;

export function renderTools({ tools }: { readonly tools: readonly ToolView[] }): string {
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

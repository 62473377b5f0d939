/** Skills over MCP — io.modelcontextprotocol/skills (SEP-2640, draft; tested by alpha.12). */
import { readArea, type Requirement } from "./requirement.ts";

export const skill: readonly Requirement[] = readArea({
  area: "SKILL",
  status: { open: "Skills" },
  rows: `
01 | MUST NOT   | both   | Retrieve no skill file ahead of need (not on connect, list, or approval)
02 | MUST       | both   | Verify each retrieved file against the entry digest; never use mismatching content
03 | MUST       | both   | Byte length different from entry size = verification failure
04 | MUST       | both   | Compare fetched frontmatter field by field with the entry; do not load on discrepancy
05 | MUST       | both   | Identity = (host-assigned server label, uri); never uri or serverInfo.name alone
06 | MUST       | both   | Skill content is untrusted; origin visible to the model; no implicit local execution; ignore allowed-tools unless approved
07 | MUST       | both   | Approval is bound to the resources set; a changed set revokes it
08 | MUST NOT   | both   | Skill from server A must not cause reads on server B without per-call approval
`,
});

/** Sampling, roots, logging, ping (deprecated or legacy-only). */
import { readArea, type Requirement } from "./requirement.ts";

export const dep: readonly Requirement[] = readArea({
  area: "DEP",
  status: { by: "tests" },
  except: {
    "DEP-11": {
      notOurs: "what a model keeps is the matter of the library user's callback; nothing is kept here",
    },
    "DEP-17": { notOurs: "`listChanged` of roots is never declared" },
  },
  rows: `
01 | SHOULD     | both   | Sampling: human in the loop able to deny
02 | SHOULD     | both   | Sampling: review UI; view/edit prompts before sending; review responses before delivery
03 | MUST       | both   | Sampling: declare sampling.tools to receive tool-enabled requests
04 | MUST       | both   | Sampling: error if tools/toolChoice present and sampling.tools not declared (modern: do not retry)
05 | MUST       | both   | Sampling: respect maxTokens
06 | MUST       | both   | Sampling: evaluate model hints in order, first match wins
07 | SHOULD     | both   | Sampling: hints outrank numeric priorities; treat hint as substring; respect preferences
08 | SHOULD     | both   | Sampling: approval controls, content validation, rate limiting, tool-loop iteration limits
09 | MUST       | both   | Sampling: handle sensitive data appropriately
10 | MUST       | both   | Sampling: a user message with tool_result contains only tool_results; each tool_use matched
11 | SHOULD NOT | both   | Sampling: do not retain messages between requests
12 | SHOULD     | both   | Sampling: preserve _meta on tool_use/tool_result in follow-ups
13 | SHOULD     | legacy | Sampling legacy: errors -1 (rejected), -32602 (missing/mixed tool results)
14 | MUST       | both   | Roots: uri is a file:// URI
15 | MUST       | both   | Roots: expose only with permission; validate against traversal; access control; monitor accessibility
16 | SHOULD     | both   | Roots: consent before exposing, management UI, validate accessibility, monitor changes
17 | MUST       | legacy | Roots legacy: send notifications/roots/list_changed if listChanged was declared
18 | SHOULD     | legacy | Roots legacy: -32601 when unsupported, -32603 internal
19 | SHOULD     | both   | Logging: rate-limit, validate, control access, monitor for sensitive content
20 | MUST       | legacy | Ping legacy: answer promptly with {}
21 | SHOULD     | legacy | Ping legacy: ping periodically, configurable, avoid excess; timeout = connection failure; log failures
22 | DER        | modern | Ping, logging/setLevel, resources/(un)subscribe, roots/list_changed do not exist on the modern wire
`,
});

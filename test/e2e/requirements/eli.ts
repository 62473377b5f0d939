/** Elicitation (form and URL). */
import { readArea, type Requirement } from "./requirement.ts";

export const eli: readonly Requirement[] = readArea({
  area: "ELI",
  status: { by: "tests" },
  rows: `
01 | MUST       | both   | UI makes clear which server asks
02 | MUST       | both   | Respect privacy; clear decline and cancel options
03 | MUST       | both   | Form: user can review and modify before sending
04 | MUST       | both   | URL: display target host and obtain consent before navigation
05 | MUST       | both   | Declaring elicitation means supporting at least one of form, url
06 | REC        | both   | \`elicitation: {}\` means form only
07 | MUST       | both   | Missing mode = form
08 | SHOULD     | both   | Pre-populate fields with schema defaults
09 | SHOULD     | both   | Validate responses against requestedSchema before sending
10 | SHOULD     | both   | Approval controls
11 | SHOULD     | both   | User may decline at any time
12 | SHOULD     | both   | Make clear what is asked and why
13 | MUST NOT   | both   | URL: do not pre-fetch the URL or its metadata
14 | MUST NOT   | both   | URL: do not open without explicit consent
15 | MUST       | both   | URL: show the full URL before consent
16 | MUST       | both   | URL: open so that neither client nor model can inspect content/inputs
17 | MUST       | both   | URL: handle URLs so users cannot unknowingly click malicious links
18 | SHOULD     | both   | URL: highlight the domain
19 | SHOULD     | both   | URL: warn on ambiguous URIs (Punycode)
20 | SHOULD NOT | both   | Do not render URLs as clickable in any other elicitation field
21 | REC        | both   | URL: accept carries no content; accept ≠ completed
22 | SHOULD     | both   | URL: manual controls to retry or cancel the original request
23 | DER        | both   | Accept all five enum shapes (untitled/titled single, untitled/titled multi, legacy enumNames)
24 | DER        | both   | Form schema is flat primitives; refuse nested/other shapes
25 | MUST       | legacy | Legacy: answer an undeclared mode with -32602
26 | SHOULD     | legacy | Legacy: rate-limit elicitation
27 | MUST       | legacy | Legacy: ignore notifications/elicitation/complete for unknown or completed ids
28 | MUST       | legacy | Legacy: elicitationId is opaque
29 | DER        | legacy | Legacy: on -32042 run the listed URL elicitations, then allow retry of the original request
`,
});

/** MCP Apps — io.modelcontextprotocol/ui (host rules; spec text from ext-apps 2026-01-26). */
import { readArea, type Requirement } from "./requirement.ts";

export const apps: readonly Requirement[] = readArea({
  area: "APPS",
  status: { open: "Apps" },
  rows: `
01 | MUST       | both   | Declare with mimeTypes ["text/html;profile=mcp-app"] (required setting)
02 | MUST       | both   | Fetch UI resources with resources/read on the same server; URI scheme ui://
03 | MUST NOT   | both   | Tools without "model" in _meta.ui.visibility are hidden from the agent
04 | MUST       | both   | Reject app tools/call for tools without "app" visibility; block cross-server calls
05 | MUST       | both   | Render all View content in sandboxed iframes
06 | MUST       | both   | Web hosts: sandbox proxy on a different origin; no messages to the View before initialized
07 | MUST       | both   | Build CSP from declared domains; restrictive default when csp is omitted
08 | MUST NOT   | both   | Never allow undeclared domains
09 | SHOULD     | both   | Log CSP configuration; warn when external domains are needed
10 | MUST       | both   | Send tool-input once (complete), tool-result on completion, tool-cancelled on cancel, resource-teardown before teardown
11 | MUST       | both   | Do not switch to an undeclared display mode; return the resulting mode
12 | SHOULD     | both   | Wait for teardown response; open links in the browser; add ui/message to context; keep only the last model-context update
13 | REC        | both   | Host without Apps support treats the tool as text-only
14 | DER        | both   | Gateway: keep _meta.ui and ui:// resource URIs consistent when namespacing
`,
});

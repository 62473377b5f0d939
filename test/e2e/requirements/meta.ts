/** Request _meta (per-request fields, reserved keys, trace context). */
import { readArea, type Requirement } from "./requirement.ts";

export const meta: readonly Requirement[] = readArea({
  area: "META",
  status: { by: "tests" },
  except: {
    "META-12": {
      notOurs: "the project has no domain to turn around: its keys begin with its name, `portcullis/`",
    },
  },
  rows: `
01 | MUST       | modern | io.modelcontextprotocol/protocolVersion on every request, including discover, listen, retries, task polls
02 | MUST       | modern | io.modelcontextprotocol/clientCapabilities on every request ({} when none)
03 | SHOULD     | modern | io.modelcontextprotocol/clientInfo on every request unless configured not to
04 | MUST       | modern | elicitation capability declared on each request if supported
05 | MUST       | modern | sampling capability declared on each request if supported (deprecated)
06 | MUST       | modern | roots capability declared on each request if supported (deprecated)
07 | SHOULD NOT | modern | serverInfo (now in result _meta) is not used to change behaviour
08 | SHOULD NOT | modern | serverInfo is not relied on for security decisions
09 | MUST NOT   | both   | Make no assumptions about values at reserved _meta keys not defined for you
10 | MUST       | both   | Own _meta keys: prefix = dot-separated labels, each starting with a letter and ending letter/digit; name starts/ends alphanumeric
11 | MUST NOT   | both   | Own prefixes never have second label \`mcp\` or \`modelcontextprotocol\` (reserved)
12 | SHOULD     | both   | Use reverse-DNS prefixes
13 | MUST       | modern | traceparent / tracestate (unprefixed) follow W3C Trace Context when present
14 | MUST       | modern | baggage (unprefixed) follows W3C Baggage when present
15 | REC        | modern | Trace context may carry correlation ids: apply data-handling rules before forwarding across trust boundaries
16 | DER        | modern | Opt in to logs only by setting io.modelcontextprotocol/logLevel on the request (deprecated feature)
`,
});

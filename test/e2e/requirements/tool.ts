/** Tools (trust, names, schemas, results). */
import { readArea, type Requirement } from "./requirement.ts";

export const tool: readonly Requirement[] = readArea({
  area: "TOOL",
  status: { by: "tests" },
  except: {
    "TOOL-38": { notOurs: "icons are neither fetched nor rendered nor passed on" },
    "TOOL-39": { notOurs: "icons are neither fetched nor rendered nor passed on" },
    "TOOL-40": { notOurs: "no icon is rendered" },
    "TOOL-41": { notOurs: "no icon is rendered" },
  },
  rows: `
01 | SHOULD     | both   | Keep a human in the loop able to deny tool invocations
02 | SHOULD     | both   | UI makes clear which tools are exposed to the model
03 | SHOULD     | both   | Clear visual indication when a tool is invoked
04 | SHOULD     | both   | Confirmation prompts for operations
05 | MUST       | both   | Treat tool annotations as untrusted unless the server is trusted
06 | REC        | both   | Never make tool-use decisions from annotations of untrusted servers
07 | REC        | both   | Apply annotation defaults: readOnly false, destructive true, idempotent false, openWorld true
08 | SHOULD     | both   | Confirm sensitive operations with the user
09 | SHOULD     | both   | Show tool inputs to the user before the call
10 | SHOULD     | both   | Validate tool results before passing them to the model
11 | SHOULD     | both   | Timeouts on tool calls
12 | SHOULD     | both   | Log tool usage for audit
13 | SHOULD     | both   | Validate structuredContent against outputSchema
14 | REC        | modern | Accept any JSON value as structuredContent (object only before 2026-07-28)
15 | SHOULD     | both   | Give tool execution errors (isError:true) to the model for self-correction
16 | REC        | both   | isError absent = false; protocol errors are distinct
17 | SHOULD     | both   | Aggregators disambiguate colliding tool names (e.g. prefix by server id)
18 | SHOULD NOT | both   | Do not disambiguate by serverInfo.name
19 | SHOULD     | both   | Tool names are case-sensitive
20 | SHOULD     | both   | Names exposed onward: 1–128 chars of [A-Za-z0-9_.-], no spaces/commas
21 | REC        | both   | Display name precedence: title, annotations.title, name
22 | MUST       | both   | Support JSON Schema 2020-12 for schemas without $schema
23 | MUST       | both   | Validate a schema by its declared or default dialect
24 | MUST       | both   | Unsupported dialect → graceful, explicit error
25 | SHOULD     | both   | Document supported dialects
26 | MUST NOT   | modern | Do not auto-dereference network $ref
27 | MUST       | modern | Any opt-in network $ref mode is off by default
28 | SHOULD     | modern | Opt-in mode: host allowlist / reject loopback, link-local, private; timeouts; size limits; log URIs
29 | SHOULD     | modern | Schema with unresolved external $ref is rejected, not treated as permissive
30 | SHOULD     | modern | Bound schema depth, subschema count, validation time
31 | SHOULD     | modern | Apply the $ref rules when validating both inputs and outputs
32 | DER        | both   | Preserve JSON Schema keywords ($schema, $defs, $anchor, additionalProperties, allOf/anyOf, if/then/else) end to end
33 | DER        | both   | inputSchema must be an object schema; reject others
34 | DER        | both   | Actually call tools with schema-typed arguments
35 | REC        | both   | Resource links in results may not appear in resources/list
36 | DER        | both   | Re-fetch tools/list on list_changed (or TTL), refresh indices
37 | MUST       | both   | Icons: treat icon metadata and bytes as untrusted; take precautions against network, privacy, parsing risk
38 | MUST       | both   | Icons: accept only https: or data:; reject javascript:, file:, ftp:, ws:, app schemes, cross-origin/scheme-changing redirects
39 | MUST       | both   | Icons: fetch without credentials; same origin as server; magic-byte check against strict type allowlist; size/frame limits
40 | MUST       | both   | Icons, if rendered: support image/png and image/jpeg
41 | SHOULD     | both   | Icons, if rendered: support image/svg+xml (with precautions) and image/webp
`,
});

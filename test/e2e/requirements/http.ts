/** Streamable HTTP — modern (2026-07-28). */
import { readArea, type Requirement } from "./requirement.ts";

export const http: readonly Requirement[] = readArea({
  area: "HTTP",
  status: { by: "tests" },
  rows: `
01 | MUST       | both   | Each JSON-RPC message is its own HTTP POST to the single MCP endpoint
02 | MUST       | both   | Accept lists both application/json and text/event-stream
03 | MUST       | modern | Body is one request or one notification
04 | MUST NOT   | modern | Never POST a JSON-RPC response
05 | MUST       | both   | Support both JSON and SSE responses to a request
06 | REC        | both   | Ignore SSE comment lines (\`:\` keep-alives); never treat as malformed
07 | MUST       | modern | Include the request metadata headers on every POST
08 | MUST       | modern | MCP-Protocol-Version header on every POST
09 | MUST       | modern | Header version equals _meta protocolVersion
10 | MUST       | modern | Mcp-Method on all requests, exact case-sensitive method value
11 | MUST       | modern | Mcp-Name on tools/call (params.name), prompts/get (params.name), resources/read (params.uri)
12 | MUST       | modern | Mcp-Name value outside safe ASCII is sent in the Base64 sentinel form
13 | MUST       | modern | Support x-mcp-header mirroring
14 | MUST       | modern | Mirror each annotated parameter into Mcp-Param-{Name}; nothing unannotated
15 | MUST       | modern | Read the value at the exact chain of \`properties\` keys (nested allowed)
16 | MUST       | modern | Omit the header when the value is null
17 | MUST       | modern | Omit the header when the parameter is absent
18 | MUST       | modern | Encode: string as is, integer decimal, boolean lower-case true/false
19 | MUST       | modern | Non-ASCII, control chars, leading/trailing whitespace → =?base64?…?= of UTF-8 (lower-case markers)
20 | MUST       | modern | Plain value that itself looks like the sentinel is Base64-encoded too
21 | MUST       | modern | Reject tool whose x-mcp-header is empty
22 | MUST       | modern | Reject tool whose x-mcp-header is not an RFC 9110 token (space, colon, non-ASCII, control)
23 | MUST       | modern | Reject tool with case-insensitively duplicate x-mcp-header values
24 | MUST       | modern | Reject x-mcp-header on object/array/null
25 | MUST       | modern | Reject x-mcp-header on \`number\` (only string, integer, boolean)
26 | MUST       | modern | Reject annotation not statically reachable (items, oneOf/anyOf/allOf/not, if/then/else, $ref, $defs)
27 | MUST       | modern | Mirrored integers stay within ±(2^53−1)
28 | MUST       | modern | Rejection = exclude that tool from tools/list, keep the valid ones
29 | SHOULD     | modern | Log a warning with tool name and reason when excluding
30 | SHOULD     | modern | On HeaderMismatch for Mcp-Param-*: call tools/list, then retry with right headers
31 | MUST       | modern | Build Mcp-Param-* from the most recently obtained inputSchema
32 | SHOULD     | modern | If the schema was never obtained, send without Mcp-Param-*
33 | SHOULD     | modern | Handle 413 / 431 from oversized headers gracefully
34 | MUST       | both   | Compare header names case-insensitively (values case-sensitive)
35 | MUST       | modern | A broken response stream loses the request; re-issue only as a new request with a new id
36 | DER        | modern | Do not use Last-Event-ID, GET streams, Mcp-Session-Id or DELETE against a modern server
37 | DER        | modern | Only request-scoped notifications are valid on a request stream; JSON-RPC requests there are a protocol violation to drop
38 | DER        | modern | 404 with -32601 body = unknown method on a modern server, not a missing endpoint
39 | MUST       | modern | Mcp-Name = params.taskId on tasks/get, tasks/update, tasks/cancel
`,
});

/** Streamable HTTP — legacy (2025-03-26 … 2025-11-25). */
import { readArea, type Requirement } from "./requirement.ts";

export const httpl: readonly Requirement[] = readArea({
  area: "HTTPL",
  status: { by: "tests" },
  rows: `
01 | MUST       | legacy | MCP-Protocol-Version header on all requests after initialize
02 | SHOULD     | legacy | …with the negotiated version
03 | MUST       | legacy | Echo MCP-Session-Id on every later request when the server assigned one
04 | MUST       | legacy | On 404 for a request bearing a session id, start a new session with initialize and no session id
05 | SHOULD     | legacy | DELETE the session when no longer needed (405 tolerated)
06 | MUST       | legacy | Handle the session id securely
07 | MUST       | legacy | GET stream: Accept text/event-stream
08 | DER        | legacy | Tolerate 405 on GET (no server stream)
09 | MUST       | legacy | Respect the SSE retry field before reconnecting
10 | SHOULD     | legacy | Poll (reconnect) when the server closes the connection after an event id
11 | SHOULD     | legacy | Resume by GET + Last-Event-ID, whatever the stream origin
12 | DER        | legacy | Priming SSE events (id with empty data) are not JSON messages
13 | SHOULD     | legacy | Disconnection is not a cancellation; cancel with CancelledNotification
14 | MUST       | legacy | Body is one request, notification or response
15 | MUST       | legacy | Answer server-initiated requests (ping, elicitation, sampling, roots) arriving on POST-SSE or GET streams
`,
});

/** Cancellation and timeouts. */
import { readArea, type Requirement } from "./requirement.ts";

export const can: readonly Requirement[] = readArea({
  area: "CAN",
  status: { by: "tests" },
  rows: `
01 | SHOULD     | both   | Signal cancellation of a request you no longer want
02 | DER        | modern | Modern HTTP: cancel by closing the response stream; do not POST notifications/cancelled
03 | MUST       | both   | stdio: send notifications/cancelled with the request id
04 | MUST       | both   | Only cancel own requests believed in progress
05 | SHOULD     | both   | Ignore a response that arrives after cancellation
06 | MUST       | both   | Handle cancel/complete races gracefully
07 | SHOULD     | both   | Put a timeout on every sent request
08 | SHOULD     | both   | On timeout, cancel and stop waiting
09 | SHOULD     | both   | Timeouts configurable per request
10 | SHOULD     | both   | Enforce a maximum timeout even when progress resets the clock
11 | SHOULD     | both   | Log cancellation reasons
12 | SHOULD     | both   | UI shows that cancellation was requested
13 | SHOULD     | both   | Ignore invalid cancellations (unknown id, completed, malformed)
14 | DER        | modern | Server-sent notifications/cancelled (stdio) ends exactly the listen stream it names; anything else is ignored
15 | SHOULD     | legacy | Legacy: stop work and do not answer a server-initiated request the server cancelled
16 | MUST       | legacy | Legacy tasks: cancel with tasks/cancel, never notifications/cancelled
`,
});

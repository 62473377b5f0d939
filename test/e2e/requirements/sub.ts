/** Subscriptions (subscriptions/listen). */
import { readArea, type Requirement } from "./requirement.ts";

export const sub: readonly Requirement[] = readArea({
  area: "SUB",
  status: { by: "tests" },
  rows: `
01 | SHOULD     | modern | Compare the acknowledged filter with the requested one; handle unsupported types gracefully
02 | MUST       | modern | stdio: correlate notifications by subscriptionId
03 | MUST       | modern | stdio: re-send listen after reconnect
04 | MUST       | modern | The \`notifications\` filter object is required; every type is explicit opt-in
05 | DER        | modern | Deliver nothing for a subscription before its acknowledged notification
06 | DER        | modern | Drop notification types that were not requested
07 | DER        | modern | Compare subscriptionId as a typed RequestId (1 ≠ "1")
08 | DER        | modern | A listen result = graceful end; a close without it = unexpected, reconnect with backoff
09 | DER        | modern | Expect no progress/message notifications on a listen stream
10 | REC        | both   | resources/updated may name a sub-resource of the subscribed URI
11 | REC        | both   | Notifications are best effort: also rely on TTL/polling for freshness
12 | DER        | modern | Close the stream (HTTP) or send notifications/cancelled (stdio) to unsubscribe
`,
});

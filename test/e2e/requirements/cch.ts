/** Caching (ttlMs / cacheScope). */
import { readArea, type Requirement } from "./requirement.ts";

export const cch: readonly Requirement[] = readArea({
  area: "CCH",
  status: { by: "tests" },
  except: {
    "CCH-09": { notOurs: "nothing is polled: what is stale is listed again when somebody uses it" },
    "CCH-12": { notOurs: "pages are not kept one by one: a stale list is read again from its start" },
    "CCH-13": { notOurs: "a list is always read from its start" },
    "CCH-14": { notOurs: "pages are not kept: a list that is read again begins without a cursor" },
    "CCH-16": { notOurs: "what discovery answers is kept for its own session only, never across sessions" },
  },
  rows: `
01 | MUST NOT   | modern | Never serve a cached response for a different method or params
02 | MUST NOT   | modern | Never cache results of requests carrying inputResponses/requestState; input_required is not cacheable
03 | SHOULD     | modern | ttlMs 0 → immediately stale
04 | SHOULD     | modern | ttlMs > 0 → fresh while now < t_received + ttlMs (local clock at receipt)
05 | SHOULD     | both   | ttlMs absent → treat as 0
06 | SHOULD     | modern | ttlMs negative → treat as 0
07 | SHOULD     | modern | Stale → re-fetch on next access
08 | SHOULD NOT | modern | Do not turn TTL into background polling
09 | MUST       | modern | If polling, apply jitter and backoff
10 | MUST NOT   | modern | private entries never cross authorization contexts (different token = different cache)
11 | REC        | modern | A relevant notification invalidates a fresh entry immediately
12 | SHOULD     | modern | Expired page → re-fetch that page by its cursor
13 | SHOULD     | modern | Need a consistent snapshot → re-fetch from the start
14 | SHOULD     | modern | Cursor became invalid → discard all cached pages and restart
15 | DER        | both   | Absent/malformed cacheScope → treat as private (safe default)
16 | DER        | modern | Key discovery results (server/discover) by authorization context too
`,
});

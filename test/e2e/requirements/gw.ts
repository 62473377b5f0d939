/** Gateway: obligations that arise because the consumer is also a server / proxy. */
import { readArea, type Requirement, type Status } from "./requirement.ts";

const NO_LOGIN: Status = {
  notOurs:
    "clients come with a token that the operator gives them: the gateway is no authorization server, has no page of consent, no cookie and no redirect, and a login at a server is the operator's own, at a terminal",
};

export const gw: readonly Requirement[] = readArea({
  area: "GW",
  status: { by: "tests" },
  except: {
    "GW-10": NO_LOGIN,
    "GW-11": NO_LOGIN,
    "GW-12": NO_LOGIN,
    "GW-13": NO_LOGIN,
    "GW-17": {
      notOurs:
        "the gateway is no pure intermediary: it answers each request itself, and what it asks of a server is a request of its own, with headers by its own body",
    },
  },
  rows: `
01 | MUST       | modern | Implement server/discover
02 | MUST       | both   | Validate Origin (403) against DNS rebinding; bind to localhost when local; authenticate
03 | MUST       | modern | Reject header/body mismatch, missing or malformed MCP headers with 400 / -32020; decode Base64 first
04 | MUST       | modern | 400 / -32602 when required _meta is missing; 400 / -32022 for unknown version; 404 / -32601 for unknown method; 400 / -32021 for missing client capability
05 | MUST NOT   | modern | Lists must not vary per connection or by other requests (may vary by authorization)
06 | SHOULD     | modern | Return tools in deterministic order
07 | MUST       | modern | ttlMs ≥ 0 and cacheScope on the six cacheable results; same cacheScope on all pages
08 | MUST NOT   | modern | A shared gateway may serve public entries to anyone, private only within one authorization context
09 | MUST NOT   | both   | Never pass the caller's token upstream; accept only tokens issued for the gateway
10 | MUST       | both   | Proxy with a static upstream client id: per-client consent registry checked before forwarding
11 | MUST       | both   | Consent page: client name, scopes, redirect_uri, CSRF protection, no framing
12 | MUST       | both   | Consent cookies: __Host-, Secure, HttpOnly, SameSite=Lax, signed, bound to client_id
13 | MUST       | both   | Exact redirect_uri match; single-use random state stored only after consent, short expiry, verified
14 | MUST       | modern | requestState from a caller is attacker-controlled: integrity-protect if it matters, reject on failure, bind principal/TTL/request
15 | MUST NOT   | modern | Never send inputRequests the caller did not declare; translate upstream -32021 rather than relaying it
16 | MUST NOT   | modern | Send input_required only on tools/call, prompts/get, resources/read
17 | MUST       | modern | Forward unrecognised Mcp-Param-* headers untouched (pure intermediary)
18 | SHOULD     | modern | Policy on mirrored headers only when MCP-Protocol-Version is one that requires validation; else reject
19 | MUST       | modern | Treat client disconnect as cancellation; send nothing more for that request; propagate upstream
20 | MUST       | modern | Ack first on listen, tag every notification with subscriptionId, only requested types, graceful result at shutdown
21 | SHOULD     | modern | Name supported versions in the error for initialize when modern-only
22 | MUST NOT   | legacy | Legacy side: sessions are not authentication; secure random ids bound to the user; 404 after DELETE
23 | MUST NOT   | modern | State handles are names, not capabilities: verify the caller on each use, bind to user
24 | MUST NOT   | both   | Form elicitation must not ask for secrets; URL elicitation binds to the authenticated user
`,
});

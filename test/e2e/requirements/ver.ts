/** Versioning and era detection. */
import { readArea, type Requirement } from "./requirement.ts";

export const ver: readonly Requirement[] = readArea({
  area: "VER",
  status: { by: "tests" },
  except: {
    "VER-08": { notOurs: "this client speaks both eras" },
    "VER-09": { notOurs: "this client speaks both eras" },
  },
  rows: `
01 | MUST       | modern | Every request declares its protocol version in _meta (and in the HTTP header)
02 | SHOULD     | modern | On UnsupportedProtocolVersion (-32022) pick a mutually supported version from data.supported and retry, or surface an error
03 | SHOULD     | both   | stdio, dual-era: probe with server/discover before any other request, preferred modern version in _meta
04 | SHOULD     | both   | stdio: a DiscoverResult means modern; continue with a mutually supported version from supportedVersions
05 | REC        | both   | stdio: a recognised modern JSON-RPC error means modern — do not fall back to initialize
06 | REC        | both   | stdio: any other error, or no answer within a reasonable timeout, means legacy — fall back to initialize
07 | MUST NOT   | both   | The legacy fallback is not keyed to one specific error code
08 | SHOULD     | modern | Modern-only stdio client probes too, to fail deterministically instead of running era-ambiguous methods under legacy semantics
09 | REC        | modern | Modern-only client facing a legacy server surfaces an actionable error to the user
10 | SHOULD     | both   | HTTP: on 400, inspect the response body before falling back
11 | REC        | both   | HTTP: a recognised modern error body (-32020, -32021, -32022) means modern — retry with a supported version or correct the request, do not fall back
12 | REC        | both   | HTTP: empty or unrecognised body → fall back to initialize and stay legacy for later requests
13 | SHOULD     | both   | Cache the era verdict for the life of the process (stdio) or origin (HTTP); re-probe when the assumption later fails
14 | REC        | legacy | HTTP+SSE (2024-11-05) fallback: only after POST fails with 400/404/405 and no recognised modern error; GET must yield an \`endpoint\` event first
15 | SHOULD NOT | both   | New implementations do not adopt the HTTP+SSE transport
16 | MUST       | legacy | initialize is the first interaction; client sends protocolVersion, capabilities, clientInfo
17 | MUST       | legacy | Send notifications/initialized after a successful initialize
18 | SHOULD NOT | legacy | Send nothing but ping before the initialize response
19 | MUST       | legacy | initialize carries a version the client supports
20 | SHOULD     | legacy | initialize carries the latest legacy version supported
21 | SHOULD     | legacy | Disconnect if the server answers with an unsupported version
22 | MUST       | legacy | Respect the negotiated version for the session
23 | MUST NOT   | legacy | Never cancel initialize
24 | SHOULD     | legacy | Handle version mismatch, failed capability negotiation, and timeouts as error cases
25 | MUST       | modern | Extension identifiers follow _meta key rules with a mandatory prefix
26 | MUST       | modern | If only one side supports an extension: revert to core behaviour or reject with an error
27 | REC        | both   | Extensions are off by default and need explicit opt-in
`,
});

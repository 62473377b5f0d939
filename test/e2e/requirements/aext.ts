/** Authorization extensions. */
import { readArea, type Requirement } from "./requirement.ts";

export const aext: readonly Requirement[] = readArea({
  area: "AEXT",
  status: { by: "tests" },
  rows: `
01 | REC        | modern | Declare the extension per request (io.modelcontextprotocol/oauth-client-credentials, …/enterprise-managed-authorization)
02 | MUST       | both   | Client credentials: conform to the baseline authorization rules too (PRM, AS metadata, resource)
03 | MUST       | both   | Client credentials: authenticate with private_key_jwt (RFC 7523 §2.2, recommended) or client secret
04 | DER        | both   | Client credentials: grant_type=client_credentials; assertion aud = AS issuer, iss = sub = client_id
05 | REC        | both   | Client credentials: renew before expiry; prefer JWT; secrets in a secret manager, rotated, minimum scope
06 | DER        | both   | Pin machine credentials to an expected issuer so a server cannot redirect them
07 | REC        | both   | client_credentials clients may step up or abort at once
08 | MUST       | both   | EMA: token exchange at the IdP with requested_token_type=id-jag, audience=AS issuer, resource=server id, subject_token(+type)
09 | MUST       | both   | EMA: exchange the ID-JAG with grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer, client authenticated at the AS
10 | MUST       | both   | EMA: ID-JAG header typ oauth-id-jag+jwt; client_id/resource/aud bound
11 | REC        | both   | EMA: do not redirect the user to the MCP AS; SSO to the IdP; admin-level IdP config; handle scope limits
12 | MUST       | both   | DPoP (SEP-1932, draft): DPoP proof on the token request
13 | MUST       | both   | DPoP: Authorization scheme DPoP and a fresh proof (unique jti) per request
14 | MUST       | both   | DPoP: honour use_dpop_nonce from AS and from the server
15 | MUST       | both   | WIF (SEP-1933, draft): jwt-bearer grant with the workload JWT as assertion; surface errors; no retry, no grant switch
`,
});

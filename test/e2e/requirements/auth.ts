/** Authorization (core OAuth profile, HTTP only). */
import { readArea, type Requirement } from "./requirement.ts";

export const auth: readonly Requirement[] = readArea({
  area: "AUTH",
  status: { by: "tests" },
  except: {
    "AUTH-02": { notOurs: "no transport but stdio and HTTP" },
  },
  rows: `
01 | SHOULD     | both   | HTTP implementations that support authorization conform to this spec
02 | MUST       | both   | Other transports follow that protocol's security best practice
03 | MUST       | both   | Follow OAuth 2.1 §7 security best practices
04 | MUST       | both   | Use Protected Resource Metadata (RFC 9728) to find the authorization server
05 | MUST       | both   | Support both RFC 8414 and OIDC Discovery
06 | MUST       | both   | Parse WWW-Authenticate and react to 401
07 | MUST       | both   | Use resource_metadata URL from the header when present
08 | MUST       | both   | Else probe /.well-known/oauth-protected-resource/<path>, then the root form
09 | MUST       | both   | Issuer with path: try oauth-authorization-server (inserted), openid-configuration (inserted), openid-configuration (appended), in that order
10 | MUST       | both   | Issuer without path: try oauth-authorization-server then openid-configuration
11 | MUST       | modern | Metadata issuer must be identical to the identifier used to build the URL
12 | MUST NOT   | modern | Do not use metadata whose issuer differs
13 | DER        | both   | PRM resource must match the server URL (RFC 9728 §3.3/§7.3) before proceeding
14 | REC        | both   | Choose among several authorization_servers per RFC 9728 §7.6
15 | MUST       | modern | Keep separate registration state (credentials, tokens) per authorization server
16 | MUST NOT   | modern | Do not assume credentials of one AS work at another
17 | MUST       | modern | Key pre-registered / persisted client credentials by issuer
18 | MUST NOT   | modern | On AS change do not reuse the old credentials
19 | MUST       | modern | On AS change re-register
20 | SHOULD     | modern | Pre-registered credentials whose AS no longer matches → surface an error
21 | MUST       | both   | Obtain a client id by CIMD, pre-registration or DCR before the flow
22 | SHOULD     | both   | Order: pre-registered → CIMD (if advertised) → DCR (if advertised) → ask user
23 | SHOULD     | both   | Support Client ID Metadata Documents
24 | SHOULD     | both   | Check client_id_metadata_document_supported
25 | MUST       | both   | CIMD: host the document at an HTTPS URL with a path component
26 | MUST       | both   | CIMD: include client_id, client_name, redirect_uris; client_id equals the document URL exactly
27 | SHOULD     | both   | Support static (pre-registered) credentials
28 | MUST       | modern | DCR (deprecated): send an appropriate application_type
29 | SHOULD     | modern | DCR: native/localhost apps use "native"; remote browser apps use "web"
30 | MUST       | modern | DCR: be prepared for registration failure from redirect-URI rules
31 | SHOULD     | modern | DCR: surface a meaningful error on rejection
32 | MUST       | both   | Implement PKCE
33 | MUST       | both   | Use S256 when capable
34 | MUST       | both   | Verify PKCE support from AS metadata before proceeding
35 | MUST       | both   | Refuse if code_challenge_methods_supported is absent (RFC 8414 and OIDC alike)
36 | MUST       | both   | Redirect URIs are registered with the AS
37 | MUST       | both   | Redirect URIs are localhost or HTTPS; AS endpoints are HTTPS
38 | SHOULD     | both   | Use and verify state; discard mismatches or absences
39 | MUST       | modern | Record the validated issuer with the PKCE verifier before redirecting
40 | MUST       | modern | Apply RFC 9207 §2.4 before sending the code anywhere
41 | MUST       | modern | iss advertised and absent → reject
42 | MUST       | modern | iss present (advertised) → simple string compare
43 | MUST       | modern | iss present (not advertised) → still compare
44 | MUST       | modern | iss absent and not advertised → proceed
45 | MUST NOT   | modern | No case folding, port elision, trailing-slash or percent normalisation before comparing
46 | MUST NOT   | modern | On iss mismatch in an error response, do not act on or show error, error_description, error_uri
47 | MUST       | both   | Send resource (RFC 8707) in both authorization and token requests, regardless of AS support
48 | MUST       | both   | resource identifies the server the token is for, by canonical URI (no fragment)
49 | SHOULD     | both   | Use the most specific URI; accept upper-case scheme/host; prefer no trailing slash
50 | MUST NOT   | both   | Do not assume a set relation between challenged scope and scopes_supported
51 | MUST       | both   | Challenged scopes are authoritative for the current operation
52 | SHOULD     | both   | Initial scopes: from the 401 challenge, else all scopes_supported, else omit scope
53 | SHOULD     | both   | Least privilege
54 | SHOULD     | modern | Re-authorization includes previously granted scopes (union with the challenge)
55 | SHOULD     | both   | Respond to insufficient_scope by step-up (user clients)
56 | SHOULD     | both   | Retry limits; track attempts per resource+operation
57 | MUST       | both   | Bearer token in the Authorization header, on every HTTP request
58 | MUST NOT   | both   | Never put tokens in the query string
59 | MUST NOT   | both   | Send a server only tokens issued by its own AS
60 | MUST       | both   | Store tokens securely
61 | MUST       | modern | Keep refresh tokens confidential in transit and storage
62 | SHOULD     | modern | Put refresh_token in grant_types metadata if you want one
63 | MUST NOT   | modern | Do not assume a refresh token will be issued
64 | DER        | modern | Request offline_access only if the AS lists it
65 | DER        | both   | Use the token-endpoint auth method the AS supports (basic / post / none)
66 | DER        | legacy | 2025-03-26 servers without PRM: AS metadata at the server origin, then default /authorize /token /register
`,
});

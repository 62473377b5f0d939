/** Security best practices (client, host, local process, proxy). */
import { readArea, type Requirement } from "./requirement.ts";

export const sec: readonly Requirement[] = readArea({
  area: "SEC",
  status: { by: "tests" },
  except: {
    "SEC-05": {
      notOurs:
        "what a proxy in front of a deployment does is the operator's: here everything goes out through one guarded place (SEC-01 to SEC-04, SEC-06), and `egress.proxy` is refused as not there yet",
    },
  },
  rows: `
01 | MUST       | both   | Server-deployed clients consider SSRF and mitigate when fetching OAuth URLs
02 | SHOULD     | both   | HTTPS for all OAuth URLs in production (loopback exception for dev, explicit opt-out)
03 | SHOULD     | both   | Block private, loopback, link-local, ULA ranges (use a library; beware octal/hex/IPv4-mapped IPv6)
04 | SHOULD     | both   | Validate redirect targets hop by hop; do not blindly follow
05 | SHOULD     | both   | Egress proxy for server-side deployments
06 | REC        | both   | Pin DNS between check and use (TOCTOU / rebinding)
07 | MUST       | both   | Authorization URLs: only https, and http for loopback
08 | MUST       | both   | Reject javascript:, data:, file:, vbscript: and other dangerous schemes
09 | SHOULD     | both   | Allowlist, not blocklist, URL schemes
10 | MUST NOT   | both   | Do not use a shell (cmd, sh, PowerShell) to open URLs
11 | SHOULD     | both   | Use non-shell platform URL openers
12 | SHOULD     | both   | Web clients set a CSP
13 | MUST       | both   | Sanitise and validate every URL received from servers
14 | MUST       | both   | One-click local server config: consent dialog with the exact, untruncated command and arguments
15 | MUST       | both   | …identified as dangerous code execution; explicit approval; cancellable; nothing runs if denied
16 | SHOULD     | both   | Highlight dangerous patterns (sudo, rm -rf, network, odd paths); warn on sensitive locations and on privilege
17 | SHOULD     | both   | Sandbox local servers: minimal default privilege, restricted FS/network, explicit grants, maintained sandbox
18 | SHOULD     | both   | stdio-spawning proxy: sandbox children, restrict FS, log all stdio use, extra authorization for dangerous commands
19 | SHOULD     | both   | Clients: isolate proxy communication, least privilege, process-level sandbox
20 | REC        | both   | Start with baseline scopes; remember recent denials to avoid elevation loops
21 | SHOULD     | modern | Union of previous and challenged scopes on re-authorization
22 | REC        | both   | Never log Authorization headers, tokens, codes, secrets; scrub query strings; redact structured logs
23 | REC        | both   | Use vetted libraries for token validation; short-lived tokens; encrypted storage with eviction
24 | REC        | legacy | Treat Mcp-Session-Id as untrusted; never tie authorization to it
`,
});

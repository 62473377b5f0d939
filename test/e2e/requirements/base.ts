/** Base protocol: JSON-RPC, results, error codes, schema dialects shared by all features. */
import { readArea, type Requirement } from "./requirement.ts";

export const base: readonly Requirement[] = readArea({
  area: "BASE",
  status: { by: "tests" },
  except: {
    "BASE-26": {
      notOurs:
        "nothing deprecated is used unless a server needs it, and the earliest removal is the revision of 2027-07-28: until then both are spoken",
    },
  },
  rows: `
01 | MUST       | both   | Every message is a valid JSON-RPC 2.0 message, UTF-8 encoded
02 | MUST       | both   | Requests carry a string or integer id
03 | MUST NOT   | both   | Request id is never null
04 | MUST NOT   | modern | Request id must not equal the id of any request this sender has in flight
05 | MUST NOT   | legacy | Request id must not have been used before in the same session
06 | MUST NOT   | both   | Notifications carry no id; receiver of a notification never replies
07 | MUST       | modern | Support base protocol, versioning and all message patterns
08 | MUST       | modern | A result whose resultType the client does not recognise is an invalid response
09 | MUST       | modern | The accepted resultType set = core (complete, input_required) + values of extensions the client advertised on that request
10 | MUST       | both   | Absent resultType is treated as "complete" (pre-2026 servers)
11 | DER        | both   | Accept error responses with no id (request could not be read)
12 | MUST NOT   | modern | Assign no meaning to error codes -32000..-32019 other than -32002
13 | SHOULD NOT | modern | Do not use -32000..-32019 for own new codes
14 | MUST NOT   | modern | Never emit a -32020..-32099 code that the spec has not defined; use defined ones only with their meaning (matters for the gateway)
15 | MUST NOT   | modern | Never emit -32002 or -32042 on the 2026-07-28 wire
16 | SHOULD     | modern | Allocate application error codes outside -32768..-32000
17 | REC        | modern | Locally raised errors (timeouts etc.) must not be mistakable for peer errors
18 | SHOULD NOT | modern | Do not tie the lifetime of a stdio process to one task, thread or conversation
19 | MUST       | modern | State that spans requests is referenced by an explicit identifier passed on each request
20 | MUST       | both   | Use only capabilities that were declared/negotiated
21 | REC        | both   | Hosts obtain explicit user consent before exposing user data to a server, and do not transmit resource data elsewhere without consent
22 | REC        | both   | Hosts obtain explicit user consent before invoking any tool
23 | SHOULD     | both   | Build consent/authorization flows, document security implications, implement access controls and data protection, follow best practice, consider privacy
24 | REC        | both   | Each client talks to exactly one server; host keeps servers isolated (no server sees the whole conversation or into other servers)
25 | SHOULD NOT | modern | Do not adopt Deprecated features in new work (roots, sampling, logging, DCR, HTTP+SSE, includeContext thisServer/allServers)
26 | SHOULD     | modern | Existing users of Deprecated features migrate before earliest removal (2027-07-28 revision or later)
`,
});

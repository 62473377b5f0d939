/** Resources, prompts, completion, discovery content. */
import { readArea, type Requirement, type Status } from "./requirement.ts";

const NOBODY_TYPES: Status = {
  notOurs:
    "nobody types here: a completion is asked for as often as a program or an agent's client asks for it",
};

export const rpc: readonly Requirement[] = readArea({
  area: "RPC",
  status: { by: "tests" },
  except: {
    "RPC-08": NOBODY_TYPES,
    "RPC-09": NOBODY_TYPES,
  },
  rows: `
01 | SHOULD     | both   | Accept -32002 as resource-not-found from older servers
02 | SHOULD     | both   | Check permissions before resource operations / access controls for sensitive resources
03 | MUST       | both   | Custom URI schemes conform to RFC 3986 (incl. gateway rewriting)
04 | MUST       | both   | Binary content is correctly base64-encoded when forwarded
05 | REC        | both   | Prompts are user-controlled: expose for explicit selection
06 | MUST       | both   | Validate prompt inputs and outputs against injection / unauthorized resource access
07 | SHOULD     | both   | Respect capability negotiation (do not call undeclared features)
08 | SHOULD     | both   | Completion: debounce rapid requests
09 | SHOULD     | both   | Completion: cache results where appropriate
10 | SHOULD     | both   | Completion: handle missing/partial results
11 | MUST       | both   | Completion: validate inputs, rate-limit, control access, prevent disclosure (both parties)
12 | REC        | both   | Completion: send already-resolved arguments in context.arguments
13 | DER        | both   | Server instructions are untrusted text that may enter a system prompt
14 | DER        | both   | Tolerate serverInfo both in result _meta (current) and top level (older drafts, legacy)
`,
});

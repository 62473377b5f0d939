/** Multi Round-Trip Requests. */
import { readArea, type Requirement } from "./requirement.ts";

export const mrtr: readonly Requirement[] = readArea({
  area: "MRTR",
  status: { by: "tests" },
  rows: `
01 | MUST       | modern | Construct the requested inputs before retrying when inputRequests is present
02 | MUST       | modern | Echo requestState with the exact value
03 | MUST NOT   | modern | Do not inspect, parse, modify or assume anything about requestState
04 | MUST NOT   | modern | Send no requestState when the result had none
05 | MUST       | modern | Retry uses a different JSON-RPC id
06 | MUST NOT   | modern | inputRequests/requestState are used only for that retry, never for parallel requests
07 | REC        | modern | inputResponses has the same key for each inputRequests key, with the bare result object (no resultType wrapper)
08 | REC        | modern | Retry repeats the original method and params (plus inputResponses / requestState)
09 | DER        | modern | input_required is valid only for tools/call, prompts/get, resources/read; elsewhere an invalid response
10 | DER        | modern | Refuse inputRequests whose capability/mode was not declared
11 | DER        | modern | InputRequiredResult with neither inputRequests nor requestState is invalid
12 | DER        | modern | Bound the number of rounds and back off on requestState-only results
13 | MUST NOT   | modern | Results of MRTR retries are never cached
14 | DER        | modern | Each round carries only that round's responses
15 | DER        | modern | Same consent/UX rules apply to embedded requests as to direct ones
`,
});

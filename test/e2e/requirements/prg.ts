/** Progress. */
import { readArea, type Requirement } from "./requirement.ts";

export const prg: readonly Requirement[] = readArea({
  area: "PRG",
  status: { by: "tests" },
  rows: `
01 | MUST       | both   | progressToken is a string or integer
02 | MUST       | both   | progressToken unique across active requests
03 | SHOULD     | both   | Track active progress tokens
04 | SHOULD     | both   | Rate-limit / protect against progress floods
05 | DER        | both   | Ignore progress for unknown, finished or non-increasing values (server MUST rules)
06 | MUST       | legacy | Legacy tasks: the original token stays valid until the task is terminal
07 | DER        | modern | Extension tasks: expect no progress/message notifications for a task
`,
});

/** Tasks — extension io.modelcontextprotocol/tasks (modern) and experimental tasks (2025-11-25). */
import { readArea, type Requirement } from "./requirement.ts";

export const task: readonly Requirement[] = readArea({
  area: "TASK",
  status: { by: "tests" },
  except: {
    "TASK-15": {
      notOurs:
        "advice on how to write code, with nothing to see: which requests may become tasks stands in one condition of `wire/modern.ts`",
    },
  },
  rows: `
01 | MUST       | modern | Declare the extension on each request that may return a task
02 | MUST       | modern | Be ready for CallToolResult or CreateTaskResult on any supported request
03 | MUST       | modern | CreateTaskResult for an unsupported request type is an invalid response
04 | MUST       | modern | Inspect inputRequests when status is input_required
05 | SHOULD     | modern | Answer via tasks/update
06 | MUST       | modern | Treat each inputRequest with the same trust model and UX as a direct request
07 | SHOULD     | modern | Respect pollIntervalMs (may change)
08 | SHOULD     | modern | Poll until terminal or until tasks/cancel
09 | SHOULD     | modern | Persist task ids durably
10 | SHOULD     | modern | Deduplicate inputRequests keys across polls; never answer a key twice
11 | SHOULD     | modern | Keep observing after tasks/update (ack is eventually consistent)
12 | MUST NOT   | modern | Never cancel a task with notifications/cancelled
13 | MUST       | modern | Mcp-Name = taskId on task methods
14 | REC        | modern | Cancellation is cooperative: expect non-cancelled terminal states
15 | SHOULD     | modern | Design for future request types
16 | DER        | modern | Subscribing to taskIds on listen requires the capability (else -32021)
17 | REC        | modern | completed + isError is a tool failure; failed carries a JSON-RPC error
18 | MUST NOT   | legacy | Legacy: augment only if tasks.requests.tools.call is declared
19 | MUST NOT   | legacy | Legacy: do not augment when execution.taskSupport is absent/forbidden
20 | MUST       | legacy | Legacy: invoke as task when taskSupport is required
21 | SHOULD     | legacy | Legacy: respect pollInterval; poll to terminal/input_required; then tasks/result
22 | MUST NOT   | legacy | Legacy: do not rely on notifications/tasks/status
23 | MUST       | legacy | Legacy: carry io.modelcontextprotocol/related-task on task-related messages except get/list/cancel
24 | DER        | both   | The two task protocols are not wire-compatible; dispatch on negotiated version
`,
});

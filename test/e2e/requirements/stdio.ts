/** stdio transport and process lifecycle. */
import { readArea, type Requirement } from "./requirement.ts";

export const stdio: readonly Requirement[] = readArea({
  area: "STDIO",
  status: { by: "tests" },
  except: {
    "STDIO-14": { notOurs: "there is no transport of our own" },
    "STDIO-15": { notOurs: "there is no transport of ours over sockets of another kind" },
  },
  rows: `
01 | MUST NOT   | both   | One message per line, no embedded newlines
02 | MUST NOT   | both   | Write nothing to the server stdin that is not a valid MCP message
03 | SHOULD NOT | both   | Do not treat stderr output as an error condition
04 | MUST NOT   | modern | Never write JSON-RPC responses on a modern stdio channel
05 | DER        | modern | Drop server-initiated JSON-RPC requests on a modern channel (server MUST NOT send them)
06 | MUST       | modern | Demultiplex subscription notifications by io.modelcontextprotocol/subscriptionId
07 | MUST       | modern | Cancel an in-flight request with notifications/cancelled
08 | SHOULD     | both   | Shutdown: close stdin, wait, then force-terminate (SIGTERM then SIGKILL; Windows TerminateProcess/Job Object)
09 | SHOULD     | modern | Restart a server process that exits unexpectedly
10 | MUST       | modern | After restart, in-flight requests are lost (may be retried) and listen streams must be re-established
11 | SHOULD NOT | both   | Do not run the OAuth spec over stdio; take credentials from the environment
12 | SHOULD     | legacy | Support stdio whenever possible
13 | MUST       | both   | Custom transports preserve JSON-RPC format, message patterns and per-request metadata
14 | SHOULD     | both   | Custom transports document establishment, framing, cancellation
15 | SHOULD     | modern | Custom byte-stream transports (UDS, TCP) reuse stdio framing
`,
});

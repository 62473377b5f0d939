/** Client best practices (guidance, no RFC 2119 force). */
import { readArea, type Requirement, type Status } from "./requirement.ts";

const noCode: Status = {
  notOurs:
    "models call tools, each call by itself and governed; code of a model is never run, so there are no stubs and no broker",
};

export const cbp: readonly Requirement[] = readArea({
  area: "CBP",
  status: { by: "tests" },
  except: {
    "CBP-09": noCode,
    "CBP-10": noCode,
    "CBP-11": noCode,
    "CBP-12": noCode,
    "CBP-13": noCode,
    "CBP-14": noCode,
  },
  rows: `
01 | REC        | both   | Progressive discovery: switch to search when tool definitions exceed a threshold share of the context (e.g. 1–5 %)
02 | REC        | both   | Three layers: search_tools (names+one line) → get_tool_details (one schema) → execute
03 | REC        | both   | Offer several detail levels (name / name+description / full schema)
04 | REC        | both   | Memoise definitions host-side; re-index on list_changed; group tools by server
05 | REC        | both   | Search strategies: keyword (BM25), embedding, sub-agent, hybrid
06 | REC        | both   | Dynamic server management: registry, connect on demand, disconnect idle; disconnect at conversation boundary, not per turn
07 | REC        | modern | Honour ttlMs/cacheScope; list_changed beats TTL
08 | REC        | both   | Keep the provider prompt cache: append new definitions after the breakpoint or use one stable call_tool meta-tool
09 | REC        | both   | Code mode: typed stubs from inputSchema/outputSchema; broker executes calls; only final output returns
10 | REC        | both   | Code mode: per-call authorization in the broker; script approval is not blanket approval
11 | REC        | both   | Code mode: cross-server data flow is untrusted input; same review policy
12 | REC        | both   | Code mode: no network in sandbox, no credentials exposed, time/memory limits, output filtered and truncated
13 | REC        | both   | Code mode: isError becomes an exception in the stub; surface uncaught errors with partial effects
14 | REC        | both   | No outputSchema: use a generic type, or a validated extract() helper
`,
});

/** The page about faults, rendered from what the tests observed. */

/** The moments at which something goes wrong, in the order of a connection's life. */
export const PHASES = {
  spawn: "start",
  probe: "era probe",
  initialize: "initialize",
  list: "list of tools",
  idle: "idle (heartbeat)",
  read: "call sent, reads (L0)",
  write: "call sent, writes (L1)",
  stream: "call streaming (L1)",
  closing: "closing",
} as const;

export type Phase = keyof typeof PHASES;

export interface FaultTable {
  readonly title: string;
  readonly about: string;
  /** Fault → what it is. */
  readonly faults: ReadonlyMap<string, string>;
  /** `FAULT PHASE` → what was observed. */
  readonly cells: Map<string, string>;
}

const HEAD = `# What happens when a server fails

Each cell was observed by \`test/fault/connection-faults.test.ts\` over real processes and sockets; the test fails where this page is
not what it observes, and writes it with \`WRITE_FAULTS=1\`.

How to read a cell:

- before a connection is ready (start to list of tools): how the waiting call ended, how often the server was started or asked, and the state in
  which the connection remains while the fault lasts. \`dead\` and \`incompatible\` are left by \`portcullis reconnect\`; an HTTP server that
  is \`idle\` is tried again by the next call.
- idle: the states that the connection goes through, and how the next call ends once the fault is over.
- a call: how it ended, its effect as far as it is known, how often it was sent, and the state once the fault is over. A call that only reads is
  tried three times at most; a call that writes is sent once, whatever happens.
- closing: who ended the process.
- \`-\`: cannot happen there.
`;

export function renderFaults(tables: readonly FaultTable[]): string {
  return `${HEAD}\n${tables.map(renderTable).join("\n")}`;
}

function renderTable({ title, about, faults, cells }: FaultTable): string {
  const phases = Object.keys(PHASES) as Phase[];
  const row = (columns: readonly string[]): string => `| ${columns.join(" | ")} |`;
  const lines = [
    row(["fault", ...phases.map((phase) => PHASES[phase])]),
    row(["---", ...phases.map(() => "---")]),
    ...[...faults].map(([fault, what]) =>
      row([what, ...phases.map((phase) => cells.get(`${fault} ${phase}`) ?? "-")]),
    ),
  ];
  return `## ${title}\n\n${about}\n\n${lines.join("\n")}\n`;
}

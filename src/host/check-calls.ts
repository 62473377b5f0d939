/** The lines about calls: what tools may do, who is asked, what becomes of their output. Pure. */
import type { ServerConfig } from "../config/compiled.ts";
import {
  fail,
  notApplicable,
  pass,
  type CheckEvidence,
  type CheckFacts,
  type CheckRule,
  type CheckVerdict,
} from "./check-line.ts";

export const callRules: readonly CheckRule[] = [
  {
    id: "output.scan",
    area: "tool output",
    title: "what a server sends is scanned before a model reads it",
    test: "test/property/text-scan.test.ts",
    evaluate: checkScan,
  },
  {
    id: "output.provenance",
    area: "tool output",
    title:
      "values out of tool output are found again in arguments, and what leaves after private data was read is asked about",
    test: "test/property/policy-provenance.test.ts",
    evaluate: checkLabels,
  },
  {
    id: "approvals.channels",
    area: "approvals",
    title: "the agent cannot approve its own calls",
    test: "test/e2e/gateway-access.test.ts",
    evaluate: checkChannels,
  },
  {
    id: "approvals.grants",
    area: "approvals",
    title: "an approval is for one call",
    evaluate: checkGrants,
  },
  {
    id: "approvals.undo",
    area: "approvals",
    title: "every L1 tool says how it is undone",
    evaluate: checkUndo,
  },
  {
    id: "approvals.grades",
    area: "approvals",
    title: "grades below L2 and enabled L3 tools are meant",
    test: "test/property/policy-evaluate.test.ts",
    evaluate: checkGrades,
  },
];

function checkScan({ servers, at }: CheckFacts): CheckVerdict {
  if (servers.length === 0) return notApplicable("no server is configured");
  const evidence = servers.map(({ name, scan }): CheckEvidence => ({
    text: `\`${name}\`: ${scan}`,
    ...at(["mcpServers", name, "scan"]),
  }));
  const open = servers.filter(({ scan }) => scan === "note").map(({ name }) => name);
  if (open.length === 0) return pass(evidence);
  return fail(evidence, `\`note\` warns no model: set "scan" of ${open.join(", ")} to "mark" or "block"`);
}

const LOOSE_LABELS: readonly string[] = ["public", "trusted", "internal"];

function checkLabels({ servers, at }: CheckFacts): CheckVerdict {
  if (servers.length === 0) return notApplicable("no server is configured");
  const left = servers.flatMap((server): readonly CheckEvidence[] => {
    const { name } = server;
    const own = server.labels.filter((label) => LOOSE_LABELS.includes(label));
    const ofServer =
      own.length === 0
        ? []
        : [{ text: `\`${name}\` is ${own.join(", ")}`, ...at(["mcpServers", name, "labels"]) }];
    const ofTools = server.tools.flatMap(({ pattern, labels }) => {
      const loose = labels.filter((label) => LOOSE_LABELS.includes(label));
      if (loose.length === 0) return [];
      const text = `\`${name}\` \`${pattern}\` is ${loose.join(", ")}`;
      return [{ text, ...at(["mcpServers", name, "tools", pattern, "labels"]) }];
    });
    return [...ofServer, ...ofTools];
  });
  return pass(
    [{ text: "what has no label counts as private and untrusted, and a write as going outward" }],
    left,
  );
}

function checkChannels({ config, at }: CheckFacts): CheckVerdict {
  const { approvals, gateway } = config;
  const evidence: CheckEvidence[] = [
    { text: `a person answers at: ${approvals.channels.join(", ")}`, ...at(["approvals", "channels"]) },
    { text: `the gateway listens on ${gateway.host}:${gateway.port}`, ...at(["gateway", "listen"]) },
  ];
  const left: CheckEvidence[] = [];
  if (approvals.yes) {
    left.push({
      text: 'whoever can run `portcullis call --yes` as you approves: "yes": false where an agent has a shell',
      ...at(["approvals", "yes"]),
    });
  }
  if (!["127.0.0.1", "::1", "localhost"].includes(gateway.host)) {
    left.push({
      text: "the gateway can be reached from other machines, over plain http",
      ...at(["gateway", "listen"]),
    });
  }
  if (gateway.requireToken) return pass(evidence, left);
  evidence.push({ text: "`/mcp` needs no token", ...at(["gateway", "requireToken"]) });
  return fail(
    evidence,
    'remove "requireToken": false: any program and any web page that reaches this port could call tools',
    left,
  );
}

function checkGrants({ config, at }: CheckFacts): CheckVerdict {
  const place = at(["approvals", "grants"]);
  if (config.approvals.grants === "off")
    return pass([{ text: "standing approvals are off; an approval is used once", ...place }]);
  return pass(
    [
      {
        text: "standing approvals are allowed: never for L3, never over values out of tool output",
        ...place,
      },
    ],
    [{ text: "look at `portcullis grants` now and then", ...place }],
  );
}

function checkUndo({ servers, tools, at }: CheckFacts): CheckVerdict {
  const evidence: CheckEvidence[] = [];
  let missing = 0;
  for (const server of servers) {
    for (const rule of server.tools) {
      if (rule.grade !== "L1") continue;
      const path = ["mcpServers", server.name, "tools", rule.pattern];
      if (rule.undo === null) missing += 1;
      const how = rule.undo === null ? "says not how it is undone" : `is undone by \`${rule.undo.tool}\``;
      evidence.push({ text: `\`${server.name}\` \`${rule.pattern}\` ${how}`, ...at(path) });
    }
  }
  // L1 by the server's default has no rule that could say it.
  for (const tool of tools.filter(({ grade, gradeFrom }) => grade === "L1" && gradeFrom === "default")) {
    missing += 1;
    const text = `\`${tool.server}\` \`${tool.tool}\` is L1 by default, and says not how it is undone`;
    evidence.push({ text, ...at(["mcpServers", tool.server, "default"]) });
  }
  if (evidence.length === 0) return notApplicable("no tool is L1");
  if (missing === 0) return pass(evidence);
  return fail(evidence, 'give each of them an "undo", or grade it L2');
}

function checkGrades({ servers, at }: CheckFacts): CheckVerdict {
  if (servers.length === 0) return notApplicable("no server is configured");
  const evidence: CheckEvidence[] = [];
  const left: CheckEvidence[] = [];
  const isLow = (grade: string | null): boolean => grade === "L0" || grade === "L1";
  for (const server of servers) {
    const path = ["mcpServers", server.name];
    for (const rule of server.tools) {
      const place = at([...path, "tools", rule.pattern]);
      const named = `\`${server.name}\` \`${rule.pattern}\``;
      if (rule.enabled) left.push({ text: `${named} is L3 and enabled`, ...place });
      if (!isLow(rule.grade)) continue;
      if (rule.isExact) evidence.push({ text: `${named} is ${rule.grade ?? ""} by its name`, ...place });
      else left.push(describePattern(server, named, rule.grade ?? "", place));
    }
    if (isLow(server.defaultGrade)) {
      const text = `every tool of \`${server.name}\` that no rule names is ${server.defaultGrade}`;
      left.push({ text, ...at([...path, "default"]) });
    }
  }
  if (evidence.length === 0 && left.length === 0)
    evidence.push({ text: "every tool is L2 or above: a person is asked each time" });
  return pass(evidence, left);
}

function describePattern(
  { source }: ServerConfig,
  named: string,
  grade: string,
  place: Pick<CheckEvidence, "file" | "line" | "setting">,
): CheckEvidence {
  const text =
    source === null
      ? `${named} has no effect without a \`source\``
      : `${named} makes every tool of such a name ${grade}, as far as it was there at first`;
  return { text, ...place };
}

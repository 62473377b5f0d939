/** The lines about secrets, the record, the network and sizes. Pure. */
import type { LateText, ServerConfig } from "../config/compiled.ts";
import type { ConfigPath } from "../config/problems.ts";
import {
  fail,
  notApplicable,
  pass,
  type CheckEvidence,
  type CheckFacts,
  type CheckRule,
  type CheckVerdict,
} from "./check-line.ts";

export const placeRules: readonly CheckRule[] = [
  {
    id: "state.place",
    area: "approvals",
    title: "state and configuration are yours alone",
    test: "test/contract/store-sqlite.test.ts",
    evaluate: checkFiles,
  },
  {
    id: "secrets.config",
    area: "secrets",
    title: "no secret stands in the configuration",
    evaluate: checkLiterals,
  },
  {
    id: "secrets.shown",
    area: "secrets",
    title: "secrets are resolved late, for one server, and appear in no file, output or error",
    test: "test/e2e/check-secrets.test.ts",
    evaluate: () =>
      pass([{ text: "every value that a reference gave is taken out of everything that is written" }]),
  },
  {
    id: "secrets.vault",
    area: "secrets",
    title: "tokens, pending arguments and kept answers are sealed on disk",
    evaluate: ({ config }) =>
      pass(
        [{ text: `AES-256-GCM; the key is \`vault.key\` in ${config.stateDir}` }],
        [
          {
            text: "the key lies beside what it seals: it protects copies and backups, not against your own user",
          },
        ],
      ),
  },
  {
    id: "audit.record",
    area: "audit",
    title: "every call is recorded, and no record was changed",
    test: "test/contract/store-sqlite.test.ts",
    evaluate: checkAudit,
  },
  {
    id: "egress.hosts",
    area: "egress",
    title: "only configured hosts are reached",
    test: "test/unit/egress/rules.test.ts",
    evaluate: checkHosts,
  },
  {
    id: "egress.redirects",
    area: "egress",
    title: "a redirect to another origin is never followed, and takes no secret along",
    test: "test/fault/egress-through-host.test.ts",
    proof: "redirect",
    evaluate: () => pass([{ text: "redirects are followed to the same origin only" }]),
  },
  {
    id: "egress.addresses",
    area: "egress",
    title: "no private, loopback, link-local or metadata address unless the entry says so",
    test: "test/property/egress-addresses.test.ts",
    proof: "private-address",
    evaluate: checkPrivate,
  },
  {
    id: "egress.unbound",
    area: "egress",
    title: "what the rules of egress do not bind",
    evaluate: checkUnbound,
  },
  {
    id: "caps.sizes",
    area: "caps",
    title: "everything that a server controls has a cap",
    test: "test/unit/results/intake.test.ts",
    proof: "oversized-result",
    evaluate: checkCaps,
  },
];

const GROUP_OR_OTHERS = 0o077;
const OTHERS_WRITE = 0o022;

function checkFiles({ config, files }: CheckFacts): CheckVerdict {
  const octal = (mode: number): string => mode.toString(8).padStart(4, "0");
  const evidence: CheckEvidence[] = [];
  const fixes: string[] = [];
  if (files.stateDir === null) evidence.push({ text: `state: ${config.stateDir} (no modes here)` });
  else {
    evidence.push({ text: `state: ${config.stateDir}, mode ${octal(files.stateDir.mode)}` });
    if ((files.stateDir.mode & GROUP_OR_OTHERS) !== 0) fixes.push(`chmod 700 ${config.stateDir}`);
    if (!files.stateDir.isOurs) fixes.push(`make ${config.stateDir} yours`);
  }
  for (const { name, mode } of files.stateFiles) {
    if ((mode & GROUP_OR_OTHERS) === 0) continue;
    evidence.push({ text: `others may read ${name} (mode ${octal(mode)})` });
    fixes.push(`chmod 600 ${config.stateDir}/${name}`);
  }
  if (config.file === null || files.config === null) return conclude(evidence, fixes);
  evidence.push({ text: `configuration: mode ${octal(files.config.mode)}`, file: config.file });
  if ((files.config.mode & OTHERS_WRITE) !== 0) fixes.push(`chmod go-w ${config.file}`);
  if (!files.config.isOurs) fixes.push(`make ${config.file} yours`);
  return conclude(evidence, fixes);
}

function conclude(evidence: readonly CheckEvidence[], fixes: readonly string[]): CheckVerdict {
  return fixes.length === 0 ? pass(evidence) : fail(evidence, fixes.join("; "));
}

function checkLiterals({ config, servers, at }: CheckFacts): CheckVerdict {
  const found: CheckEvidence[] = [];
  const look = (text: LateText | null, ...path: ConfigPath): void => {
    if (text?.reveal === undefined) return;
    found.push({ text: `${text.template} stands there`, ...at(path) });
  };
  for (const server of servers) lookThrough(server, look);
  look(config.egress.proxy, "egress", "proxy");
  look(config.notify.webhook, "notify", "webhook");
  if (config.store.kind === "postgresql") look(config.store.url, "store");
  if (found.length === 0) return pass([{ text: "no literal looks like a secret" }]);
  return fail(
    found,
    "set a variable where Portcullis starts and write `${env:NAME}`, or `${file:PATH}`, or `${keychain:NAME}`",
  );
}

function lookThrough(
  { name, launch, auth }: ServerConfig,
  look: (text: LateText | null, ...path: ConfigPath) => void,
): void {
  const path = ["mcpServers", name] as const;
  if (launch.kind === "stdio") {
    look(launch.command, ...path, "command");
    launch.args.forEach((text, index) => look(text, ...path, "args", index));
    for (const [variable, text] of Object.entries(launch.env)) look(text, ...path, "env", variable);
  } else {
    look(launch.url, ...path, "url");
    for (const [header, text] of Object.entries(launch.headers)) look(text, ...path, "headers", header);
  }
  look(auth?.clientId ?? null, ...path, "auth", "clientId");
  look(auth?.clientSecret ?? null, ...path, "auth", "clientSecret");
}

const RETENTION_MS = 7_776_000_000;
const DAY_MS = 86_400_000;

function checkAudit({ audit, config, at }: CheckFacts): CheckVerdict {
  const days = Math.floor(config.audit.retentionMs / DAY_MS);
  const place = at(["audit", "retention"]);
  const evidence: CheckEvidence[] = [
    { text: `${audit.records} records in ${audit.chains} chains, ${audit.anchors} anchors` },
    { text: `kept for ${days} days`, ...place },
  ];
  const left: CheckEvidence[] = [];
  if (config.audit.retentionMs < RETENTION_MS) left.push({ text: "90 days are the default", ...place });
  if (audit.lost > 0) left.push({ text: `${audit.lost} records could not be written` });
  if (audit.ok) return pass(evidence, left);
  for (const { writer, brokenAt, reason } of audit.broken)
    evidence.push({ text: `chain ${writer} is broken at ${brokenAt ?? "?"}: ${reason ?? ""}` });
  if (audit.anchorProblems.length > 0)
    evidence.push({ text: `${audit.anchorProblems.length} anchors do not fit what is there` });
  return fail(evidence, "somebody changed the record: run `portcullis audit`, and find out who could", left);
}

function checkHosts({ config, servers, at }: CheckFacts): CheckVerdict {
  const remote = servers.filter(({ launch }) => launch.kind !== "stdio");
  const { allow, certificates } = config.egress;
  if (remote.length === 0 && allow.length === 0) return notApplicable("no server is remote");
  const evidence = remote.map(({ name, launch }): CheckEvidence => ({
    text: `\`${name}\`: ${launch.kind === "stdio" ? "" : launch.url.template}`,
    ...at(["mcpServers", name, "url"]),
  }));
  evidence.push({
    text: `besides: ${allow.length === 0 ? "nothing" : allow.join(", ")}`,
    ...at(["egress", "allow"]),
  });
  const left = allow
    .filter((host) => host.startsWith("*."))
    .map((host): CheckEvidence => ({
      text: `\`${host}\` is every host below it`,
      ...at(["egress", "allow"]),
    }));
  if (certificates.length > 0) {
    const text = `whoever holds the key of an authority in ${certificates.join(", ")} can read along`;
    left.push({ text, ...at(["egress", "certificates"]) });
  }
  return pass(evidence, left);
}

function checkPrivate({ servers, at }: CheckFacts): CheckVerdict {
  const open = servers
    .filter(({ allowPrivateAddresses }) => allowPrivateAddresses)
    .map(({ name }): CheckEvidence => ({
      text: `\`${name}\` may be on a private or loopback address`,
      ...at(["mcpServers", name, "allowPrivateAddresses"]),
    }));
  return pass([{ text: "judged on every address that is connected to, whatever its name says" }], open);
}

function checkUnbound({ config, servers, at }: CheckFacts): CheckVerdict {
  const local = servers.filter(({ launch }) => launch.kind === "stdio");
  const hasProxy = config.egress.proxy !== null;
  if (local.length === 0 && !hasProxy) return notApplicable("no local server is configured, and no proxy");
  const free = local.filter(({ sandbox }) => sandbox === null || sandbox.net.length > 0);
  const left = free.map(({ name, sandbox }): CheckEvidence => {
    const text =
      sandbox === null
        ? `\`${name}\` opens any connection it likes: give it a \`sandbox\` where it needs none`
        : `\`${name}\` has the whole network: hosts are not told apart in a sandbox`;
    return { text, ...at(["mcpServers", name, ...(sandbox === null ? [] : ["sandbox", "net"])]) };
  });
  if (hasProxy) {
    const text = "the proxy resolves names itself: the addresses behind it are not judged here";
    left.push({ text, ...at(["egress", "proxy"]) });
  }
  const bound = local.length - free.length;
  return pass([{ text: `${bound} of ${local.length} local servers have no network` }], left);
}

const MIB = 1_048_576;
const DEFAULTS = { messageBytes: 16 * MIB, resultBytes: MIB, modelTokens: 25_000, concurrency: 8 } as const;

function checkCaps({ servers, at }: CheckFacts): CheckVerdict {
  const left = servers.flatMap(({ name, limits }): readonly CheckEvidence[] =>
    (["messageBytes", "resultBytes", "modelTokens", "concurrency"] as const)
      .filter((key) => limits[key] > DEFAULTS[key])
      .map((key) => ({
        text: `\`${name}\` may go up to ${limits[key]} (${key}; the default is ${DEFAULTS[key]})`,
        ...at(["mcpServers", name, "limits", key]),
      })),
  );
  return pass(
    [
      {
        text: `one message ${DEFAULTS.messageBytes / MIB} MiB, one result ${DEFAULTS.resultBytes / MIB} MiB, ${DEFAULTS.modelTokens} tokens to a model; lists, depth, schemas, patterns and time are bounded too`,
      },
    ],
    left,
  );
}

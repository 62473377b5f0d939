/** The lines about which servers there are, what is started for them, and with which rights. Pure. */
import { findDangers } from "../config/danger.ts";
import { passedNames } from "../config/child-env.ts";
import type { LaunchedPackage, ServerConfig } from "../config/compiled.ts";
import {
  fail,
  notApplicable,
  pass,
  type CheckEvidence,
  type CheckFacts,
  type CheckRule,
  type CheckVerdict,
} from "./check-line.ts";

export const serverRules: readonly CheckRule[] = [
  {
    id: "servers.source",
    area: "servers",
    title: "every server has a known source",
    evaluate: checkSources,
  },
  {
    id: "servers.versions",
    area: "servers",
    title: "every package that is fetched is locked to its bytes",
    test: "test/e2e/lock.test.ts",
    evaluate: checkVersions,
  },
  {
    id: "servers.definitions",
    area: "servers",
    title: "every tool definition was accepted as it is now",
    evaluate: checkDefinitions,
  },
  {
    id: "servers.commands",
    area: "servers",
    title: "commands that want a second look are named",
    test: "test/e2e/init.test.ts",
    evaluate: checkCommands,
  },
  {
    id: "privilege.environment",
    area: "privilege",
    title: "a server's process gets the variables of its entry, and a fixed few",
    test: "test/e2e/secrets.test.ts",
    evaluate: checkEnvironment,
  },
  {
    id: "privilege.sandbox",
    area: "privilege",
    title: "local servers run in a sandbox where the entry says so",
    test: "test/e2e/sandbox.test.ts",
    evaluate: checkSandbox,
  },
  {
    id: "privilege.scopes",
    area: "privilege",
    title: "scopes are asked for narrowly",
    evaluate: checkScopes,
  },
];

function isLocal({ launch }: ServerConfig): boolean {
  return launch.kind === "stdio";
}

function checkSources({ servers, at }: CheckFacts): CheckVerdict {
  if (servers.length === 0) return notApplicable("no server is configured");
  const evidence = servers.map(({ name, source }): CheckEvidence =>
    source === null
      ? { text: `\`${name}\` has none`, ...at(["mcpServers", name]) }
      : { text: `\`${name}\`: ${source}`, ...at(["mcpServers", name, "source"]) },
  );
  const missing = servers.filter(({ source }) => source === null).map(({ name }) => name);
  if (missing.length === 0) return pass(evidence);
  return fail(
    evidence,
    `say why you trust ${missing.join(", ")}: "source": "official", "own" or "audited"; or remove it`,
  );
}

function checkVersions(facts: CheckFacts): CheckVerdict {
  const fetched = facts.servers.filter((server) => server.package !== null || server.blocked !== null);
  if (fetched.length === 0) return notApplicable("no package is fetched");
  const fixes: string[] = [];
  const evidence = fetched.map((server): CheckEvidence => {
    const { text, fix } = describeVersion(server, facts);
    if (fix !== null) fixes.push(fix);
    return { text: `\`${server.name}\`: ${text}`, ...facts.at(["mcpServers", server.name, "args"]) };
  });
  return fixes.length === 0 ? pass(evidence) : fail(evidence, [...new Set(fixes)].join("; "));
}

function describeVersion(
  server: ServerConfig,
  { locks }: CheckFacts,
): { readonly text: string; readonly fix: string | null } {
  if (server.blocked !== null) return { text: server.blocked.reason, fix: server.blocked.fix };
  const lock = locks.get(server.name);
  const launched = server.package;
  if (launched === null) return { text: "fetches nothing", fix: null };
  const lockFix = `run \`portcullis lock ${server.name}\``;
  if (lock !== undefined) {
    if (lock.problem !== null) return { text: lock.problem, fix: lockFix };
    const { name, version, treeHash } = lock.record;
    return {
      text: `${name} ${version} is locked, and what is installed is ${treeHash.slice(0, 12)}…`,
      fix: null,
    };
  }
  return describeUnlocked(launched, lockFix);
}

function describeUnlocked(
  launched: LaunchedPackage,
  lockFix: string,
): { readonly text: string; readonly fix: string | null } {
  const named = `${launched.name} ${launched.version ?? ""}`.trim();
  switch (launched.ecosystem) {
    case "oci":
      return launched.version?.startsWith("sha256:") === true
        ? { text: `${named}: the digest is the lock`, fix: null }
        : {
            text: `${named}: a tag can be moved`,
            fix: `name ${launched.name} by its digest (\`@sha256:…\`)`,
          };
    case "npm":
      return { text: `${named}: its dependencies may change from one start to the next`, fix: lockFix };
    case "pypi":
      return {
        text: `${named}: its dependencies may change from one start to the next`,
        fix: `install ${launched.name} with a lock file of its own (\`uv pip sync\` with hashes) and start its program`,
      };
  }
}

function checkDefinitions({ servers, tools, listed, at }: CheckFacts): CheckVerdict {
  const known = servers.filter(({ name }) => listed.has(name));
  if (known.length === 0) return notApplicable("no server was listed yet");
  const open = tools.filter(({ pin, server }) => pin !== "accepted" && listed.has(server));
  const unlisted = servers
    .filter(({ name }) => !listed.has(name))
    .map(({ name }): CheckEvidence => ({ text: `\`${name}\` was not listed yet` }));
  if (open.length === 0) {
    const count = tools.length;
    return pass([{ text: `${count} definitions of ${known.length} servers are accepted` }], unlisted);
  }
  const evidence = open.map(({ server, tool, pin }): CheckEvidence => {
    const why = pin === "changed" ? "has changed and is held" : "was never looked at";
    return { text: `\`${server}\` \`${tool}\` ${why}`, ...at(["mcpServers", server]) };
  });
  const names = [...new Set(open.map(({ server }) => server))];
  return fail(evidence, names.map((name) => `run \`portcullis review ${name}\``).join("; "), unlisted);
}

function checkCommands({ servers, at, isRoot }: CheckFacts): CheckVerdict {
  const local = servers.filter(isLocal);
  if (local.length === 0) return notApplicable("no local server is configured");
  const left = local.flatMap((server): readonly CheckEvidence[] =>
    findDangers(server).map((danger) => ({
      text: `\`${server.name}\` ${danger}`,
      ...at(["mcpServers", server.name, "command"]),
    })),
  );
  if (isRoot) left.push({ text: "Portcullis runs as root, and so does every local server" });
  return pass(
    local.map(({ name, launch }) => ({
      text: `\`${name}\` starts \`${launch.kind === "stdio" ? launch.command.template : ""}\``,
      ...at(["mcpServers", name, "command"]),
    })),
    left,
  );
}

function checkEnvironment({ servers, at }: CheckFacts): CheckVerdict {
  const local = servers.filter(isLocal);
  if (local.length === 0) return notApplicable("no local server is configured");
  const always = passedNames(process.platform).join(", ");
  return pass([
    { text: `always, where they are set: ${always}` },
    ...local.map(({ name, launch }): CheckEvidence => {
      const names = launch.kind === "stdio" ? Object.keys(launch.env) : [];
      const own = names.length === 0 ? "nothing else" : names.join(", ");
      return { text: `\`${name}\`: ${own}`, ...at(["mcpServers", name, "env"]) };
    }),
  ]);
}

function checkSandbox({ servers, sandbox, at }: CheckFacts): CheckVerdict {
  const local = servers.filter(isLocal);
  if (local.length === 0) return notApplicable("no local server is configured");
  const evidence = local.flatMap((server): readonly CheckEvidence[] => {
    if (server.sandbox === null) return [];
    const { read, write, net } = server.sandbox;
    const what = `reads ${read.length}, writes ${write.length} places, ${net.length === 0 ? "no network" : "the whole network"}`;
    return [{ text: `\`${server.name}\` ${what}`, ...at(["mcpServers", server.name, "sandbox"]) }];
  });
  const left = local
    .filter((server) => server.sandbox === null)
    .map(({ name }): CheckEvidence => ({
      text: `\`${name}\` runs with all your rights: it can read your files, Portcullis's state among them`,
      ...at(["mcpServers", name]),
    }));
  if (sandbox !== null && !sandbox.ok)
    return fail([...evidence, { text: sandbox.reason }], sandbox.fix, left);
  if (evidence.length === 0) return pass([{ text: "no entry has a `sandbox`" }], left);
  return pass(evidence, left);
}

function checkScopes({ servers, at }: CheckFacts): CheckVerdict {
  const oauth = servers.filter(({ auth }) => auth?.type === "oauth" || auth?.type === "client_credentials");
  if (oauth.length === 0) return notApplicable("no server is logged in to");
  const evidence: CheckEvidence[] = [];
  const left: CheckEvidence[] = [];
  for (const { name, auth } of oauth) {
    const scopes = auth?.scopes ?? [];
    const place = at(["mcpServers", name, "auth"]);
    if (scopes.length > 0) evidence.push({ text: `\`${name}\`: ${scopes.join(" ")}`, ...place });
    else
      left.push({
        text: `\`${name}\` is asked for what the server says it needs; the login shows it`,
        ...place,
      });
  }
  return pass(evidence, left);
}

/**
 * What this version does with each key of the schema: one closed table. A key that is `not-yet` is refused by name and never
 * ignored; so is a key that is missing here. To turn a key on, change its line (and run `node scripts/schema.mjs`, which lists
 * the rest in the documentation). A line for a whole object speaks for everything in it.
 */
import { parseTemplate } from "./references.ts";
import { formatPath, type RawProblem } from "./problems.ts";
import { listUsedKeys, type UsedKey } from "./schema-walk.ts";

export type Support = "implemented" | "not-yet";

/** By key; a line with `=` is about one value of a key, and beats the key's own line. */
export const support: Readonly<Record<string, Support>> = {
  $schema: "implemented",
  mcpServers: "implemented",
  "mcpServers.*.command": "implemented",
  "mcpServers.*.args": "implemented",
  "mcpServers.*.env": "implemented",
  "mcpServers.*.cwd": "implemented",
  "mcpServers.*.url": "implemented",
  "mcpServers.*.headers": "implemented",
  "mcpServers.*.transport": "implemented",
  "mcpServers.*.type": "implemented",
  "mcpServers.*.timeout": "implemented",
  "mcpServers.*.disabled": "implemented",
  "mcpServers.*.auth": "implemented",
  "mcpServers.*.auth.type": "implemented",
  "mcpServers.*.auth.scopes": "implemented",
  "mcpServers.*.auth.issuer": "implemented",
  "mcpServers.*.auth.clientId": "implemented",
  "mcpServers.*.auth.clientSecret": "implemented",
  "mcpServers.*.auth.privateKey": "implemented",
  "mcpServers.*.auth.clientMetadataUrl": "implemented",
  "mcpServers.*.auth.redirectUri": "implemented",
  "mcpServers.*.auth.dpop": "implemented",
  "mcpServers.*.auth.assertion": "implemented",
  "mcpServers.*.auth.identityProvider": "implemented",
  "mcpServers.*.auth.identityProvider.issuer": "implemented",
  "mcpServers.*.auth.identityProvider.tokenEndpoint": "implemented",
  "mcpServers.*.auth.identityProvider.clientId": "implemented",
  "mcpServers.*.auth.identityProvider.clientSecret": "implemented",
  "mcpServers.*.auth.identityProvider.idToken": "implemented",
  "mcpServers.*.auth.per": "implemented",
  "mcpServers.*.source": "implemented",
  "mcpServers.*.scope": "implemented",
  "mcpServers.*.scope.may": "implemented",
  "mcpServers.*.scope.mayNot": "implemented",
  "mcpServers.*.tools": "implemented",
  "mcpServers.*.tools.*.grade": "implemented",
  "mcpServers.*.tools.*.enabled": "implemented",
  "mcpServers.*.tools.*.ask": "implemented",
  "mcpServers.*.tools.*.when": "implemented",
  "mcpServers.*.tools.*.when.arguments": "implemented",
  "mcpServers.*.tools.*.when.arguments.*.equals": "implemented",
  "mcpServers.*.tools.*.when.arguments.*.matches": "implemented",
  "mcpServers.*.tools.*.when.arguments.*.notMatches": "implemented",
  "mcpServers.*.tools.*.when.arguments.*.above": "implemented",
  "mcpServers.*.tools.*.when.arguments.*.below": "implemented",
  "mcpServers.*.tools.*.when.arguments.*.isPresent": "implemented",
  "mcpServers.*.tools.*.when.grade": "implemented",
  "mcpServers.*.tools.*.say": "implemented",
  "mcpServers.*.tools.*.preview": "implemented",
  "mcpServers.*.tools.*.preview.tool": "implemented",
  "mcpServers.*.tools.*.preview.args": "implemented",
  "mcpServers.*.tools.*.items": "implemented",
  "mcpServers.*.tools.*.confirm": "implemented",
  "mcpServers.*.tools.*.guard": "implemented",
  "mcpServers.*.tools.*.guard.sql": "implemented",
  "mcpServers.*.tools.*.guard.sql.argument": "implemented",
  "mcpServers.*.tools.*.guard.sql.dialect": "implemented",
  "mcpServers.*.tools.*.guard.sql.maxRows": "implemented",
  "mcpServers.*.tools.*.guard.path": "implemented",
  "mcpServers.*.tools.*.guard.path.argument": "implemented",
  "mcpServers.*.tools.*.guard.path.roots": "implemented",
  "mcpServers.*.tools.*.guard.url": "implemented",
  "mcpServers.*.tools.*.guard.url.argument": "implemented",
  "mcpServers.*.tools.*.guard.url.hosts": "implemented",
  "mcpServers.*.tools.*.guard.number": "implemented",
  "mcpServers.*.tools.*.guard.number.argument": "implemented",
  "mcpServers.*.tools.*.guard.number.min": "implemented",
  "mcpServers.*.tools.*.guard.number.max": "implemented",
  "mcpServers.*.tools.*.guard.match": "implemented",
  "mcpServers.*.tools.*.guard.match.argument": "implemented",
  "mcpServers.*.tools.*.guard.match.pattern": "implemented",
  "mcpServers.*.tools.*.undo": "implemented",
  "mcpServers.*.tools.*.undo.tool": "implemented",
  "mcpServers.*.tools.*.undo.args": "implemented",
  "mcpServers.*.tools.*.idempotent": "implemented",
  "mcpServers.*.tools.*.labels": "implemented",
  "mcpServers.*.tools.*.timeout": "implemented",
  "mcpServers.*.tools.*.schema": "implemented",
  "mcpServers.*.default": "implemented",
  "mcpServers.*.labels": "implemented",
  "mcpServers.*.limits": "implemented",
  "mcpServers.*.limits.timeout": "implemented",
  "mcpServers.*.limits.total": "implemented",
  "mcpServers.*.limits.connect": "implemented",
  "mcpServers.*.limits.concurrency": "implemented",
  "mcpServers.*.limits.perMinute": "implemented",
  "mcpServers.*.limits.resultBytes": "implemented",
  "mcpServers.*.limits.modelTokens": "implemented",
  "mcpServers.*.limits.messageBytes": "implemented",
  "mcpServers.*.connect": "implemented",
  "mcpServers.*.idleStop": "implemented",
  "mcpServers.*.scan": "implemented",
  "mcpServers.*.inputs": "implemented",
  "mcpServers.*.degraded": "implemented",
  "mcpServers.*.degraded.say": "implemented",
  "mcpServers.*.degraded.maxAge": "implemented",
  "mcpServers.*.rollout": "implemented",
  "mcpServers.*.rollout.percent": "implemented",
  "mcpServers.*.rollout.principals": "implemented",
  "mcpServers.*.sandbox": "implemented",
  "mcpServers.*.sandbox.read": "implemented",
  "mcpServers.*.sandbox.write": "implemented",
  "mcpServers.*.sandbox.net": "implemented",
  "mcpServers.*.allowPrivateAddresses": "implemented",
  egress: "implemented",
  "egress.allow": "implemented",
  "egress.proxy": "not-yet",
  "egress.certificates": "implemented",
  approvals: "implemented",
  "approvals.timeout": "implemented",
  "approvals.grants": "implemented",
  "approvals.channels": "implemented",
  "approvals.channels.L0": "implemented",
  "approvals.channels.L1": "implemented",
  "approvals.channels.L2": "implemented",
  "approvals.channels.L3": "implemented",
  "approvals.provenance": "implemented",
  "approvals.yes": "implemented",
  audit: "implemented",
  "audit.retention": "implemented",
  gateway: "implemented",
  "gateway.listen": "implemented",
  "gateway.requireToken": "implemented",
  store: "implemented",
  "store=postgresql": "implemented",
  limits: "implemented",
  "limits.concurrency": "implemented",
  "limits.startAtOnce": "implemented",
  notify: "implemented",
  "notify.desktop": "implemented",
  "notify.command": "implemented",
  "notify.webhook": "implemented",
  catalog: "implemented",
  log: "implemented",
  "log.level": "implemented",
  "log.format": "implemented",
  telemetry: "implemented",
  "telemetry.endpoint": "implemented",
  "telemetry.headers": "implemented",
  "telemetry.sample": "implemented",
  "telemetry.interval": "implemented",
};

/** By kind of late reference, anywhere in the configuration. */
export const referenceSupport: Readonly<Record<"env" | "file" | "keychain", Support>> = {
  env: "implemented",
  file: "implemented",
  keychain: "implemented",
};

/**
 * One problem (`config_not_yet`) for each thing that a valid raw configuration uses and `table` does not have; what stands
 * inside a refused object is not named again.
 */
export function findNotYet(
  raw: unknown,
  table: Readonly<Record<string, Support>> = support,
  references: Readonly<Record<string, Support>> = referenceSupport,
): readonly RawProblem[] {
  const problems: RawProblem[] = [];
  const refused = new Set<string>();
  for (const used of listUsedKeys(raw)) {
    const choice = choiceOf(used);
    const byChoice = choice === null ? undefined : lookUp(table, `${used.name}=${choice}`);
    if ((byChoice ?? lookUp(table, used.name) ?? "not-yet") === "implemented") continue;
    // Outer keys come first: what stands inside a refused one is not named again.
    if (used.path.some((_part, end) => refused.has(formatPath(used.path.slice(0, end))))) continue;
    const path = formatPath(used.path);
    const what = byChoice === undefined ? path : `${path} = ${JSON.stringify(choice)}`;
    refused.add(path);
    problems.push(notYet(used, `\`${what}\` is not implemented yet: remove it`));
  }
  return [...problems, ...findReferencesNotYet(raw, references)];
}

function lookUp(table: Readonly<Record<string, Support>>, name: string): Support | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

function choiceOf(used: UsedKey): string | null {
  if (typeof used.value !== "string") return null;
  if (used.name === "store") return /^postgres(?:ql)?:/i.test(used.value) ? "postgresql" : "sqlite";
  return used.value.length <= 40 ? used.value : null;
}

function notYet(used: { readonly path: RawProblem["path"] }, message: string): RawProblem {
  return { path: used.path, at: "key", message, code: "config_not_yet" };
}

function findReferencesNotYet(
  value: unknown,
  references: Readonly<Record<string, Support>>,
  path: RawProblem["path"] = [],
): readonly RawProblem[] {
  if (typeof value === "object" && value !== null) {
    return Object.entries(value).flatMap(([key, member]) =>
      findReferencesNotYet(member, references, [...path, Array.isArray(value) ? Number(key) : key]),
    );
  }
  if (typeof value !== "string" || !value.includes("${") || !holdsLateText(path)) return [];
  const parsed = parseTemplate(value);
  if (!parsed.ok) return [];
  return parsed.parts.flatMap((part) =>
    part.kind === "reference" && lookUp(references, part.reference.scheme) !== "implemented"
      ? [
          notYet(
            { path },
            `\`${part.source}\` is not implemented yet: write \`\${env:NAME}\` or \`\${file:PATH}\``,
          ),
        ]
      : [],
  );
}

/** Whether text at `path` is read for references; elsewhere (`say`, `schema`, …) `${` means nothing. */
function holdsLateText(path: RawProblem["path"]): boolean {
  if (path[0] !== "mcpServers") return ["egress", "store", "notify", "telemetry"].includes(String(path[0]));
  return ["command", "args", "env", "url", "headers", "auth"].includes(String(path[2]));
}

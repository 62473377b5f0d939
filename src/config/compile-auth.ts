/** The `auth` of an entry to its complete form, with what each type needs. */
import type { LateText, ServerAuth } from "./compiled.ts";
import type { Notes } from "./facts.ts";
import { compileLateText, proposeVariable } from "./late-text.ts";
import type { ConfigPath } from "./problems.ts";
import type { RawServer } from "./schema-server.ts";

type RawAuth = NonNullable<RawServer["auth"]>;

/** Types whose tokens are got by OAuth. */
const OAUTH_TYPES: ReadonlySet<RawAuth["type"]> = new Set([
  "oauth",
  "client_credentials",
  "workload_identity",
  "enterprise",
]);

/** What cannot be left out, by type. */
const NEEDED: Partial<Record<RawAuth["type"], readonly (keyof RawAuth)[]>> = {
  client_credentials: ["issuer", "clientId"],
  workload_identity: ["issuer", "assertion"],
  enterprise: ["issuer", "clientId", "identityProvider"],
};

export function compileAuth(name: string, raw: RawServer, notes: Notes): ServerAuth | null {
  const auth = raw.auth;
  if (auth === undefined) return null;
  const path: ConfigPath = ["mcpServers", name, "auth"];
  checkAuth(raw, auth, path, notes);
  const late = (key: "clientId" | "clientSecret" | "privateKey" | "assertion"): LateText | null => {
    const text = auth[key];
    return text === undefined
      ? null
      : compileText(text, [...path, key], [name, key], key !== "clientId", notes);
  };
  return {
    type: auth.type,
    scopes: [...new Set(auth.scopes ?? [])],
    issuer: auth.issuer ?? null,
    clientId: late("clientId"),
    clientSecret: late("clientSecret"),
    privateKey: late("privateKey"),
    clientMetadataUrl: auth.clientMetadataUrl ?? null,
    redirectUri: auth.redirectUri ?? null,
    dpop: auth.dpop ?? "auto",
    assertion: late("assertion"),
    identityProvider: compileProvider(name, auth, path, notes),
    per: auth.per ?? "shared",
  };
}

function checkAuth(raw: RawServer, auth: RawAuth, path: ConfigPath, notes: Notes): void {
  const missing = (NEEDED[auth.type] ?? []).filter((key) => auth[key] === undefined);
  if (missing.length > 0) {
    notes.wrong(path, `\`${auth.type}\` needs ${missing.map((key) => `\`${key}\``).join(", ")}`);
  } else if (
    auth.type === "client_credentials" &&
    auth.clientSecret === undefined &&
    auth.privateKey === undefined
  ) {
    notes.wrong(path, "`client_credentials` needs `clientSecret` or `privateKey`");
  }
  const hasAuthorization = Object.keys(raw.headers ?? {}).some(
    (header) => header.toLowerCase() === "authorization",
  );
  if (auth.type === "bearer" && !hasAuthorization) {
    notes.wrong(path, '`bearer` needs the token in "headers": { "Authorization": "Bearer ${env:NAME}" }');
  }
  if (OAUTH_TYPES.has(auth.type) && hasAuthorization) {
    notes.wrong(path, `\`${auth.type}\` gets its tokens itself: remove \`Authorization\` from \`headers\``);
  }
}

function compileProvider(
  name: string,
  { identityProvider: provider }: RawAuth,
  path: ConfigPath,
  notes: Notes,
): ServerAuth["identityProvider"] {
  if (provider === undefined) return null;
  const text = (key: "clientId" | "clientSecret" | "idToken", value: string): LateText =>
    compileText(value, [...path, "identityProvider", key], [name, "idp", key], key !== "clientId", notes);
  return {
    issuer: provider.issuer,
    tokenEndpoint: provider.tokenEndpoint ?? null,
    clientId: text("clientId", provider.clientId),
    clientSecret: provider.clientSecret === undefined ? null : text("clientSecret", provider.clientSecret),
    idToken: text("idToken", provider.idToken),
  };
}

function compileText(
  text: string,
  path: ConfigPath,
  names: readonly string[],
  isSecret: boolean,
  notes: Notes,
): LateText {
  const words = names.map((part) => part.replaceAll(/([a-z])([A-Z])/g, "$1_$2"));
  return compileLateText(text, {
    path,
    name: isSecret ? "password" : null,
    variable: proposeVariable(...words),
    notes,
  });
}

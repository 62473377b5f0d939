/**
 * Authorization for the scenarios `auth/*`: the profile of `src/auth/` as the package uses it, on a store of its own, with a
 * person made of code. There is no browser in the suite: the authorization URL is fetched, and the answer read from `Location`.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAuthorization } from "../src/auth/authorization.ts";
import { readChallenge } from "../src/auth/challenge.ts";
import { discoverResource } from "../src/auth/discovery.ts";
import { withAuthHttp } from "../src/auth/http.ts";
import type { Interaction } from "../src/auth/login.ts";
import { PLAIN_SETTINGS, type AuthSettings } from "../src/auth/settings.ts";
import { openVault } from "../src/auth/vault.ts";
import type { JsonObject } from "../src/base/json.ts";
import { systemClock as clock } from "../src/base/clock.ts";
import { systemRandom as random } from "../src/base/random.ts";
import type { UnauthorizedHook } from "../src/client/options.ts";
import { createHttpPort } from "../src/egress/dial.ts";
import { PortcullisError } from "../src/errors.ts";
import { openSqliteStore } from "../src/store/sqlite.ts";
import type { HttpPort } from "../src/transport/http-port.ts";

const REDIRECT_URI = "http://localhost:3000/callback";
const CLIENT_METADATA_URL = "https://conformance-test.local/client-metadata.json";
/** The suite's servers are plain http on loopback. */
const rules = { allowLoopbackHttp: true };

export interface SuiteAuth {
  port(inner: HttpPort): HttpPort;
  readonly onUnauthorized: UnauthorizedHook;
  close(): Promise<void>;
}

export async function createSuiteAuth(scenario: string, url: URL, context: JsonObject): Promise<SuiteAuth> {
  const dir = mkdtempSync(join(tmpdir(), "portcullis-conformance-"));
  const store = await openSqliteStore({ dir, role: "conformance", clock, random });
  const settings = { ...PLAIN_SETTINGS, ...settingsFor(scenario, context) };
  const authorization = createAuthorization({
    server: "suite",
    credential: "shared",
    url,
    rules,
    grant: settings.grant,
    // A configuration names the issuer of a machine's credentials; the suite's changes with every run.
    readSettings: async (signal) =>
      settings.grant === "person" ? settings : { ...settings, issuer: await readIssuer(url, signal) },
    openPort,
    documents: store.documents,
    leases: store.leases,
    vault: openVault({ dir, random }),
    clock,
    onSecrets: () => undefined,
    onExhausted: () => undefined,
  });

  return {
    port: (inner) => authorization.port(inner),
    async onUnauthorized(error, signal) {
      try {
        await authorization.mend(error, signal);
      } catch (cause) {
        const needsPerson = cause instanceof PortcullisError && cause.code === "auth_required";
        if (!needsPerson || settings.grant !== "person") throw cause;
        const header = error.data["wwwAuthenticate"];
        const wwwAuthenticate = typeof header === "string" ? header : undefined;
        await authorization.login(createPerson(), { wwwAuthenticate }, signal);
      }
      return {};
    },
    async close() {
      await store.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

function openPort(origin: string): HttpPort {
  return createHttpPort({ clock, rules: { origins: [origin], allow: [], allowPrivateAddresses: true } });
}

function settingsFor(scenario: string, context: JsonObject): Partial<AuthSettings> {
  const text = (name: string): string | null => (typeof context[name] === "string" ? context[name] : null);
  const client = { clientId: text("client_id"), clientSecret: text("client_secret") };
  switch (scenario) {
    case "auth/client-credentials-basic":
    case "auth/client-credentials-jwt":
      return { ...client, grant: "client_credentials", privateKey: text("private_key_pem") };
    case "auth/wif-jwt-bearer":
      return { ...client, grant: "workload_identity", assertion: text("valid_jwt") };
    case "auth/enterprise-managed-authorization":
      return {
        ...client,
        grant: "enterprise",
        identityProvider: {
          issuer: text("idp_issuer") ?? "",
          tokenEndpoint: text("idp_token_endpoint"),
          clientId: text("idp_client_id") ?? "",
          clientSecret: null,
          idToken: text("idp_id_token") ?? "",
        },
      };
    default:
      return { ...client, clientMetadataUrl: CLIENT_METADATA_URL };
  }
}

async function readIssuer(url: URL, signal: AbortSignal): Promise<string | null> {
  const found = await withAuthHttp({ openPort, clock }, signal, (http) =>
    discoverResource({ http, rules, server: url, accept: async () => undefined }, readChallenge(undefined)),
  );
  return found?.authorizationServers[0] ?? null;
}

/** Agrees to everything, and follows the browser's redirect. */
function createPerson(): Interaction {
  const arrived = Promise.withResolvers<URLSearchParams>();
  return {
    confirm: async () => true,
    openReceiver: async () => ({
      redirectUri: REDIRECT_URI,
      async receive(isOurs) {
        const query = await arrived.promise;
        if (isOurs(query)) return query;
        throw new PortcullisError("auth_failed", "the answer belongs to another request");
      },
      close: async () => undefined,
    }),
    async show(url) {
      const response = await fetch(url, { redirect: "manual" });
      arrived.resolve(new URL(response.headers.get("location") ?? "about:blank").searchParams);
    },
  };
}

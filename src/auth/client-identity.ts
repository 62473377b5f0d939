/** Who we are to an authorization server, and how we prove it at its token endpoint (RFC 6749 §2.3, RFC 7523 §2.2). */
import { createPrivateKey, webcrypto } from "node:crypto";
import * as oauth from "oauth4webapi";
import { PortcullisError } from "../errors.ts";
import type { AuthServer } from "./server-metadata.ts";
import type { AuthSettings } from "./settings.ts";

export type TokenAuthMethod = "none" | "client_secret_basic" | "client_secret_post" | "private_key_jwt";

export interface ClientIdentity {
  readonly clientId: string;
  readonly method: TokenAuthMethod;
  readonly secret: string | null;
  /** `configured`: secrets are read from the configuration each time and stored nowhere. */
  readonly source: "configured" | "document" | "registered" | "given";
}

/** How a client with this to show proves itself (AUTH-65): what the server offers, the strongest first. */
export function chooseTokenAuth(
  server: Pick<AuthServer, "tokenAuthMethods">,
  has: { readonly secret: boolean; readonly key: boolean },
): TokenAuthMethod {
  const offered = server.tokenAuthMethods ?? ["client_secret_basic"];
  if (has.key) return "private_key_jwt";
  if (!has.secret) return "none";
  const usable = ["client_secret_basic", "client_secret_post"] as const;
  return usable.find((method) => offered.includes(method)) ?? "client_secret_basic";
}

/** The client of the configuration, as it stands now. */
export function configuredClient(settings: AuthSettings, server: AuthServer): ClientIdentity | undefined {
  const { clientId, clientSecret, privateKey } = settings;
  if (clientId === null) return undefined;
  const method = chooseTokenAuth(server, { secret: clientSecret !== null, key: privateKey !== null });
  return { clientId, method, secret: clientSecret, source: "configured" };
}

/** The library's form of both. @throws PortcullisError `config_invalid` where the key cannot be used. */
export async function proveClient(
  client: ClientIdentity,
  settings: AuthSettings,
): Promise<{ readonly client: oauth.Client; readonly auth: oauth.ClientAuth }> {
  return { client: { client_id: client.clientId }, auth: await clientAuth(client, settings) };
}

async function clientAuth(client: ClientIdentity, settings: AuthSettings): Promise<oauth.ClientAuth> {
  const secret = client.source === "configured" ? settings.clientSecret : client.secret;
  switch (client.method) {
    case "private_key_jwt":
      return oauth.PrivateKeyJwt(await importPrivateKey(settings.privateKey ?? ""));
    case "client_secret_basic":
      return secret === null ? oauth.None() : secretBasic(secret);
    case "client_secret_post":
      return secret === null ? oauth.None() : oauth.ClientSecretPost(secret);
    case "none":
      return oauth.None();
  }
}

/**
 * RFC 6749 §2.3.1, encoded as a form is (WHATWG URL): the library's own form also encodes `-`, `.` and `_`, which is right too, but
 * servers that do not decode are many.
 */
export function secretBasic(secret: string): oauth.ClientAuth {
  const encode = (text: string): string => new URLSearchParams({ v: text }).toString().slice(2);
  return (_as, client, _body, headers) => {
    const pair = `${encode(client.client_id)}:${encode(secret)}`;
    headers.set("authorization", `Basic ${Buffer.from(pair).toString("base64")}`);
  };
}

const CURVES: Readonly<Record<string, string>> = {
  prime256v1: "P-256",
  secp384r1: "P-384",
  secp521r1: "P-521",
};

/** A PEM key (PKCS #8, PKCS #1 or SEC 1): EC for ES256, ES384 and ES512, RSA for RS256, Ed25519. */
async function importPrivateKey(pem: string): Promise<oauth.CryptoKey> {
  try {
    const key = createPrivateKey(pem);
    const curve = CURVES[key.asymmetricKeyDetails?.namedCurve ?? ""];
    const algorithm =
      key.asymmetricKeyType === "ec" && curve !== undefined
        ? { name: "ECDSA", namedCurve: curve }
        : key.asymmetricKeyType === "rsa"
          ? { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" }
          : { name: "Ed25519" };
    const der = key.export({ type: "pkcs8", format: "der" });
    return await webcrypto.subtle.importKey("pkcs8", der, algorithm, false, ["sign"]);
  } catch {
    // The original could quote the key.
    throw new PortcullisError(
      "config_invalid",
      "`auth.privateKey` is no PEM key of the kind EC, RSA or Ed25519",
    );
  }
}

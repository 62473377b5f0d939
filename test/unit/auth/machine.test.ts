/** Tokens without a person: what is sent, to whom alone, and what a refusal means. */
import { createPublicKey, createVerify, generateKeyPairSync, verify, type KeyObject } from "node:crypto";
import { inspect } from "node:util";
import { afterEach, describe, expect, it } from "vitest";
import type { AuthSettings } from "../../../src/auth/settings.ts";
import { askServer, createAuthKit, failureOf, openLoopbackPort, refusal } from "../../support/auth-kit.ts";
import { startAuthServer, type AuthServer, type AuthServerOptions } from "../../support/auth-server.ts";

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

const JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer";

async function start(options: AuthServerOptions = {}): Promise<AuthServer> {
  const server = await startAuthServer(options);
  ends.push(server.close);
  return server;
}

async function stage(as: AuthServer, settings: Partial<AuthSettings>) {
  const kit = await createAuthKit();
  ends.push(kit.close);
  const authorization = kit.authorization(as.url, { issuer: as.origin, ...settings });
  const port = authorization.port(openLoopbackPort(as.origin));
  ends.push(port.close);
  return {
    kit,
    async call(): Promise<number> {
      const answer = await askServer(port, as.url);
      if (answer.status !== 401) return answer.status;
      await authorization.mend(refusal(answer), AbortSignal.timeout(10_000));
      return (await askServer(port, as.url)).status;
    },
  };
}

function jwt(header: object, claims: object): string {
  return [header, claims, {}]
    .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
    .join(".");
}

function readJwt(token: string): {
  header: Record<string, unknown>;
  claims: Record<string, unknown>;
  signed: string;
  signature: Buffer;
} {
  const [header = "", claims = "", signature = ""] = token.split(".");
  const read = (part: string): Record<string, unknown> =>
    JSON.parse(Buffer.from(part, "base64url").toString()) as Record<string, unknown>;
  return {
    header: read(header),
    claims: read(claims),
    signed: `${header}.${claims}`,
    signature: Buffer.from(signature, "base64url"),
  };
}

describe("client credentials [AEXT-02, AEXT-04]", () => {
  const secret = {
    grant: "client_credentials",
    clientId: "machine",
    clientSecret: "s3cret-of-the-machine",
  } as const;

  it("proves itself by its secret, names the resource, asks for the scopes, and is renewed by itself [AEXT-03, AEXT-05]", async () => {
    const as = await start({ metadata: { token_endpoint_auth_methods_supported: ["client_secret_basic"] } });
    const { kit, call } = await stage(as, { ...secret, scopes: ["jobs"] });
    expect(await call()).toBe(200);
    const [asked] = as.to("/token");
    expect(asked?.form).toEqual({ grant_type: "client_credentials", scope: "jobs", resource: as.url.href });
    expect(Buffer.from(String(asked?.headers.authorization).slice(6), "base64").toString()).toBe(
      "machine:s3cret-of-the-machine",
    );
    as.expireAll();
    expect(await call()).toBe(200);
    expect(as.to("/token")).toHaveLength(2);
    // The secret is read from the configuration each time, and lies nowhere else.
    expect(JSON.stringify(await kit.store.documents.list("tokens"))).not.toContain("s3cret");
  });

  it.each([
    ["ES256", generateKeyPairSync("ec", { namedCurve: "P-256" })],
    ["ES384", generateKeyPairSync("ec", { namedCurve: "P-384" })],
    ["RS256", generateKeyPairSync("rsa", { modulusLength: 2048 })],
    ["Ed25519", generateKeyPairSync("ed25519")],
  ])(
    "signs with a key of the kind %s: issuer and subject the client, audience the issuer (trap 7) [AEXT-03, AEXT-04]",
    async (alg, pair) => {
      const as = await start({ metadata: { token_endpoint_auth_methods_supported: ["private_key_jwt"] } });
      const privateKey = pair.privateKey.export({ type: "pkcs8", format: "pem" }).toString();
      const { call } = await stage(as, { grant: "client_credentials", clientId: "machine", privateKey });
      expect(await call()).toBe(200);
      const form = as.to("/token")[0]?.form ?? {};
      expect(form["grant_type"]).toBe("client_credentials");
      expect(form["client_assertion_type"]).toBe("urn:ietf:params:oauth:client-assertion-type:jwt-bearer");
      const { header, claims, signed, signature } = readJwt(form["client_assertion"] ?? "");
      expect(header["alg"]).toBe(alg);
      expect(claims).toMatchObject({ iss: "machine", sub: "machine", aud: as.origin });
      expect(Number(claims["exp"]) - Number(claims["iat"])).toBeLessThanOrEqual(300);
      expect(
        isSigned(
          alg,
          signed,
          signature,
          createPublicKey(pair.publicKey.export({ type: "spki", format: "pem" }).toString()),
        ),
      ).toBe(true);
    },
  );

  it("names a key that cannot be used, and quotes nothing of it", async () => {
    const as = await start();
    const { call } = await stage(as, {
      grant: "client_credentials",
      clientId: "machine",
      privateKey: "-----BEGIN hush-----",
    });
    const error = await failureOf(call());
    expect(error).toMatchObject({ code: "auth_failed", message: expect.stringContaining("auth.privateKey") });
    expect(inspect(error, { depth: 9 })).not.toContain("hush");
  });

  it("shows nothing to an authorization server that the operator did not name [AEXT-06]", async () => {
    const evil = await start();
    const as = await start({ resourceMetadata: { authorization_servers: [evil.origin] } });
    const { call, kit } = await stage(as, secret);
    const error = await failureOf(call());
    expect(error).toMatchObject({ code: "auth_failed" });
    expect(error.message).toContain(evil.origin);
    expect(error.message).toContain(as.origin);
    expect(evil.asked).toEqual([]);
    expect(kit.opened).not.toContain(evil.origin);
  });

  it("asks nobody where no issuer is named", async () => {
    const as = await start();
    const { call } = await stage(as, { ...secret, issuer: null });
    expect(await failureOf(call())).toMatchObject({
      code: "auth_failed",
      message: expect.stringContaining("auth.issuer"),
    });
    expect(as.to("/token")).toEqual([]);
  });

  it("chooses the named one among several [AUTH-14]", async () => {
    const other = await start();
    const as = await start();
    as.options.resourceMetadata = { authorization_servers: [other.origin, as.origin] };
    const { call } = await stage(as, secret);
    expect(await call()).toBe(200);
    expect(other.asked).toEqual([]);
  });

  it("tells a refusal by its code, once", async () => {
    const as = await start({
      onToken: () => ({ status: 401, body: '{"error":"invalid_client","error_description":"hush"}' }),
    });
    const { call } = await stage(as, secret);
    const error = await failureOf(call());
    expect(error).toMatchObject({ code: "auth_failed", data: { oauthError: "invalid_client" } });
    expect(inspect(error, { depth: 9 })).not.toMatch(/hush|s3cret/);
    expect(as.to("/token")).toHaveLength(1);
  });
});

function isSigned(alg: string, signed: string, signature: Buffer, key: KeyObject): boolean {
  if (alg === "Ed25519") return verify(null, Buffer.from(signed), key, signature);
  if (alg === "RS256") return createVerify("sha256").update(signed).verify(key, signature);
  const dsaEncoding = "ieee-p1363" as const;
  return verify(alg === "ES384" ? "sha384" : "sha256", Buffer.from(signed), { key, dsaEncoding }, signature);
}

describe("workload identity [AEXT-15]", () => {
  it("shows the workload's JWT as it is, and is nobody besides", async () => {
    const as = await start();
    const { call } = await stage(as, { grant: "workload_identity", assertion: "h.workload.s" });
    expect(await call()).toBe(200);
    const [asked] = as.to("/token");
    expect(asked?.form).toEqual({
      grant_type: JWT_BEARER,
      assertion: "h.workload.s",
      scope: "read",
      resource: as.url.href,
    });
    expect(asked?.headers.authorization).toBeUndefined();
  });

  it.each(["invalid_grant", "invalid_scope", "unauthorized_client"])(
    "tells `%s` and tries nothing else",
    async (error) => {
      const as = await start({ onToken: () => ({ status: 400, body: JSON.stringify({ error }) }) });
      const { call } = await stage(as, {
        grant: "workload_identity",
        clientId: "w",
        assertion: "h.workload.s",
      });
      expect(await failureOf(call())).toMatchObject({ code: "auth_failed", data: { oauthError: error } });
      expect(as.to("/token")).toHaveLength(1);
    },
  );
});

describe("an organisation's identity provider [AEXT-08, AEXT-09, AEXT-10, AEXT-11]", () => {
  async function enterprise(
    change: (claims: Record<string, unknown>, header: Record<string, unknown>) => void = () => undefined,
    answer: object = {},
  ) {
    const as = await start();
    const provider = await start({
      onToken(form) {
        const claims = {
          iss: "idp",
          aud: form["audience"],
          resource: form["resource"],
          client_id: "at-the-server",
        };
        const header = { alg: "ES256", typ: "oauth-id-jag+jwt" };
        change(claims, header);
        const body = {
          access_token: jwt(header, claims),
          issued_token_type: "urn:ietf:params:oauth:token-type:id-jag",
          token_type: "N_A",
          ...answer,
        };
        return { status: 200, body: JSON.stringify(body) };
      },
    });
    const identityProvider = {
      issuer: provider.origin,
      tokenEndpoint: null,
      clientId: "at-the-idp",
      clientSecret: null,
      idToken: "the.id.token",
    };
    const settings = {
      grant: "enterprise",
      clientId: "at-the-server",
      clientSecret: "s3cret",
      identityProvider,
      scopes: ["jobs"],
    } as const;
    return { as, provider, ...(await stage(as, settings)) };
  }

  it("exchanges the ID token there, and shows what came of it here", async () => {
    const { as, provider, call } = await enterprise();
    expect(await call()).toBe(200);
    expect(provider.to("/token")[0]?.form).toEqual({
      grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
      requested_token_type: "urn:ietf:params:oauth:token-type:id-jag",
      audience: as.origin,
      resource: as.url.href,
      subject_token: "the.id.token",
      subject_token_type: "urn:ietf:params:oauth:token-type:id_token",
      scope: "jobs",
      client_id: "at-the-idp",
    });
    const [asked] = as.to("/token");
    expect(asked?.form["grant_type"]).toBe(JWT_BEARER);
    expect(readJwt(asked?.form["assertion"] ?? "").claims["client_id"]).toBe("at-the-server");
    expect(asked?.headers.authorization).toMatch(/^Basic /);
    expect(as.to("/authorize")).toEqual([]);
  });

  it.each([
    ["typ", (_claims: Record<string, unknown>, header: Record<string, unknown>) => (header["typ"] = "JWT")],
    ["aud", (claims: Record<string, unknown>) => (claims["aud"] = "https://evil.example")],
    [
      "aud",
      (claims: Record<string, unknown>) =>
        (claims["aud"] = ["https://evil.example", "https://other.example"]),
    ],
    ["client_id", (claims: Record<string, unknown>) => (claims["client_id"] = "another")],
    ["resource", (claims: Record<string, unknown>) => (claims["resource"] = "https://evil.example")],
  ])("shows no assertion that is bound to something else: %s", async (field, change) => {
    const { as, call } = await enterprise((claims, header) => void change(claims, header));
    expect(await failureOf(call())).toMatchObject({
      code: "auth_failed",
      message: expect.stringContaining(`\`${field}\``),
    });
    expect(as.to("/token")).toEqual([]);
  });

  it("shows no token that is no such assertion", async () => {
    const { as, call } = await enterprise(undefined, {
      issued_token_type: "urn:ietf:params:oauth:token-type:access_token",
    });
    expect(await failureOf(call())).toMatchObject({ message: expect.stringContaining("issued_token_type") });
    expect(as.to("/token")).toEqual([]);
  });
});

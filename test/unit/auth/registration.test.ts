import { afterEach, describe, expect, it } from "vitest";
import type { Registration } from "../../../src/auth/credentials.ts";
import { chooseTokenAuth } from "../../../src/auth/client-identity.ts";
import { chooseClientWay } from "../../../src/auth/registration.ts";
import { assumeServer } from "../../../src/auth/server-metadata.ts";
import {
  askServer,
  createAuthKit,
  createPerson,
  failureOf,
  openLoopbackPort,
  refusal,
} from "../../support/auth-kit.ts";
import { startAuthServer, type AuthServerOptions } from "../../support/auth-server.ts";

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

const server = { ...assumeServer("https://as.example"), takesMetadataDocuments: true };
const known: Registration = {
  issuer: "https://as.example",
  redirectUri: "http://127.0.0.1:1/callback",
  client: { clientId: "known", method: "none", secret: null, source: "registered" },
  expiresAt: null,
};
const bare = { clientId: null, clientMetadataUrl: null };
const now = { redirectUri: "http://127.0.0.1:1/callback", ms: 1_000 };

describe("chooseClientWay [AUTH-21, AUTH-22, AUTH-24]", () => {
  it.each([
    [
      "configured first",
      server,
      { clientId: "c", clientMetadataUrl: "https://x.example/m" },
      known,
      "configured",
    ],
    ["then the document", server, { ...bare, clientMetadataUrl: "https://x.example/m" }, known, "document"],
    [
      "but only where it is taken",
      { ...server, takesMetadataDocuments: false },
      { ...bare, clientMetadataUrl: "https://x.example/m" },
      undefined,
      "register",
    ],
    ["then what was registered", server, bare, known, "registered"],
    [
      "unless for another redirect URI",
      server,
      bare,
      { ...known, redirectUri: "http://127.0.0.1:2/callback" },
      "register",
    ],
    ["or run out", server, bare, { ...known, expiresAt: 1_000 }, "register"],
    ["then registration", server, bare, undefined, "register"],
    ["then a person", { ...server, registrationEndpoint: null }, bare, undefined, "ask"],
  ] as const)("%s", (_name, as, settings, registration, expected) => {
    expect(chooseClientWay(as, settings, registration, now)).toBe(expected);
  });
});

describe("chooseTokenAuth [AUTH-65]", () => {
  it.each([
    [null, { secret: true, key: false }, "client_secret_basic"],
    [["client_secret_post"], { secret: true, key: false }, "client_secret_post"],
    [["client_secret_post", "client_secret_basic"], { secret: true, key: false }, "client_secret_basic"],
    [["none"], { secret: true, key: false }, "client_secret_basic"],
    [["client_secret_basic"], { secret: false, key: false }, "none"],
    [["client_secret_basic"], { secret: true, key: true }, "private_key_jwt"],
  ] as const)("%j with %j: %s", (tokenAuthMethods, has, expected) => {
    expect(chooseTokenAuth({ tokenAuthMethods }, has)).toBe(expected);
  });
});

async function logIn(options: AuthServerOptions, settings: object = {}) {
  const as = await startAuthServer(options);
  ends.push(as.close);
  const kit = await createAuthKit();
  ends.push(kit.close);
  const authorization = kit.authorization(as.url, settings);
  const login = () => authorization.login(createPerson(), null, AbortSignal.timeout(10_000));
  return { as, kit, authorization, login };
}

describe("registration", () => {
  it.each([
    ["native", "http://127.0.0.1:1455/callback"],
    ["web", "https://app.example/callback"],
  ])(
    "says that it is a %s application, wants refresh tokens, and is for the redirect URI of the login [AUTH-28, AUTH-29, AUTH-36, AUTH-62]",
    async (application_type, redirectUri) => {
      const { as, login } = await logIn({}, redirectUri.startsWith("https") ? { redirectUri } : {});
      await login();
      expect(as.to("/register")[0]?.document).toEqual({
        client_name: "Portcullis",
        application_type,
        redirect_uris: [redirectUri],
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
        token_endpoint_auth_method: "none",
        scope: "read",
      });
      expect(as.to("/authorize")[0]?.form["redirect_uri"]).toBe(redirectUri);
    },
  );

  it("is another one at each authorization server: a changed one sees neither client nor token of the old [AUTH-15, AUTH-16, AUTH-18, AUTH-19, AUTH-59]", async () => {
    const { as, kit, authorization, login } = await logIn({});
    const other = await startAuthServer();
    ends.push(other.close);
    await login();
    as.options.resourceMetadata = { authorization_servers: [other.origin] };
    as.expireAll();
    const port = authorization.port(openLoopbackPort(as.origin));
    ends.push(port.close);
    const refused = refusal(await askServer(port, as.url));
    expect(await failureOf(authorization.mend(refused, AbortSignal.timeout(10_000)))).toMatchObject({
      code: "auth_required",
      message: expect.stringContaining(other.origin),
    });
    expect(other.asked).toEqual([]);
    await login();
    expect(other.to("/register")).toHaveLength(1);
    const [first, second] = [as, other].map((server) => server.to("/authorize")[0]?.form["client_id"]);
    expect(second).not.toBe(first);
    expect(other.to("/token")[0]?.form["client_id"]).toBe(second);
    const seen = JSON.stringify(other.asked);
    for (const secret of [...as.issued, first ?? ""]) expect(seen).not.toContain(secret);
    // Back at the old one its own registration is still there.
    as.options.resourceMetadata = { authorization_servers: [as.origin] };
    await login();
    expect(as.to("/authorize").map(({ form }) => form["client_id"])).toEqual([first, first]);
    expect(as.to("/register")).toHaveLength(1);
    expect(kit.opened).toContain(other.origin);
  });

  it("is made once, and used for every later login with the same redirect URI [AUTH-17]", async () => {
    const { as, login } = await logIn({});
    await login();
    await login();
    expect(as.to("/register")).toHaveLength(1);
    const [first, second] = as.to("/authorize");
    expect(second?.form["client_id"]).toBe(first?.form["client_id"]);
  });

  it.each([
    [
      "client_secret_basic",
      (headers: Readonly<Record<string, unknown>>) => String(headers["authorization"]).startsWith("Basic "),
    ],
    [
      "client_secret_post",
      (_headers: unknown, form: Readonly<Record<string, string>>) =>
        form["client_secret"] === "s3cret-of-the-client",
    ],
  ])(
    "proves itself by %s where the server says so, and tells the redactor [AUTH-65]",
    async (method, isRight) => {
      const { as, kit, login } = await logIn({
        metadata: { token_endpoint_auth_methods_supported: [method] },
        registration: { client_secret: "s3cret-of-the-client", token_endpoint_auth_method: method },
      });
      await login();
      const [asked] = as.to("/token");
      expect(isRight(asked?.headers ?? {}, asked?.form ?? {})).toBe(true);
      expect(kit.secrets).toContain("s3cret-of-the-client");
    },
  );

  it("encodes what it sends by Basic as a form does, so that ids with dashes are understood everywhere", async () => {
    const { as, login } = await logIn(
      { metadata: { token_endpoint_auth_methods_supported: ["client_secret_basic"] } },
      { clientId: "my-client.1", clientSecret: "a b:c%" },
    );
    await login();
    const header = String(as.to("/token")[0]?.headers.authorization).replace("Basic ", "");
    expect(Buffer.from(header, "base64").toString()).toBe("my-client.1:a+b%3Ac%25");
  });

  it("is made anew once where the token endpoint has forgotten it [AUTH-30]", async () => {
    let first: string | undefined;
    const { as, login } = await logIn({
      onToken(form) {
        first ??= form["client_id"];
        return form["client_id"] === first ? { status: 401, body: '{"error":"invalid_client"}' } : undefined;
      },
    });
    await login();
    expect(as.to("/register")).toHaveLength(2);
  });

  it("is not made a third time", async () => {
    const { as, login } = await logIn({
      onToken: () => ({ status: 401, body: '{"error":"invalid_client"}' }),
    });
    expect(await failureOf(login())).toMatchObject({
      code: "auth_failed",
      data: { oauthError: "invalid_client" },
    });
    expect(as.to("/register")).toHaveLength(2);
  });

  it("is explained where it is refused, without the server's words [AUTH-30, AUTH-31]", async () => {
    const { as, login } = await logIn({ metadata: { registration_endpoint: undefined } });
    const none = await failureOf(login());
    expect(none.message).toContain("http://127.0.0.1:1455/callback");
    expect(none.message).toContain("auth.clientId");
    as.options.metadata = { registration_endpoint: `${as.origin}/nowhere` };
    const refused = await failureOf(login());
    expect(refused).toMatchObject({ code: "auth_failed", data: { status: 404 } });
    expect(refused.message).toContain("registration");
  });

  it("goes by the document's URL where the server takes one [AUTH-23, AUTH-24]", async () => {
    const clientMetadataUrl = "https://client.example/portcullis.json";
    const { as, login } = await logIn(
      { metadata: { client_id_metadata_document_supported: true } },
      { clientMetadataUrl },
    );
    await login();
    expect(as.to("/authorize")[0]?.form["client_id"]).toBe(clientMetadataUrl);
    expect(as.to("/register")).toEqual([]);
  });

  it("keeps configured credentials to the issuer that they were used with [AUTH-17, AUTH-18, AUTH-20, AUTH-27]", async () => {
    const { as, kit, login } = await logIn({}, { clientId: "mine", clientSecret: "of-the-operator" });
    const other = await startAuthServer();
    ends.push(other.close);
    await login();
    as.options.resourceMetadata = { authorization_servers: [other.origin] };
    const error = await failureOf(login());
    expect(error.code).toBe("auth_failed");
    expect(error.message).toContain(as.origin);
    expect(error.message).toContain(other.origin);
    expect(other.asked.every(({ path }) => path.startsWith("/.well-known/"))).toBe(true);
    // The operator says that it is right.
    const authorization = kit.authorization(as.url, {
      clientId: "mine",
      clientSecret: "of-the-operator",
      issuer: other.origin,
    });
    await authorization.login(createPerson(), null, AbortSignal.timeout(10_000));
    expect(other.to("/token")).toHaveLength(1);
  });

  it("refuses a server that names another issuer than the configured one [AUTH-20]", async () => {
    const { as, login } = await logIn({}, { clientId: "mine", issuer: "https://as.example" });
    expect((await failureOf(login())).message).toMatch(/https:\/\/as\.example/);
    expect(as.to("/authorize")).toEqual([]);
  });
});

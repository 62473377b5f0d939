/** Discovery against the outside server with its variations: challenge forms, places of metadata, issuer and resource spelling, `iss`, PKCE. */
import { inspect } from "node:util";
import { afterEach, expect, it } from "vitest";
import {
  askServer,
  createAuthKit,
  createPerson,
  failureOf,
  onlyOrigins,
  openLoopbackPort,
  type AuthKit,
} from "../support/auth-kit.ts";
import { describeField, fieldServer } from "../support/field.ts";
import { startScriptServer, type ScriptServer } from "../support/local-http.ts";

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

interface Stage {
  readonly server: ScriptServer;
  readonly kit: AuthKit;
  /** Logs in like `portcullis login` and asks once with the token. */
  login(person?: ReturnType<typeof createPerson>): Promise<number>;
}

async function stage(env: Record<string, string>): Promise<Stage> {
  const server = await startScriptServer(fieldServer("fc82-oauth-discovery"), env);
  ends.push(server.close);
  const kit = await createAuthKit();
  ends.push(kit.close);
  return {
    server,
    kit,
    async login(person = createPerson(onlyOrigins(server.url.origin))) {
      const authorization = kit.authorization(server.url);
      const port = authorization.port(openLoopbackPort(server.url.origin));
      try {
        const { wwwAuthenticate } = await askServer(port, server.url);
        await authorization.login(person, { wwwAuthenticate }, AbortSignal.timeout(20_000));
        return (await askServer(port, server.url)).status;
      } finally {
        await port.close();
      }
    },
  };
}

interface AsEntry {
  readonly kind: string;
  readonly q?: Readonly<Record<string, string>>;
  readonly form?: Readonly<Record<string, string>>;
}

async function asked(server: ScriptServer): Promise<readonly AsEntry[]> {
  return ((await server.report()).extra["as"] ?? []) as readonly AsEntry[];
}

describeField("fc82-oauth-discovery", () => {
  it.each(["quoted", "bare", "lower", "multi", "two-headers", "none", "no-meta", "escaped", "scope"])(
    "logs in by a challenge of the form %s [AUTH-06, AUTH-07, AUTH-08]",
    async (CHALLENGE) => {
      const { server, login } = await stage({ CHALLENGE });
      expect(await login()).toBe(200);
      const [authorize] = (await asked(server)).filter(({ kind }) => kind === "authorize");
      expect(authorize?.q?.["scope"]).toBe("a b");
      expect(authorize?.q?.["code_challenge_method"]).toBe("S256");
    },
  );

  it.each(["path", "root", "html"])("finds the resource's metadata: %s [AUTH-04, AUTH-08]", async (PRM) => {
    const { login } = await stage({ PRM, CHALLENGE: "none" });
    expect(await login()).toBe(200);
  });

  it("falls back to the server's own origin where it has no metadata, and still names the resource [AUTH-66, AUTH-47]", async () => {
    const { server, login } = await stage({ PRM: "missing" });
    expect(await login()).toBe(200);
    expect((await asked(server)).find(({ kind }) => kind === "token")?.form?.["resource"]).toBe(
      server.url.href,
    );
  });

  it("refuses metadata of another resource, and shows both [AUTH-13]", async () => {
    const { server, login } = await stage({ PRM: "wrong-resource" });
    const error = await failureOf(login());
    expect(error.code).toBe("auth_failed");
    expect(error.message).toContain("https://other.example/mcp");
    expect(error.message).toContain(server.url.href);
    expect(await asked(server)).toEqual([]);
  });

  for (const AS of ["oauth-insert", "oidc-insert", "oidc-append"]) {
    for (const MISS of ["404", "html", "other", "500", "401"]) {
      it(`finds the authorization server's metadata at ${AS} where the other places answer ${MISS} [AUTH-05, AUTH-09]`, async () => {
        const { server, login } = await stage({ AS, MISS });
        expect(await login()).toBe(200);
        const order = Object.keys((await server.report()).counters).filter((key) =>
          /oauth-authorization-server|openid-configuration/.test(key),
        );
        const all = [
          "GET /.well-known/oauth-authorization-server/tenant/one",
          "GET /.well-known/openid-configuration/tenant/one",
          "GET /tenant/one/.well-known/openid-configuration",
        ];
        expect(order).toEqual(all.slice(0, ["oauth-insert", "oidc-insert", "oidc-append"].indexOf(AS) + 1));
      });
    }
  }

  it("reads an OpenID document that holds no more than OAuth needs [AUTH-05]", async () => {
    const { login } = await stage({ AS: "oidc-append", OIDC: "bare" });
    expect(await login()).toBe(200);
  });

  it.each(["slash", "host", "template"])(
    "refuses another issuer (%s) and shows both [AUTH-11, AUTH-12]",
    async (ISSUER) => {
      const { server, login } = await stage({ ISSUER });
      const error = await failureOf(login());
      expect(error.code).toBe("auth_failed");
      expect(error.message).toContain(`\`${server.url.origin}/tenant/one\``);
      expect(error.message).toMatch(
        ISSUER === "slash" ? /one\/`/ : ISSUER === "host" ? /localhost/ : /\{tenantid\}/,
      );
      expect(await asked(server)).toEqual([]);
    },
  );

  it.each(["plain", "origin", "slash", "upper"])(
    "sends `resource` byte for byte as the metadata spells it: %s [AUTH-47, AUTH-48, AUTH-49]",
    async (RESOURCE) => {
      const { server, login } = await stage({ RESOURCE });
      expect(await login()).toBe(200);
      const entries = await asked(server);
      const { origin } = server.url;
      const spelled = {
        plain: `${origin}/mcp`,
        origin,
        slash: `${origin}/`,
        upper: `${origin.replace("http", "HTTP")}/mcp`,
      }[RESOURCE];
      expect(entries.find(({ kind }) => kind === "authorize")?.q?.["resource"]).toBe(spelled);
      expect(entries.find(({ kind }) => kind === "token")?.form?.["resource"]).toBe(spelled);
      expect((await server.report()).counters["resource-differs"]).toBeUndefined();
    },
  );

  it.each(["wrong", "missing", "slash"])(
    "refuses a callback whose `iss` is %s, and sends the code nowhere [AUTH-40, AUTH-41, AUTH-42, AUTH-45]",
    async (ISS) => {
      const { server, login } = await stage({ ISS });
      const error = await failureOf(login());
      expect(error.code).toBe("auth_failed");
      expect(error.message).toContain(`\`${server.url.origin}/tenant/one\``);
      if (ISS === "wrong") expect(error.message).toContain("https://evil.example");
      expect((await asked(server)).map(({ kind }) => kind)).toEqual(["register", "authorize"]);
      expect(inspect(error, { depth: 10 })).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-/);
    },
  );

  it.each(["absent", "plain"])(
    "asks nothing of a server whose PKCE is %s [AUTH-34, AUTH-35]",
    async (PKCE) => {
      const { server, login } = await stage({ PKCE });
      const error = await failureOf(login());
      expect(error.code).toBe("auth_failed");
      expect(error.message).toContain("code_challenge_methods_supported");
      expect(await asked(server)).toEqual([]);
    },
  );

  it("contacts metadata on another origin only where a person accepts it [SEC-01, SEC-13]", async () => {
    const { server, login } = await stage({ CHALLENGE: "foreign" });
    const error = await failureOf(login());
    expect(error.code).toBe("egress_denied");
    expect(error.message).toContain("resource_metadata");
    expect((await server.report()).counters["GET /.well-known/oauth-protected-resource/mcp"]).toBeUndefined();
    const person = createPerson();
    expect(await login(person)).toBe(200);
    expect(person.questions[0]).toMatchObject({ kind: "contact", named: [{ field: "resource_metadata" }] });
  });
});

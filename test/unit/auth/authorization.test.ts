/** The whole of `auth/` against a strict server on loopback: logins, renewals, step-ups, logouts, and what lies on disk. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { inspect } from "node:util";
import { afterEach, describe, expect, it } from "vitest";
import type { AuthSettings } from "../../../src/auth/settings.ts";
import { createManualClock } from "../../../src/base/manual-clock.ts";
import type { PortcullisError } from "../../../src/errors.ts";
import {
  askServer,
  createAuthKit,
  createPerson,
  failureOf,
  openLoopbackPort,
  refusal,
} from "../../support/auth-kit.ts";
import { startAuthServer, type AuthServer, type AuthServerOptions } from "../../support/auth-server.ts";

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function stage(
  options: AuthServerOptions = {},
  settings: Partial<AuthSettings> = {},
  clock = createManualClock(Date.now()),
) {
  const as = await startAuthServer(options);
  ends.push(as.close);
  const kit = await createAuthKit(clock);
  ends.push(kit.close);
  const authorization = kit.authorization(as.url, settings);
  const port = authorization.port(openLoopbackPort(as.origin));
  ends.push(port.close);
  const signal = (): AbortSignal => AbortSignal.timeout(10_000);
  return {
    as,
    kit,
    clock,
    authorization,
    port,
    signal,
    person: createPerson(),
    ask: () => askServer(port, as.url),
    login: (person = createPerson()) => authorization.login(person, null, signal()),
    mend: async () => {
      const answer = await askServer(port, as.url);
      await authorization.mend(refusal(answer), signal());
      return (await askServer(port, as.url)).status;
    },
  };
}

const sha256 = (text = ""): string => createHash("sha256").update(text).digest("base64url");

/** What a JWT says. */
function claimsOf(token: string): Readonly<Record<string, unknown>> {
  const text = Buffer.from(token.split(".")[1] ?? "", "base64url").toString("utf8");
  return JSON.parse(text) as Readonly<Record<string, unknown>>;
}

/** The answer to a call that wants more scopes. */
function wants(scope: string): PortcullisError {
  return refusal({ status: 403, wwwAuthenticate: `Bearer error="insufficient_scope", scope="${scope}"` });
}

function grants(as: AuthServer): readonly string[] {
  return as.to("/token").map(({ form }) => form["grant_type"] ?? "");
}

describe("a login", () => {
  it("shows where it goes and what for before anything happens, and does nothing without a yes", async () => {
    const { as, authorization, signal } = await stage();
    const person = createPerson(() => false);
    expect(await failureOf(authorization.login(person, null, signal()))).toMatchObject({ code: "cancelled" });
    expect(person.questions).toEqual([
      {
        kind: "authorize",
        resource: `${as.origin}/mcp`,
        issuer: as.origin,
        endpoints: [
          { field: "authorization_endpoint", origin: as.origin },
          { field: "token_endpoint", origin: as.origin },
        ],
        scopes: ["read"],
      },
    ]);
    expect(as.to("/register")).toEqual([]);
    expect(person.shown).toEqual([]);
  });

  it("asks before it contacts another origin, remembers the yes, and forgets it with the logout", async () => {
    const { as, kit, authorization, signal } = await stage();
    const other = await startAuthServer();
    ends.push(other.close);
    as.options.resourceMetadata = { authorization_servers: [other.origin] };
    const no = createPerson((question) => question.kind !== "contact");
    expect(await failureOf(authorization.login(no, null, signal()))).toMatchObject({ code: "egress_denied" });
    expect(other.asked).toEqual([]);
    expect(kit.opened).not.toContain(other.origin);
    const yes = createPerson();
    await authorization.login(yes, null, signal());
    expect(yes.questions.map(({ kind }) => kind)).toEqual(["contact", "authorize"]);
    const again = createPerson();
    await authorization.login(again, null, signal());
    expect(again.questions.map(({ kind }) => kind)).toEqual(["authorize"]);
    await authorization.logout(signal());
    expect(await failureOf(authorization.login(no, null, signal()))).toMatchObject({ code: "egress_denied" });
  });

  it("asks about endpoints that the metadata puts elsewhere", async () => {
    const { as, authorization, signal } = await stage({
      metadata: { token_endpoint: "https://tokens.example/token" },
    });
    const person = createPerson((question) => question.kind !== "contact");
    const error = await failureOf(authorization.login(person, null, signal()));
    expect(error.message).toContain("`token_endpoint`");
    expect(error.message).toContain("https://tokens.example");
    expect(as.to("/authorize")).toEqual([]);
  });

  it("ends when nothing comes back, and registers anew the next time (FC-85)", async () => {
    const { as, clock, authorization, signal } = await stage();
    const person = createPerson();
    const silent = {
      ...person,
      async show(url: URL) {
        person.shown.push(url);
      },
      openReceiver: async () => ({
        redirectUri: "http://127.0.0.1:1455/callback",
        receive: (_isOurs: unknown, until: AbortSignal) =>
          new Promise<URLSearchParams>((_resolve, reject) => {
            until.addEventListener("abort", () => reject(until.reason as Error), { once: true });
          }),
        close: async () => undefined,
      }),
    };
    const work = failureOf(authorization.login(silent, null, signal()));
    while (person.shown.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(600_000);
    expect(await work).toMatchObject({ code: "timed_out" });
    await authorization.login(createPerson(), null, signal());
    expect(as.to("/register")).toHaveLength(2);
  });

  it.each([
    ["another issuer [AUTH-40, AUTH-42]", { iss: "https://evil.example" }],
    ["no code", { code: "" }],
    ["an error of another issuer [AUTH-46]", { iss: "https://evil.example", error: "access_denied" }],
    ["another state [AUTH-38]", { state: "theirs" }],
  ])("sends a code nowhere that came with %s [AUTH-03]", async (_name, callback) => {
    const { as, login } = await stage({ callback });
    const error = await failureOf(login());
    expect(error.code).toBe("auth_failed");
    expect(inspect(error, { depth: 9 })).not.toMatch(/access_denied|[0-9a-f]{8}-[0-9a-f]{4}/);
    expect(as.to("/token")).toEqual([]);
  });

  it("has its own state, verifier and code each time, and redeems a code once, in a body [AUTH-03, AUTH-32, AUTH-33, AUTH-58]", async () => {
    const { as, login, ask } = await stage();
    await login();
    await login();
    expect((await ask()).status).toBe(200);
    const requests = as.to("/authorize").map(({ form }) => form);
    const redeemed = as.to("/token").map(({ form }) => form);
    for (const name of ["state", "code_challenge"])
      expect(new Set(requests.map((form) => form[name])).size).toBe(2);
    expect(redeemed.map((form) => sha256(form["code_verifier"]))).toEqual(
      requests.map((form) => form["code_challenge"]),
    );
    expect(new Set(redeemed.map((form) => form["code"])).size).toBe(2);
    for (const { url } of as.asked) for (const secret of as.issued) expect(url).not.toContain(secret);
  });

  it("assumes nothing of a server that neither refuses nor has metadata [AUTH-66]", async () => {
    const { as, authorization, signal } = await stage({ hasNoMetadata: true });
    expect(await failureOf(authorization.login(createPerson(), null, signal()))).toMatchObject({
      code: "auth_failed",
    });
    expect(as.to("/authorize")).toEqual([]);
    await authorization.login(createPerson(), { wwwAuthenticate: undefined }, signal());
    expect(as.to("/authorize")[0]?.form["resource"]).toBe(as.url.href);
  });

  it.each(["client_credentials", "workload_identity", "enterprise"] as const)(
    "is not for %s",
    async (grant) => {
      const { authorization, signal } = await stage({}, { grant });
      expect(await failureOf(authorization.login(createPerson(), null, signal()))).toMatchObject({
        code: "usage",
      });
    },
  );
});

describe("renewal", () => {
  it("goes to the server that issued the tokens, with the resource, before the end [AUTH-47]", async () => {
    const { as, clock, login, ask } = await stage({ expiresIn: 1_000 });
    await login();
    await clock.advance(939_000);
    expect((await ask()).status).toBe(200);
    expect(grants(as)).toEqual(["authorization_code"]);
    await clock.advance(2_000);
    expect((await ask()).status).toBe(200);
    expect(grants(as)).toEqual(["authorization_code", "refresh_token"]);
    expect(as.to("/token").map(({ form }) => form["resource"])).toEqual([
      `${as.origin}/mcp`,
      `${as.origin}/mcp`,
    ]);
    // Nothing is discovered again for it.
    expect(as.to("/.well-known/oauth-authorization-server")).toHaveLength(1);
  });

  it("keeps everything where the server is down, and only `invalid_grant` ends the login", async () => {
    const { as, clock, login, mend } = await stage();
    await login();
    as.expireAll();
    for (const answer of [
      { status: 503, body: "down" },
      { status: 502, body: "<html>", type: "text/html" },
      { status: 429, body: "{}" },
    ]) {
      as.options.onToken = () => answer;
      const failing = failureOf(mend());
      const settled = failing.then(() => true);
      while (
        !(await Promise.race([settled, new Promise<false>((resolve) => setImmediate(() => resolve(false)))]))
      )
        await clock.advance(500);
      expect(await failing).toMatchObject({ code: "http_error", data: { status: answer.status } });
    }
    as.options.onToken = () => undefined;
    expect(await mend()).toBe(200);
    as.expireAll();
    as.options.onToken = () => ({
      status: 400,
      body: '{"error":"invalid_grant","error_description":"hush"}',
    });
    const error = await failureOf(mend());
    expect(error.code).toBe("auth_required");
    expect(inspect(error, { depth: 9 })).not.toContain("hush");
    as.options.onToken = () => undefined;
    const before = grants(as).length;
    expect(await failureOf(mend())).toMatchObject({ code: "auth_required" });
    expect(grants(as)).toHaveLength(before);
  });

  it.each([
    ["a line break", { access_token: "a\r\nx: y" }],
    ["white space", { access_token: "a b" }],
    ["100 KiB", { access_token: "a".repeat(102_400) }],
    ["a refresh token with a NUL", { access_token: "a", refresh_token: "r\0" }],
  ])("takes no token with %s in it", async (_name, members) => {
    const { as, kit, login } = await stage();
    as.options.onToken = () => ({ status: 200, body: JSON.stringify({ token_type: "bearer", ...members }) });
    expect(await failureOf(login())).toMatchObject({ code: "auth_failed" });
    expect(await kit.store.documents.list("tokens")).toEqual([]);
  });

  it("takes an end that nobody meets for what it is", async () => {
    const { as, login, ask } = await stage({ expiresIn: 1e300 });
    expect((await login()).expiresAt).toMatch(/^20\d\d-/);
    expect((await ask()).status).toBe(200);
    expect(as.to("/token")).toHaveLength(1);
  });

  it("asks for a login where nobody has logged in, and remembers what the server wanted", async () => {
    const { as, mend, login } = await stage({ challengeScopes: ["special"] });
    expect(await failureOf(mend())).toMatchObject({
      code: "auth_required",
      message: expect.stringContaining("portcullis login test"),
    });
    await login();
    expect(as.to("/authorize")[0]?.form["scope"]).toBe("special");
  });

  it("names whose login is missing", async () => {
    const { as, kit, signal } = await stage();
    const alice = kit.authorization(as.url, {}, { credential: "alice b" });
    const error = await failureOf(alice.mend(refusal({ status: 401, wwwAuthenticate: "Bearer" }), signal()));
    expect(error.message).toContain('portcullis login test --principal "alice b"');
  });

  it("keeps the tokens of principals and entries apart", async () => {
    const { as, kit, login, ask, signal } = await stage();
    await login();
    expect((await ask()).status).toBe(200);
    for (const other of [
      { credential: "alice", server: "test" },
      { credential: "shared", server: "other" },
    ]) {
      const port = kit.authorization(as.url, {}, other).port(openLoopbackPort(as.origin));
      expect((await askServer(port, as.url)).status).toBe(401);
      await port.close();
    }
    await kit.authorization(as.url, {}, { credential: "alice" }).login(createPerson(), null, signal());
    expect((await ask()).status).toBe(200);
  });

  it("refuses a 403 that no scopes would mend", async () => {
    const { authorization, login, signal } = await stage();
    await login();
    const error = await failureOf(
      authorization.mend(refusal({ status: 403, wwwAuthenticate: "" }), signal()),
    );
    expect(error).toMatchObject({ code: "auth_required", data: { provesNoEffect: true } });
  });
});

describe("a step-up [AUTH-54, AUTH-55, AUTH-56, SEC-20, SEC-21]", () => {
  it("asks a person for the union of what was asked and what is wanted, once they log in", async () => {
    const { as, authorization, login, signal } = await stage();
    await login();
    const error = await failureOf(authorization.mend(wants("write"), signal()));
    expect(error.code).toBe("auth_required");
    expect(error.message).toContain("`write`");
    // A plain refusal after it does not make that forgotten.
    await failureOf(authorization.mend(wants("delete"), signal()));
    await login();
    expect(as.to("/authorize").at(-1)?.form["scope"]).toBe("read write delete");
    await login();
    expect(as.to("/authorize").at(-1)?.form["scope"]).toBe("read");
  });

  it("is made by a machine itself, with a limit [AEXT-07]", async () => {
    const as = await startAuthServer({ callScopes: ["write"] });
    const kit = await createAuthKit();
    ends.push(as.close, kit.close);
    const settings = {
      grant: "client_credentials",
      clientId: "c",
      clientSecret: "s3cret",
      scopes: ["read"],
    } as const;
    const machine = kit.authorization(as.url, { ...settings, issuer: as.origin });
    const port = machine.port(openLoopbackPort(as.origin));
    ends.push(port.close);
    const call = async (): Promise<number> => {
      const answer = await askServer(port, as.url, "tools/call");
      if (answer.status !== 401 && answer.status !== 403) return answer.status;
      await machine.mend(refusal(answer), AbortSignal.timeout(10_000));
      return (await askServer(port, as.url, "tools/call")).status;
    };
    expect(await call()).toBe(403);
    expect(await call()).toBe(200);
    expect(as.to("/token").map(({ form }) => form["scope"])).toEqual(["read", "read write"]);
    expect(kit.exhausted).toEqual([]);
    // What is granted never reaches far enough: after a few tries it is over.
    as.options.callScopes = ["admin"];
    as.options.onToken = () => ({
      status: 200,
      body: JSON.stringify({
        access_token: `at-${as.to("/token").length}`,
        token_type: "bearer",
        scope: "read",
      }),
    });
    await failureOf(call().then(call).then(call).then(call).then(call));
    expect(as.to("/token").length).toBeLessThanOrEqual(5);
  });

  it("is not tried where the token has what is asked for", async () => {
    const as = await startAuthServer();
    const kit = await createAuthKit();
    ends.push(as.close, kit.close);
    const settings = {
      grant: "client_credentials",
      clientId: "c",
      clientSecret: "s3cret",
      scopes: ["read"],
    } as const;
    const machine = kit.authorization(as.url, { ...settings, issuer: as.origin });
    await machine.mend(refusal({ status: 401, wwwAuthenticate: "Bearer" }), AbortSignal.timeout(10_000));
    const again = failureOf(machine.mend(wants("read"), AbortSignal.timeout(10_000)));
    expect(await again).toMatchObject({ code: "auth_required", message: expect.stringContaining("`read`") });
    expect(as.to("/token")).toHaveLength(1);
  });
});

describe("a logout", () => {
  it("revokes both tokens and forgets them, not the registration", async () => {
    const { as, authorization, login, ask, signal } = await stage();
    await login();
    expect(await authorization.logout(signal())).toEqual({ wasLoggedIn: true, revocation: "revoked" });
    expect(as.to("/revoke").map(({ form }) => form["token_type_hint"])).toEqual([
      "refresh_token",
      "access_token",
    ]);
    expect((await ask()).status).toBe(401);
    expect(await authorization.logout(signal())).toEqual({ wasLoggedIn: false, revocation: null });
    await login();
    expect(as.to("/register")).toHaveLength(1);
  });

  it("forgets them where the secret to tell the server with is gone", async () => {
    const { as, kit, login, signal } = await stage({}, { clientId: "mine", clientSecret: "s3cret" });
    await login();
    const gone = kit.authorization(
      as.url,
      {},
      { readSettings: () => Promise.reject(new Error("no such variable")) },
    );
    expect(await gone.logout(signal())).toEqual({ wasLoggedIn: true, revocation: "failed" });
    expect(await kit.store.documents.list("tokens")).toEqual([]);
  });

  it("forgets them where the server cannot be told", async () => {
    const { as, authorization, login, ask, signal } = await stage({
      metadata: { revocation_endpoint: undefined },
    });
    await login();
    expect(await authorization.logout(signal())).toEqual({ wasLoggedIn: true, revocation: "impossible" });
    as.options.metadata = { revocation_endpoint: `${as.origin}/nowhere` };
    await login();
    expect(await authorization.logout(signal())).toEqual({ wasLoggedIn: true, revocation: "failed" });
    expect((await ask()).status).toBe(401);
  });
});

describe("a slow server", () => {
  it("does not hold a login for ever, however it drips", async () => {
    const { as, clock, authorization, signal } = await stage();
    as.options.drips = "/.well-known/oauth-authorization-server";
    const work = failureOf(authorization.login(createPerson(), null, signal()));
    while (as.to(as.options.drips).length === 0) await new Promise((resolve) => setImmediate(resolve));
    let isOver = false;
    void work.finally(() => (isOver = true));
    while (!isOver) await clock.advance(10_000);
    expect(await work).toMatchObject({ code: "http_error", message: expect.stringContaining("timed_out") });
  });
});

describe("tokens that are bound to a key", () => {
  it("are asked for and shown with a proof of their own each time, with the nonce that either side wants [AEXT-12, AEXT-13, AEXT-14]", async () => {
    const { as, login, ask } = await stage({
      resourceMetadata: { dpop_bound_access_tokens_required: true },
      dpopNonce: "n1",
    });
    await login();
    expect((await ask()).status).toBe(200);
    expect((await ask()).status).toBe(200);
    const proofsTo = (path: string) => as.to(path).map(({ headers }) => claimsOf(String(headers["dpop"])));
    const [atTheServer, atTheResource] = [proofsTo("/token"), proofsTo("/mcp")];
    expect(atTheServer.map(({ nonce }) => nonce)).toEqual([undefined, "n1"]);
    expect(atTheResource.map(({ nonce }) => nonce)).toEqual([undefined, "n1", "n1"]);
    expect(new Set([...atTheServer, ...atTheResource].map(({ jti }) => jti)).size).toBe(5);
    expect(atTheResource.every(({ ath }) => ath !== undefined)).toBe(true);
    for (const { headers } of as.to("/mcp")) expect(headers.authorization).toMatch(/^DPoP at-/);
  });
});

describe("on disk", () => {
  it("is no secret in clear, and the state directory keeps others out [AUTH-60, AUTH-61, SEC-23]", async () => {
    const { as, kit, login, mend } = await stage({ registration: { client_secret: "s3cret-of-the-client" } });
    await login();
    as.expireAll();
    await mend();
    await kit.store.flush();
    const secrets = [...new Set(kit.secrets)];
    expect(secrets.length).toBeGreaterThanOrEqual(5);
    for (const file of readdirSync(kit.dir)) {
      const bytes = readFileSync(join(kit.dir, file));
      for (const secret of secrets) expect(bytes.includes(secret), `${file} holds a secret`).toBe(false);
    }
  });

  it("is as good as nothing under another key", async () => {
    const { as, kit, login } = await stage();
    await login();
    const documents = await kit.store.documents.list("tokens");
    await kit.store.documents.put("tokens", documents[0]?.key ?? "", { sealed: "v1.AAAA" });
    const port = kit.authorization(as.url).port(openLoopbackPort(as.origin));
    ends.push(port.close);
    expect((await askServer(port, as.url)).status).toBe(401);
  });
});

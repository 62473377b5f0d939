/** Renewal against a server with one-time refresh tokens, races, lost registrations and a changed authorization server. */
import { inspect } from "node:util";
import { afterEach, expect, it } from "vitest";
import type { Authorization } from "../../src/auth/authorization.ts";
import type { HttpPort } from "../../src/transport/http-port.ts";
import {
  askServer,
  createAuthKit,
  createPerson,
  failureOf,
  onlyOrigins,
  openLoopbackPort,
  refusal,
  type AuthKit,
} from "../support/auth-kit.ts";
import { describeField, fieldServer } from "../support/field.ts";
import { startScriptServer, type ScriptServer } from "../support/local-http.ts";

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** How long an access token is taken: long enough for the request that follows a renewal, on any machine. */
const TTL_MS = 2_500;

interface Stage {
  readonly server: ScriptServer;
  readonly kit: AuthKit;
  readonly authorization: Authorization;
  readonly port: HttpPort;
  login(): ReturnType<Authorization["login"]>;
  /** One request as the client makes it: mended once where it is refused. */
  call(): Promise<number>;
  /** Until the access token is refused. */
  untilRefused(): Promise<void>;
}

async function stage(MODE: string): Promise<Stage> {
  const server = await startScriptServer(fieldServer("fc83-oauth-refresh"), {
    MODE,
    TTL_MS: String(TTL_MS),
    REFRESH_MS: "100",
  });
  ends.push(server.close);
  const kit = await createAuthKit();
  ends.push(kit.close);
  const authorization = kit.authorization(server.url);
  const port = authorization.port(openLoopbackPort(server.url.origin));
  ends.push(port.close);
  return {
    server,
    kit,
    authorization,
    port,
    async login() {
      const { wwwAuthenticate } = await askServer(openPortOnce(server), server.url);
      const person = createPerson(onlyOrigins(server.url.origin));
      return authorization.login(person, { wwwAuthenticate }, AbortSignal.timeout(20_000));
    },
    call: () => call(authorization, port, server.url),
    async untilRefused() {
      while ((await askServer(port, server.url)).status === 200)
        await new Promise((resolve) => setTimeout(resolve, 50));
    },
  };
}

function openPortOnce(server: ScriptServer): HttpPort {
  const port = openLoopbackPort(server.url.origin);
  ends.push(port.close);
  return port;
}

async function call(authorization: Authorization, port: HttpPort, url: URL): Promise<number> {
  const first = await askServer(port, url);
  if (first.status !== 401 && first.status !== 403) return first.status;
  await authorization.mend(refusal(first), AbortSignal.timeout(20_000));
  return (await askServer(port, url)).status;
}

async function tokenRequests(server: ScriptServer): Promise<readonly string[]> {
  const entries = ((await server.report()).extra["as"] ?? []) as readonly {
    readonly kind: string;
    readonly grant?: string;
  }[];
  return entries.filter(({ kind }) => kind === "token").map(({ grant }) => grant ?? "");
}

describeField("fc83-oauth-refresh", () => {
  it("renews once for ten requests at a time that were refused [AUTH-61]", async () => {
    const { server, login, call: callOnce, untilRefused } = await stage("rotate");
    expect(await login()).toMatchObject({ canRefresh: true, scopes: ["a"] });
    expect(await callOnce()).toBe(200);
    await untilRefused();
    expect(await Promise.all(Array.from({ length: 10 }, callOnce))).toEqual(
      Array.from({ length: 10 }, () => 200),
    );
    const { counters } = await server.report();
    expect(counters["refresh"]).toBe(1);
    expect(counters["reuse"]).toBeUndefined();
  });

  it("renews once for several owners of one store, as processes are", async () => {
    const { server, kit, login, untilRefused } = await stage("rotate");
    await login();
    await untilRefused();
    const owners = Array.from({ length: 5 }, () => {
      const authorization = kit.authorization(server.url);
      const port = authorization.port(openLoopbackPort(server.url.origin));
      ends.push(port.close);
      return { authorization, port };
    });
    const statuses = await Promise.all(
      owners.map(({ authorization, port }) => call(authorization, port, server.url)),
    );
    expect(statuses).toEqual([200, 200, 200, 200, 200]);
    expect((await server.report()).counters["refresh"]).toBe(1);
  });

  it.each(["rotate", "no-new-refresh", "no-expiry"])(
    "goes on renewing where the answer is of the kind %s [AUTH-63]",
    async (MODE) => {
      const { server, login, call: callOnce, untilRefused } = await stage(MODE);
      await login();
      for (let round = 0; round < 3; round += 1) {
        await untilRefused();
        expect(await callOnce()).toBe(200);
      }
      const { counters } = await server.report();
      expect(counters["refresh"]).toBe(3);
      expect(counters["reuse"]).toBeUndefined();
    },
  );

  it.each(["503-first", "html-first"])(
    "keeps the login where the server is down for a moment: %s",
    async (MODE) => {
      const { server, login, call: callOnce, untilRefused } = await stage(MODE);
      await login();
      await untilRefused();
      expect(await callOnce()).toBe(200);
      expect((await server.report()).counters["refresh"]).toBe(2);
    },
  );

  it("drops the refresh token only where the server says that the grant is over, and asks for a login", async () => {
    const { server, login, call: callOnce, untilRefused, authorization } = await stage("invalid-grant");
    await login();
    await untilRefused();
    const error = await failureOf(callOnce());
    expect(error.code).toBe("auth_required");
    expect(error.message).toContain("portcullis login test");
    authorization.reload();
    expect((await failureOf(callOnce())).code).toBe("auth_required");
    expect((await server.report()).counters["refresh"]).toBe(1);
  });

  it("sends nothing more when the new token is refused as well", async () => {
    const { server, kit, login, call: callOnce, untilRefused, port } = await stage("still-401");
    await login();
    await untilRefused();
    expect(await callOnce()).toBe(401);
    expect(kit.exhausted.map(({ code }) => code)).toEqual(["auth_required"]);
    const before = (await server.report()).counters["POST /mcp"];
    expect((await failureOf(askServer(port, server.url))).code).toBe("auth_required");
    expect((await server.report()).counters["POST /mcp"]).toBe(before);
    expect((await server.report()).counters["refresh"]).toBe(1);
  });

  it("registers anew once where the server has forgotten the client [AUTH-30]", async () => {
    const { server, login, call: callOnce, untilRefused } = await stage("client-gone");
    await login();
    await untilRefused();
    expect((await failureOf(callOnce())).code).toBe("auth_required");
    expect(await login()).toMatchObject({ canRefresh: true });
    expect(await callOnce()).toBe(200);
    expect((await server.report()).counters["POST /register"]).toBe(2);
  });

  it("uses its own redirect URI whatever the registration answers [AUTH-36]", async () => {
    const { login, call: callOnce } = await stage("other-redirects");
    await login();
    expect(await callOnce()).toBe(200);
  });

  it("shows nothing old to a changed authorization server, and asks for a login [AUTH-15, AUTH-16, AUTH-18]", async () => {
    const { server, kit, login, call: callOnce, untilRefused } = await stage("as-switch");
    await login();
    await untilRefused();
    const error = await failureOf(callOnce());
    expect(error.code).toBe("auth_required");
    expect(error.message).toContain(server.url.origin);
    // A person who does not accept the new place: it is not even asked.
    expect((await failureOf(login())).code).toBe("egress_denied");
    expect((await server.report()).extra["seen"]).toEqual([]);
    expect(new Set(kit.opened)).toEqual(new Set([server.url.origin]));
    expect(await tokenRequests(server)).toEqual(["authorization_code"]);
  });

  it("tells no secret in an error, and all of them to the redactor [AUTH-61, SEC-22]", async () => {
    const { kit, login, call: callOnce, untilRefused } = await stage("invalid-grant");
    await login();
    await untilRefused();
    const error = await failureOf(callOnce());
    expect(kit.secrets.filter((secret) => secret.startsWith("at-"))).not.toEqual([]);
    expect(kit.secrets.filter((secret) => secret.startsWith("rt-"))).not.toEqual([]);
    expect(inspect(error, { depth: 20, showHidden: true })).not.toMatch(/\b[ar]t-[0-9a-f]/);
  });
});

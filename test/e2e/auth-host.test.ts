/** Authorization through a host: what a call ends as, when it comes back by itself, and for whom. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { afterEach, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { systemClock } from "../../src/base/clock.ts";
import type { Host, HostOptions } from "../../src/host/api.ts";
import { openHost } from "../../src/host/host.ts";
import { loginFinish, loginStart, type LoginStart } from "../../src/operations/login.ts";
import { runOperation, type Operation } from "../../src/operations/operation.ts";
import { createPerson } from "../support/auth-kit.ts";
import { startAuthServer, type AuthServerOptions } from "../support/auth-server.ts";
import { describeField, fieldServer } from "../support/field.ts";
import { startScriptServer } from "../support/local-http.ts";

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

function folder(): string {
  const dir = mkdtempSync(join(tmpdir(), "portcullis-auth-host-"));
  ends.push(async () => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

async function open(
  url: URL,
  auth: JsonObject | undefined,
  stateDir: string,
  more: Partial<HostOptions> = {},
): Promise<Host> {
  const hub: JsonObject = {
    url: url.href,
    source: "own",
    allowPrivateAddresses: true,
    tools: { echo: "L0" },
    ...(auth === undefined ? {} : { auth }),
  };
  const host = await openHost({ config: { mcpServers: { hub } }, stateDir, ...more });
  ends.push(() => host.close());
  return host;
}

async function stage(options: AuthServerOptions = {}, auth: JsonObject | undefined = { type: "oauth" }) {
  const as = await startAuthServer(options);
  ends.push(as.close);
  const stateDir = folder();
  return { as, stateDir, host: await open(as.url, auth, stateDir) };
}

const call = (host: Host, principal?: string) =>
  host.call({ server: "hub", tool: "echo" }, { text: "hi" }, principal === undefined ? {} : { principal });

async function untilCompleted(host: Host, principal?: string): Promise<void> {
  for (let time = 0; (await call(host, principal)).outcome !== "completed"; time += 1) {
    if (time > 200) throw new Error("it never came back");
    await systemClock.sleep(25);
  }
}

describe("a person's login", () => {
  it("is asked for by the first call, and opens the connection for the next one [AUTH-06, AUTH-57, AUTH-58]", async () => {
    const { as, host } = await stage();
    const refused = await call(host);
    expect(refused).toMatchObject({ outcome: "auth_required", effect: "none", code: "auth_required" });
    expect(refused.message).toContain("portcullis login hub");
    const asked = as.to("/mcp").length;
    expect(await call(host)).toMatchObject({ outcome: "auth_required" });
    // Nothing more is sent until somebody logs in.
    expect(as.to("/mcp")).toHaveLength(asked);
    expect(await host.login("hub", createPerson())).toMatchObject({ issuer: as.origin, scopes: ["read"] });
    await untilCompleted(host);
    expect(as.to("/mcp").at(-1)?.headers.authorization).toMatch(/^Bearer at-/);
    expect(as.to("/mcp").map(({ form }) => Object.keys(form))).toEqual(as.to("/mcp").map(() => []));
  });

  it("needs no `auth` in the entry", async () => {
    const { as, host } = await stage();
    const bare = await open(as.url, undefined, folder());
    expect(await call(bare)).toMatchObject({ outcome: "auth_required" });
    await bare.login("hub", createPerson());
    await untilCompleted(bare);
    expect(await call(host)).toMatchObject({ outcome: "auth_required" });
  });

  it("reaches every process that shares the state, and so does a logout", async () => {
    const { as, host, stateDir } = await stage();
    expect(await call(host)).toMatchObject({ outcome: "auth_required" });
    const other = await open(as.url, { type: "oauth" }, stateDir);
    await other.login("hub", createPerson());
    await untilCompleted(host);
    expect(await other.logout("hub")).toEqual({ wasLoggedIn: true, revocation: "revoked" });
    expect(await call(host)).toMatchObject({ outcome: "auth_required" });
  });

  it("is each principal's own where the entry says so", async () => {
    const { as, host } = await stage({}, { type: "oauth", per: "principal" });
    await host.login("hub", createPerson(), { principal: "alice" });
    expect(await call(host, "alice")).toMatchObject({ outcome: "completed" });
    const bob = await call(host, "bob");
    expect(bob).toMatchObject({ outcome: "auth_required" });
    expect(bob.message).toContain("--principal");
    const tokens = (): number =>
      new Set(as.to("/mcp").flatMap(({ headers }) => headers.authorization ?? [])).size;
    expect(tokens()).toBe(1);
    await host.login("hub", createPerson(), { principal: "bob" });
    await untilCompleted(host, "bob");
    expect(tokens()).toBe(2);
  });

  it("is renewed once for all calls at a time", async () => {
    const { as, host } = await stage();
    await host.login("hub", createPerson());
    await untilCompleted(host);
    as.expireAll();
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => call(host)));
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(Array.from({ length: 10 }, () => "completed"));
    expect(as.to("/token").map(({ form }) => form["grant_type"])).toEqual([
      "authorization_code",
      "refresh_token",
    ]);
  });

  it("is asked for again where an operation wants more scopes, with all of them [AUTH-54, AUTH-55]", async () => {
    const { as, host } = await stage({ callScopes: ["write"] });
    await host.login("hub", createPerson());
    const refused = await call(host);
    expect(refused).toMatchObject({ outcome: "auth_required", effect: "none" });
    expect(refused.message).toContain("`write`");
    const person = createPerson();
    await host.login("hub", person);
    expect(person.questions.at(-1)).toMatchObject({ kind: "authorize", scopes: ["read", "write"] });
    await untilCompleted(host);
    expect(as.to("/authorize")).toHaveLength(2);
  });

  it("ends nothing while the authorization server is away, and the call says so", async () => {
    const { as, host } = await stage();
    await host.login("hub", createPerson());
    await untilCompleted(host);
    as.expireAll();
    as.options.onToken = () => ({ status: 503, body: "down" });
    expect(await call(host)).toMatchObject({ outcome: "unavailable", effect: "none" });
    as.options.onToken = () => undefined;
    await untilCompleted(host);
  });

  it("leaves no token in results, events, status or records [AUTH-61, SEC-22]", async () => {
    const events: unknown[] = [];
    const as = await startAuthServer();
    ends.push(as.close);
    const host = await open(as.url, { type: "oauth" }, folder(), {
      onEvent: (event) => void events.push(event),
    });
    await call(host);
    await host.login("hub", createPerson());
    await untilCompleted(host);
    as.expireAll();
    await call(host);
    as.options.onToken = () => ({ status: 400, body: '{"error":"invalid_grant"}' });
    as.expireAll();
    const failed = await call(host);
    const seen = inspect([events, failed, await host.status(), await host.activity(), await host.tools()], {
      depth: 20,
    });
    expect(as.issued.length).toBeGreaterThan(4);
    for (const secret of as.issued) expect(seen).not.toContain(secret);
  });

  it("is not made while the server is paused or turned off: nothing is sent", async () => {
    const { as, host } = await stage();
    await host.pause("hub", "local");
    await expect(host.login("hub", createPerson())).rejects.toMatchObject({ code: "server_paused" });
    expect(as.asked).toEqual([]);
    await host.resume("hub", "local");
    await host.login("hub", createPerson());
  });

  it("ends with the host", async () => {
    const { host } = await stage();
    const { promise: asked, resolve } = Promise.withResolvers<void>();
    const login = host.login("hub", {
      ...createPerson(),
      confirm(_question, signal) {
        resolve();
        return new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(new Error("told to stop")), { once: true });
        });
      },
    });
    const ended = expect(login).rejects.toThrow("told to stop");
    await asked;
    await host.close();
    await ended;
  });
});

describe("a login in two steps, as a console makes it", () => {
  const run = <Output>(operation: unknown, host: Host, input: unknown): Promise<Output> =>
    runOperation(
      operation as Operation,
      { host, by: "local", channel: "console", signal: new AbortController().signal, nowMs: systemClock.now },
      input,
    ) as Promise<Output>;
  const redirectUri = "http://127.0.0.1:7420/oauth/callback";

  it("says first what has to be agreed to, then gives the address, then takes the answer", async () => {
    const { as, host } = await stage();
    const first = await run<LoginStart>(loginStart, host, { server: "hub", redirectUri });
    expect(first).toMatchObject({
      kind: "confirm",
      accept: [as.origin],
      question: { kind: "authorize", scopes: ["read"] },
    });
    expect(as.to("/register")).toEqual([]);
    const second = await run<LoginStart>(loginStart, host, {
      server: "hub",
      redirectUri,
      accept: [as.origin],
    });
    if (second.kind !== "open") throw new Error("no address came");
    expect(second.redirectUri).toBe(redirectUri);
    const answer = await fetch(second.url, { redirect: "manual", headers: { connection: "close" } });
    const callback = answer.headers.get("location") ?? "";
    await expect(
      run(loginFinish, host, { login: second.login, callback: "code=x&state=y" }),
    ).rejects.toMatchObject({ code: "usage" });
    expect(await run(loginFinish, host, { login: second.login, callback })).toMatchObject({
      server: "hub",
      issuer: as.origin,
    });
    await untilCompleted(host);
    await expect(run(loginFinish, host, { login: second.login, callback })).rejects.toMatchObject({
      code: "usage",
    });
  });

  it("tells a failure before the address as the answer to the first step", async () => {
    const { host } = await stage({ metadata: { code_challenge_methods_supported: ["plain"] } });
    await expect(run(loginStart, host, { server: "hub", redirectUri })).rejects.toMatchObject({
      code: "auth_failed",
    });
  });
});

describe("a machine's credentials", () => {
  it("need nobody: the first call gets its token, the secret is resolved late, the extension is declared [AEXT-01, AEXT-02]", async () => {
    const as = await startAuthServer({
      metadata: { token_endpoint_auth_methods_supported: ["client_secret_basic"] },
    });
    ends.push(as.close);
    const auth = {
      type: "client_credentials",
      issuer: as.origin,
      clientId: "machine",
      clientSecret: "${env:HUB_SECRET}",
      scopes: ["jobs"],
    };
    const asked: string[] = [];
    const host = await open(as.url, auth, folder(), {
      resolveSecret({ reference, server }) {
        asked.push(`${server ?? ""} ${reference.name}`);
        return "s3cret-of-the-machine";
      },
    });
    expect(asked).toEqual([]);
    expect(await call(host)).toMatchObject({ outcome: "completed" });
    expect(new Set(asked)).toEqual(new Set(["hub HUB_SECRET"]));
    expect(as.to("/token")[0]?.form).toMatchObject({ grant_type: "client_credentials", scope: "jobs" });
    const declared = JSON.stringify(as.to("/mcp").at(-1)?.document);
    expect(declared).toContain("io.modelcontextprotocol/oauth-client-credentials");
    await expect(host.login("hub", createPerson())).rejects.toMatchObject({ code: "usage" });
  });

  it("are used anew where the entry changed: tokens of other credentials are not its own", async () => {
    const as = await startAuthServer();
    ends.push(as.close);
    const stateDir = folder();
    const auth = {
      type: "client_credentials",
      issuer: as.origin,
      clientId: "one",
      clientSecret: "${env:HUB_SECRET}",
    };
    for (const clientId of ["one", "one", "two"]) {
      const host = await open(as.url, { ...auth, clientId }, stateDir, {
        resolveSecret: () => "s3cret-of-the-machine",
      });
      expect(await call(host)).toMatchObject({ outcome: "completed" });
      await host.close();
    }
    expect(as.to("/token")).toHaveLength(2);
  });

  it("stop the connection where they are refused, and are shown in no message", async () => {
    const as = await startAuthServer({
      onToken: () => ({ status: 401, body: '{"error":"invalid_client"}' }),
    });
    ends.push(as.close);
    const auth = {
      type: "client_credentials",
      issuer: as.origin,
      clientId: "machine",
      clientSecret: "${env:HUB_SECRET}",
    };
    const host = await open(as.url, auth, folder(), { resolveSecret: () => "s3cret-of-the-machine" });
    const outcome = await call(host);
    expect(outcome.outcome).toBe("auth_required");
    expect(inspect(outcome, { depth: 9 })).not.toContain("s3cret");
    const count = as.asked.length;
    await call(host);
    expect(as.asked).toHaveLength(count);
  });
});

describeField("fc20-http-legacy-400", () => {
  it.each(["401", "403"])("is answered %s: no other era is tried, and nothing more is sent", async (MODE) => {
    const server = await startScriptServer(fieldServer("fc20-http-legacy-400"), { MODE });
    ends.push(server.close);
    const host = await open(server.url, undefined, folder());
    expect(await call(host)).toMatchObject({ outcome: "auth_required", effect: "none" });
    const { counters } = await server.report();
    expect(counters["rpc:server/discover"]).toBe(1);
    expect(counters["rpc:initialize"]).toBeUndefined();
    expect(await call(host)).toMatchObject({ outcome: "auth_required" });
    expect((await server.report()).counters["POST /mcp"]).toBe(counters["POST /mcp"]);
    expect((await host.status()).servers[0]).toMatchObject({ state: "auth-required", auth: "required" });
  });
});

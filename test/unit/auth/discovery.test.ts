/** Where metadata is looked for, in which order, and what is believed of it: against a real server that has it in one place only. */
import { afterEach, describe, expect, it } from "vitest";
import { readChallenge } from "../../../src/auth/challenge.ts";
import { discover, type Surroundings } from "../../../src/auth/discovery.ts";
import { withAuthHttp } from "../../../src/auth/http.ts";
import { systemClock } from "../../../src/base/clock.ts";
import { failureOf, openLoopbackPort } from "../../support/auth-kit.ts";
import { startLocalServer } from "../../support/local-http.ts";

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

type Documents = Readonly<Record<string, object>>;

/** @param documents by path; everything else is 404. */
async function stage(documents: (origin: string) => Documents) {
  const asked: string[] = [];
  const local = await startLocalServer((request, response) => {
    const path = request.url ?? "";
    asked.push(path);
    const document = documents(local.url.origin)[path];
    response.writeHead(document === undefined ? 404 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(document ?? {}));
  });
  ends.push(local.close);
  return {
    asked,
    origin: local.url.origin,
    discover: (header?: string): Promise<Surroundings> =>
      withAuthHttp({ openPort: openLoopbackPort, clock: systemClock }, AbortSignal.timeout(10_000), (http) =>
        discover(
          { http, rules: { allowLoopbackHttp: true }, server: local.url, accept: async () => undefined },
          readChallenge(header),
          { pinned: null, known: null, mayAssume: false },
        ),
      ),
  };
}

const resource = (origin: string, issuer: string): object => ({
  resource: `${origin}/mcp`,
  authorization_servers: [issuer],
});

const server = (issuer: string): object => ({
  issuer,
  authorization_endpoint: `${issuer}/authorize`,
  token_endpoint: `${issuer}/token`,
  code_challenge_methods_supported: ["S256"],
});

const OAUTH = "/.well-known/oauth-authorization-server";
const OPENID = "/.well-known/openid-configuration";
const RESOURCE = "/.well-known/oauth-protected-resource";

describe("the metadata of the resource [AUTH-04]", () => {
  it("is where the refusal says, and is looked for nowhere else [AUTH-06, AUTH-07]", async () => {
    const { asked, origin, discover } = await stage((at) => ({
      "/meta/here": resource(at, at),
      [`${RESOURCE}/mcp`]: resource("https://trap.example", at),
      [OAUTH]: server(at),
    }));
    const found = await discover(`Bearer error="invalid_token", resource_metadata="${origin}/meta/here"`);
    expect(found).toMatchObject({ resource: { resource: `${origin}/mcp` }, isLegacy: false });
    expect(asked).toEqual(["/meta/here", OAUTH]);
  });

  it.each([
    ["at the path", `${RESOURCE}/mcp`, [`${RESOURCE}/mcp`]],
    ["at the root", RESOURCE, [`${RESOURCE}/mcp`, RESOURCE]],
  ])("is looked for %s where the refusal says nothing [AUTH-08]", async (_name, place, order) => {
    const { asked, origin, discover } = await stage((at) => ({
      [place]: resource(at, at),
      [OAUTH]: server(at),
    }));
    expect((await discover("Bearer")).server.issuer).toBe(origin);
    expect(asked).toEqual([...order, OAUTH]);
  });

  it("of another resource ends everything before an authorization server is asked [AUTH-13]", async () => {
    const { asked, discover } = await stage((at) => ({
      [`${RESOURCE}/mcp`]: { ...resource(at, at), resource: `${at}/other` },
      [OAUTH]: server(at),
    }));
    expect(await failureOf(discover())).toMatchObject({ code: "auth_failed", data: { field: "resource" } });
    expect(asked).toEqual([`${RESOURCE}/mcp`]);
  });
});

describe("the metadata of the authorization server [AUTH-05]", () => {
  const tenant = [`${OAUTH}/tenant/one`, `${OPENID}/tenant/one`, `/tenant/one${OPENID}`];
  it.each([
    ...tenant.map(
      (place, at) => ["with a path [AUTH-09]", "/tenant/one", place, tenant.slice(0, at + 1)] as const,
    ),
    ...[OAUTH, OPENID].map(
      (place, at) => ["without a path [AUTH-10]", "", place, [OAUTH, OPENID].slice(0, at + 1)] as const,
    ),
  ])("of an issuer %s (`%s`) is found at %s", async (_name, path, place, order) => {
    const { asked, origin, discover } = await stage((at) => ({
      [`${RESOURCE}/mcp`]: resource(at, `${at}${path}`),
      [place]: server(`${at}${path}`),
    }));
    expect((await discover()).server).toMatchObject({
      issuer: `${origin}${path}`,
      tokenEndpoint: `${origin}${path}/token`,
    });
    expect(asked).toEqual([`${RESOURCE}/mcp`, ...order]);
  });

  it("of another issuer is passed over for the right one at the next place [AUTH-12]", async () => {
    const { origin, discover } = await stage((at) => ({
      [`${RESOURCE}/mcp`]: resource(at, `${at}/tenant/one`),
      [`${OAUTH}/tenant/one`]: { ...server(`${at}/tenant/two`), token_endpoint: `${at}/trap` },
      [`${OPENID}/tenant/one`]: server(`${at}/tenant/one`),
    }));
    expect((await discover()).server.tokenEndpoint).toBe(`${origin}/tenant/one/token`);
  });

  it.each(["/", "/tenant/one/", "/TENANT/one"])(
    "is not taken where its issuer is spelled otherwise (`%s`), and both are shown [AUTH-11, AUTH-12]",
    async (path) => {
      const { origin, discover } = await stage((at) => ({
        [`${RESOURCE}/mcp`]: resource(at, `${at}/tenant/one`),
        [`${OAUTH}/tenant/one`]: server(`${at}${path}`),
      }));
      const error = await failureOf(discover());
      expect(error.code).toBe("auth_failed");
      expect(error.message).toContain(`\`${origin}/tenant/one\``);
      expect(error.message).toContain(`\`${origin}${path}\``);
    },
  );
});

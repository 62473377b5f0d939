import { createHash } from "node:crypto";
import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import {
  createAuthorizationRequest,
  judgeCallback,
  type AuthorizationRequest,
} from "../../../src/auth/authorize.ts";
import { assumeServer, type AuthServer } from "../../../src/auth/server-metadata.ts";

const rules = { allowLoopbackHttp: false };
const server: AuthServer = { ...assumeServer("https://as.example"), sendsIssuer: true, isAssumed: false };
const input = {
  server,
  clientId: "client",
  redirectUri: "http://127.0.0.1:1234/callback",
  scopes: ["a", "b"],
  resource: "https://h.example",
  dpopThumbprint: null,
};

describe("createAuthorizationRequest", () => {
  it("holds what the specification asks for, and nothing more [AUTH-32, AUTH-33, AUTH-38, AUTH-39, AUTH-47]", async () => {
    const { url, state, verifier, server: asked } = await createAuthorizationRequest(input, rules);
    expect(asked).toBe(server);
    expect(`${url.origin}${url.pathname}`).toBe("https://as.example/authorize");
    expect(Object.fromEntries(url.searchParams)).toEqual({
      response_type: "code",
      client_id: "client",
      redirect_uri: "http://127.0.0.1:1234/callback",
      state,
      code_challenge: createHash("sha256").update(verifier).digest("base64url"),
      code_challenge_method: "S256",
      resource: "https://h.example",
      scope: "a b",
    });
    expect(state.length).toBeGreaterThan(40);
    expect(verifier.length).toBeGreaterThanOrEqual(43);
  });

  it("leaves an empty scope out, keeps the endpoint's own query, asks for consent with offline_access [AUTH-52]", async () => {
    const endpoint = {
      ...server,
      authorizationEndpoint: "https://as.example/authorize?tenant=1&state=theirs",
    };
    const { url, state } = await createAuthorizationRequest(
      { ...input, server: endpoint, scopes: [] },
      rules,
    );
    expect(url.searchParams.has("scope")).toBe(false);
    expect(url.searchParams.get("tenant")).toBe("1");
    expect(url.searchParams.getAll("state")).toEqual([state]);
    const offline = await createAuthorizationRequest(
      { ...input, scopes: ["a", "offline_access"], dpopThumbprint: "jkt" },
      rules,
    );
    expect(offline.url.searchParams.get("prompt")).toBe("consent");
    expect(offline.url.searchParams.get("dpop_jkt")).toBe("jkt");
  });

  it("is new each time", async () => {
    const [one, other] = await Promise.all([
      createAuthorizationRequest(input, rules),
      createAuthorizationRequest(input, rules),
    ]);
    expect(one.state).not.toBe(other.state);
    expect(one.verifier).not.toBe(other.verifier);
  });

  it.each([
    [{ server: { ...server, supportsS256: false } }, "auth_failed"],
    [{ server: { ...server, authorizationEndpoint: null } }, "egress_denied"],
    [{ server: { ...server, authorizationEndpoint: "javascript:x" } }, "egress_denied"],
    [{ redirectUri: "http://evil.example/callback" }, "egress_denied"],
    [{ redirectUri: "cursor://x" }, "egress_denied"],
  ])("refuses %j [AUTH-35, AUTH-37]", async (more, code) => {
    await expect(createAuthorizationRequest({ ...input, ...more }, rules)).rejects.toMatchObject({ code });
  });
});

describe("judgeCallback [AUTH-40]", () => {
  const answer = async (
    parts: Readonly<Record<string, string>>,
    advertised: boolean,
  ): Promise<[ReturnType<typeof judgeCallback>, AuthorizationRequest]> => {
    const request = await createAuthorizationRequest(
      { ...input, server: { ...server, sendsIssuer: advertised } },
      rules,
    );
    return [judgeCallback(new URLSearchParams({ state: request.state, ...parts }), request), request];
  };

  it.each([
    ["advertised and right [AUTH-42]", true, { code: "c", iss: "https://as.example" }, "code"],
    ["advertised and absent [AUTH-41]", true, { code: "c" }, "refused"],
    ["advertised and another [AUTH-42]", true, { code: "c", iss: "https://evil.example" }, "refused"],
    ["advertised and empty", true, { code: "c", iss: "" }, "refused"],
    ["not advertised and right [AUTH-43]", false, { code: "c", iss: "https://as.example" }, "code"],
    ["not advertised and another [AUTH-43]", false, { code: "c", iss: "https://evil.example" }, "refused"],
    ["neither [AUTH-44]", false, { code: "c" }, "code"],
    ["a slash more [AUTH-45]", true, { code: "c", iss: "https://as.example/" }, "refused"],
    ["capitals [AUTH-45]", true, { code: "c", iss: "HTTPS://as.example" }, "refused"],
    ["the port [AUTH-45]", true, { code: "c", iss: "https://as.example:443" }, "refused"],
    ["escapes [AUTH-45]", true, { code: "c", iss: "https://%61s.example" }, "refused"],
    ["an error", true, { error: "access_denied", iss: "https://as.example" }, "refused"],
    ["neither code nor error", true, { iss: "https://as.example" }, "refused"],
    ["an implicit answer", true, { code: "c", token: "t", iss: "https://as.example" }, "refused"],
  ])("%s", async (_name, advertised, parts, kind) => {
    expect((await answer(parts, advertised))[0].kind).toBe(kind);
  });

  it("is not its own without the state, or with two [AUTH-38]", async () => {
    const [, request] = await answer({}, true);
    for (const query of [
      "code=c",
      "code=c&state=",
      "code=c&state=x",
      `code=c&state=${request.state}&state=${request.state}`,
    ]) {
      expect(judgeCallback(new URLSearchParams(query), request).kind).toBe("foreign");
    }
  });

  it("refuses a parameter that came twice", async () => {
    const [, request] = await answer({}, true);
    for (const more of ["code=c&code=d", "code=c&iss=https%3A%2F%2Fevil.example"]) {
      const query = new URLSearchParams(`state=${request.state}&iss=https%3A%2F%2Fas.example&${more}`);
      expect(judgeCallback(query, request).kind).toBe("refused");
    }
  });

  it("shows nothing of an error where the issuer is another, and only its code where it is right [AUTH-46]", async () => {
    const parts = {
      error: "access_denied",
      error_description: "call +1 555",
      error_uri: "https://evil.example/help",
    };
    const [mismatch] = await answer({ ...parts, iss: "https://evil.example" }, true);
    expect(inspect(mismatch, { depth: 9 })).not.toMatch(/access_denied|555|help/);
    const [right] = await answer({ ...parts, iss: "https://as.example" }, true);
    expect(right).toMatchObject({
      kind: "refused",
      error: { code: "auth_failed", data: { oauthError: "access_denied" } },
    });
    expect(inspect(right, { depth: 9 })).not.toMatch(/555|help/);
    const [odd] = await answer({ error: "<script>", iss: "https://as.example" }, true);
    expect(inspect(odd, { depth: 9 })).not.toContain("<script>");
  });

  it("has no code in an error", async () => {
    const [refused] = await answer({ code: "secret-code", iss: "https://evil.example" }, true);
    expect(inspect(refused, { depth: 9 })).not.toContain("secret-code");
  });
});

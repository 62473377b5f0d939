import { describe, expect, it } from "vitest";
import {
  canonicalResource,
  isResourceOf,
  judgeResourceMetadata,
  resourceMetadataUrls,
} from "../../../src/auth/resource.ts";
import { judgeServerMetadata, serverMetadataUrls } from "../../../src/auth/server-metadata.ts";

const rules = { allowLoopbackHttp: false };
const hrefs = (urls: readonly URL[]): readonly string[] => urls.map((url) => url.href);

describe("where metadata may be", () => {
  it.each([
    ["https://h.example", ["https://h.example/.well-known/oauth-protected-resource"]],
    [
      "https://h.example/mcp",
      [
        "https://h.example/.well-known/oauth-protected-resource/mcp",
        "https://h.example/.well-known/oauth-protected-resource",
      ],
    ],
    [
      "https://h.example:8443/a/b/?q=1",
      [
        "https://h.example:8443/.well-known/oauth-protected-resource/a/b/?q=1",
        "https://h.example:8443/.well-known/oauth-protected-resource",
      ],
    ],
  ])("of the resource %s [AUTH-08]", (url, expected) => {
    expect(hrefs(resourceMetadataUrls(new URL(url)))).toEqual(expected);
  });

  it.each([
    [
      "https://as.example",
      ["oauth-authorization-server", "openid-configuration"].map(
        (name) => `https://as.example/.well-known/${name}`,
      ),
    ],
    [
      "https://as.example/",
      ["oauth-authorization-server", "openid-configuration"].map(
        (name) => `https://as.example/.well-known/${name}`,
      ),
    ],
    [
      "https://as.example/t/one",
      [
        "https://as.example/.well-known/oauth-authorization-server/t/one",
        "https://as.example/.well-known/openid-configuration/t/one",
        "https://as.example/t/one/.well-known/openid-configuration",
      ],
    ],
    [
      "https://as.example/t/",
      [
        "https://as.example/.well-known/oauth-authorization-server/t",
        "https://as.example/.well-known/openid-configuration/t",
        "https://as.example/t/.well-known/openid-configuration",
      ],
    ],
  ])("of the issuer %s [AUTH-09, AUTH-10]", (issuer, expected) => {
    expect(hrefs(serverMetadataUrls(new URL(issuer)))).toEqual(expected);
  });

  it("names a server without a lone slash, fragment or change [AUTH-48, AUTH-49]", () => {
    expect(canonicalResource(new URL("https://H.example/"))).toBe("https://h.example");
    expect(canonicalResource(new URL("https://h.example/mcp/?a=b#x"))).toBe("https://h.example/mcp/?a=b");
  });
});

describe("isResourceOf [AUTH-13]", () => {
  const server = new URL("https://h.example/a/mcp");
  it.each([
    ["https://h.example/a/mcp", true],
    ["https://h.example/a/mcp/", true],
    ["https://h.example/a", true],
    ["https://h.example/a/", true],
    ["https://h.example", true],
    ["https://h.example/", true],
    ["HTTPS://H.EXAMPLE/a/mcp", true],
    ["https://h.example:443/a/mcp", true],
    ["https://h.example/a/mc", false],
    ["https://h.example/b", false],
    ["https://h.example/a/mcp/deeper", false],
    ["http://h.example/a/mcp", false],
    ["https://h.example:8443/a/mcp", false],
    ["https://evil.example/a/mcp", false],
    ["https://h.example.evil.example/a/mcp", false],
    ["https://h.example/a/mcp?x=1", false],
    ["https://h.example/a/mcp#x", false],
    ["nonsense", false],
  ])("%s: %s", (resource, expected) => {
    expect(isResourceOf(resource, server)).toBe(expected);
  });
});

describe("judgeResourceMetadata", () => {
  const server = new URL("https://h.example/mcp");
  const good = { resource: "https://h.example/mcp", authorization_servers: ["https://as.example/t"] };

  it("keeps strings as they came [AUTH-47]", () => {
    const odd = {
      ...good,
      resource: "HTTPS://h.example",
      scopes_supported: ["b", 7, "a", "b"],
      dpop_bound_access_tokens_required: true,
    };
    expect(judgeResourceMetadata(odd, server, rules)).toEqual({
      resource: "HTTPS://h.example",
      authorizationServers: ["https://as.example/t"],
      scopesSupported: ["b", "a"],
      needsDpop: true,
    });
  });

  it.each([
    [{ ...good, resource: "https://evil.example/mcp" }, "auth_failed", "resource"],
    [{ ...good, resource: 7 }, "auth_failed", "resource"],
    [{ authorization_servers: ["https://as.example"] }, "auth_failed", "resource"],
    [{ resource: "https://h.example/mcp" }, "auth_failed", "authorization_servers"],
    [{ ...good, authorization_servers: [] }, "auth_failed", "authorization_servers"],
    [{ ...good, authorization_servers: "https://as.example" }, "auth_failed", "authorization_servers"],
    [{ ...good, authorization_servers: ["javascript:x", 7] }, "egress_denied", "authorization_servers"],
  ])("refuses %j", (document, code, field) => {
    expect(() => judgeResourceMetadata(document, server, rules)).toThrow(
      expect.objectContaining({ code, data: expect.objectContaining({ field }) }),
    );
  });

  it("passes over an authorization server that may not be asked where there is another", () => {
    const two = { ...good, authorization_servers: ["http://as.example", "https://as.example"] };
    expect(judgeResourceMetadata(two, server, rules).authorizationServers).toEqual(["https://as.example"]);
  });

  it("reads own members only", () => {
    expect(() => judgeResourceMetadata(Object.create(good) as never, server, rules)).toThrow(/resource/);
  });
});

describe("judgeServerMetadata", () => {
  const issuer = "https://as.example/t";
  const good = {
    issuer,
    authorization_endpoint: "https://as.example/authorize",
    token_endpoint: "https://as.example/token",
    code_challenge_methods_supported: ["S256"],
  };

  it("compares the issuer character for character [AUTH-11, AUTH-12, AUTH-45]", () => {
    expect(judgeServerMetadata(good, issuer, rules).issuer).toBe(issuer);
    for (const other of [
      `${issuer}/`,
      "https://AS.example/t",
      "https://as.example:443/t",
      "https://as.example/%74",
      "",
      null,
      [issuer],
    ]) {
      expect(() => judgeServerMetadata({ ...good, issuer: other }, issuer, rules)).toThrow(
        expect.objectContaining({ code: "auth_failed", message: expect.stringContaining(issuer) }),
      );
    }
  });

  it.each([
    "authorization_endpoint",
    "token_endpoint",
    "registration_endpoint",
    "revocation_endpoint",
    "jwks_uri",
  ])("refuses a document with a bad %s, used or not, and names it", (field) => {
    expect(() => judgeServerMetadata({ ...good, [field]: "javascript:x" }, issuer, rules)).toThrow(
      expect.objectContaining({ code: "egress_denied", data: expect.objectContaining({ field }) }),
    );
  });

  it("says no more than the document says", () => {
    expect(judgeServerMetadata(good, issuer, rules)).toEqual({
      issuer,
      authorizationEndpoint: "https://as.example/authorize",
      tokenEndpoint: "https://as.example/token",
      registrationEndpoint: null,
      revocationEndpoint: null,
      scopesSupported: null,
      tokenAuthMethods: null,
      takesMetadataDocuments: false,
      sendsIssuer: false,
      supportsS256: true,
      dpopAlgorithms: null,
      isAssumed: false,
    });
  });

  it.each([[undefined], [["plain"]], ["S256"], [null]])(
    "does not take PKCE for granted: %j [AUTH-34, AUTH-35]",
    (methods) => {
      const document = { ...good, code_challenge_methods_supported: methods };
      expect(judgeServerMetadata(document as never, issuer, rules).supportsS256).toBe(false);
    },
  );
});

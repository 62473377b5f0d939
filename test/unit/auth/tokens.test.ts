import { describe, expect, it } from "vitest";
import { assumeServer } from "../../../src/auth/server-metadata.ts";
import { judgeFreshness, secretsOf, tokenKey, toTokenSet, type TokenSet } from "../../../src/auth/tokens.ts";

const before: TokenSet = {
  accessToken: "old",
  tokenType: "bearer",
  obtainedAt: 1_000,
  expiresAt: 2_000,
  refreshToken: "refresh",
  scopes: ["a"],
  requested: ["a", "b"],
  resource: "https://h.example",
  server: assumeServer("https://as.example"),
  client: { clientId: "c", method: "client_secret_basic", secret: "hush", source: "registered" },
  dpopKey: null,
};
const issued = {
  accessToken: "new",
  tokenType: "bearer",
  expiresIn: null,
  refreshToken: null,
  scopes: null,
} as const;

describe("toTokenSet", () => {
  it("keeps the refresh token and the scopes where the answer says nothing of them [AUTH-63]", () => {
    expect(toTokenSet(issued, before, 5_000, before)).toEqual({
      ...before,
      accessToken: "new",
      obtainedAt: 5_000,
      expiresAt: null,
    });
  });

  it("takes what came, and what was asked for where nothing was said of scopes", () => {
    const full = { ...issued, expiresIn: 60, refreshToken: "next", scopes: ["z"] };
    expect(toTokenSet(full, before, 5_000, before)).toMatchObject({
      expiresAt: 65_000,
      refreshToken: "next",
      scopes: ["z"],
    });
    expect(toTokenSet(issued, before, 5_000)).toMatchObject({ refreshToken: null, scopes: ["a", "b"] });
  });
});

describe("judgeFreshness [AEXT-05]", () => {
  it.each([
    [0, null, 9e15, "good"],
    [0, 3_600_000, 0, "good"],
    [0, 3_600_000, 3_539_999, "good"],
    [0, 3_600_000, 3_540_000, "ageing"],
    [0, 3_600_000, 3_600_000, "expired"],
    [0, 100_000, 89_999, "good"],
    [0, 100_000, 90_000, "ageing"],
    [0, 0, 0, "expired"],
    [0, -5, 0, "expired"],
  ])("obtained at %s, ends at %s, now %s: %s", (obtainedAt, expiresAt, nowMs, expected) => {
    expect(judgeFreshness({ obtainedAt, expiresAt }, nowMs)).toBe(expected);
  });
});

describe("keys and secrets", () => {
  it("keeps entries, credentials and resources apart, and shows no URL", () => {
    const keys = [
      tokenKey("a", "shared", new URL("https://h.example/one?key=hush"), ""),
      tokenKey("a", "shared", new URL("https://h.example/two"), "variant"),
      tokenKey("a", "shared", new URL("https://h.example/two"), ""),
      tokenKey("a", "alice", new URL("https://h.example/two"), ""),
      tokenKey("b", "shared", new URL("https://h.example/two"), ""),
    ];
    expect(new Set(keys).size).toBe(5);
    expect(keys.join(" ")).not.toMatch(/hush|example/);
  });

  it("names every secret [SEC-22]", () => {
    const dpopKey = { kty: "EC", crv: "P-256", x: "x", y: "y", d: "private" } as const;
    expect(secretsOf({ ...before, dpopKey })).toEqual(["old", "refresh", "hush", "private"]);
  });
});

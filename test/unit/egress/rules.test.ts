import { describe, expect, it } from "vitest";
import {
  evaluateAddress,
  evaluateHeaders,
  evaluateUrl,
  matchesHost,
  type EgressRules,
} from "../../../src/egress/rules.ts";

const rules: EgressRules = {
  origins: ["https://mcp.example.com"],
  allow: ["*.example.org", "api.example.net:8443"],
  allowPrivateAddresses: false,
};
const local: EgressRules = { origins: ["http://localhost:9"], allow: [], allowPrivateAddresses: true };

describe("matchesHost", () => {
  const yes: readonly [string, string][] = [
    ["example.com", "https://example.com/"],
    ["example.com", "https://EXAMPLE.com./x"],
    ["Example.COM.", "https://example.com/"],
    ["example.com:443", "https://example.com/"],
    ["example.com:8443", "https://example.com:8443/"],
    ["*.example.com", "https://a.example.com/"],
    ["*.example.com", "https://a.b.example.com/"],
    ["*.example.com:8443", "https://a.example.com:8443/"],
    ["10.0.0.1", "https://0xa.1/"],
    ["[::1]", "https://[0::1]/"],
    ["[::1]:8443", "https://[::1]:8443/"],
    ["xn--bcher-kva.example", "https://bücher.example/"],
  ];
  const no: readonly [string, string][] = [
    ["example.com", "https://example.com:8443/"],
    ["example.com", "https://a.example.com/"],
    ["example.com", "https://example.com.evil.test/"],
    ["example.com", "https://notexample.com/"],
    ["*.example.com", "https://example.com/"],
    ["*.example.com", "https://evilexample.com/"],
    ["*.example.com", "https://a.example.com.evil.test/"],
    ["*.com", "https://example.com/"],
    ["*", "https://example.com/"],
    ["*.*", "https://example.com/"],
    ["", "https://example.com/"],
    ["*.0.0.1", "https://10.0.0.1/"],
    ["a*.example.com", "https://ab.example.com/"],
    ["https://example.com", "https://example.com/"],
    ["example.com:", "https://example.com/"],
    ["example.com:port", "https://example.com/"],
  ];
  it.each(yes)("%s names %s", (pattern, url) => expect(matchesHost(pattern, new URL(url))).toBe(true));
  it.each(no)("%s does not name %s", (pattern, url) =>
    expect(matchesHost(pattern, new URL(url))).toBe(false),
  );
});

describe("evaluateUrl [SEC-01] [SEC-09] [SEC-13]", () => {
  it.each(["https://mcp.example.com/x?y", "https://a.example.org/", "https://api.example.net:8443/"])(
    "allows %s",
    (url) => {
      expect(evaluateUrl(new URL(url), rules)).toEqual({ allowed: true });
    },
  );
  it.each([
    "http://mcp.example.com/",
    "https://mcp.example.com:444/",
    "https://mcp.example.com./",
    "https://example.org/",
    "https://api.example.net/",
    "https://user@mcp.example.com/",
    "https://mcp.example.com@evil.test/",
    "https://user:pass@a.example.org/",
    "https://evil.test/",
    "https://mcp.example.com.evil.test/",
    "ftp://mcp.example.com/",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "data:text/plain,x",
    "ws://mcp.example.com/",
    "blob:https://mcp.example.com/1",
  ])("refuses %s", (url) => {
    expect(evaluateUrl(new URL(url), rules).allowed).toBe(false);
  });
  it("knows no rule: refuses everything", () => {
    const none = { origins: [], allow: [], allowPrivateAddresses: true };
    expect(evaluateUrl(new URL("https://example.com/"), none).allowed).toBe(false);
  });
  it("allows plain http only where private addresses are allowed", () => {
    expect(evaluateUrl(new URL("http://localhost:9/"), local).allowed).toBe(true);
    expect(
      evaluateUrl(new URL("http://localhost:9/"), { ...local, allowPrivateAddresses: false }).allowed,
    ).toBe(false);
  });
});

describe("evaluateAddress [SEC-03]", () => {
  const https = new URL("https://mcp.example.com/");
  const http = new URL("http://localhost:9/");
  it("allows public addresses, also those behind NAT64", () => {
    expect(evaluateAddress("1.1.1.1", https, rules).allowed).toBe(true);
    expect(evaluateAddress("64:ff9b::1.1.1.1", https, rules).allowed).toBe(true);
  });
  it.each(["127.0.0.1", "10.0.0.1", "169.254.1.1", "100.64.0.1", "fd00::1", "::1", "fe80::1%eth0"])(
    "allows %s only where the entry says so",
    (address) => {
      expect(evaluateAddress(address, https, rules).allowed).toBe(false);
      expect(evaluateAddress(address, https, local).allowed).toBe(true);
    },
  );
  it.each([
    "169.254.169.254",
    "fd00:ec2::254",
    "0.0.0.0",
    "::",
    "224.0.0.1",
    "255.255.255.255",
    "192.0.2.1",
    "2002:101:101::1",
    "2001::1",
    "240.0.0.1",
    "::7f00:1",
    "",
    "localhost",
  ])("never allows `%s`", (address) => expect(evaluateAddress(address, https, local).allowed).toBe(false));
  it.each(["1.1.1.1", "10.0.0.1", "fe80::1", "64:ff9b::1.1.1.1"])(
    "plain http never goes to %s",
    (address) => {
      expect(evaluateAddress(address, http, local).allowed).toBe(false);
    },
  );
  it("says what and where, and how to allow it", () => {
    expect(evaluateAddress("10.0.0.1", https, rules)).toEqual({
      allowed: false,
      reason:
        "`mcp.example.com` is at `10.0.0.1`, an address of the kind private; set `allowPrivateAddresses` for this server if it is meant",
    });
  });
});

describe("evaluateHeaders", () => {
  const names = [
    "accept",
    "Authorization",
    "cookie",
    "X-Api-Key",
    "Mcp-Session-Id",
    "proxy-authorization",
    "x-anything",
  ];
  it("gives secrets to the configured origin", () => {
    expect(evaluateHeaders(names, new URL("https://mcp.example.com/"), rules)).toEqual({ allowed: true });
  });
  it.each(names.slice(1))("gives %s to no other origin", (name) => {
    for (const url of ["https://a.example.org/", "https://mcp.example.com:444/", "http://mcp.example.com/"]) {
      expect(evaluateHeaders([name], new URL(url), rules).allowed).toBe(false);
    }
  });
  it("lets plain headers pass", () => {
    expect(
      evaluateHeaders(["Accept", "content-type", "user-agent"], new URL("https://a.example.org/"), rules)
        .allowed,
    ).toBe(true);
  });
});

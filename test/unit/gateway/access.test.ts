import { describe, expect, it } from "vitest";
import {
  digestToken,
  inUrl,
  isLoopback,
  judgeAccess,
  namesOf,
  type AccessRules,
  type Door,
} from "../../../src/gateway/access.ts";

const rules: AccessRules = {
  ...namesOf("127.0.0.1", 7420),
  tokenDigests: { mcp: digestToken("agent-token"), admin: digestToken("admin-token") },
  requiresToken: { mcp: true, admin: true },
};

const good = { host: "127.0.0.1:7420" };

describe("judgeAccess", () => {
  it.each<[string, Record<string, string>, Door, number | "ok"]>([
    ["its own token", { ...good, authorization: "Bearer agent-token" }, "mcp", "ok"],
    ["the scheme in any case", { ...good, authorization: "bearer agent-token" }, "mcp", "ok"],
    ["localhost", { host: "LOCALHOST:7420", authorization: "Bearer agent-token" }, "mcp", "ok"],
    [
      "its own origin",
      { ...good, origin: "http://127.0.0.1:7420", authorization: "Bearer admin-token" },
      "admin",
      "ok",
    ],
    ["no token", good, "mcp", 401],
    ["an empty token", { ...good, authorization: "Bearer " }, "mcp", 401],
    ["another scheme", { ...good, authorization: "Basic agent-token" }, "mcp", 401],
    ["the agent's token at the console", { ...good, authorization: "Bearer agent-token" }, "admin", 401],
    ["the console's token at /mcp", { ...good, authorization: "Bearer admin-token" }, "mcp", 401],
    [
      "a name that was rebound",
      { host: "evil.example:7420", authorization: "Bearer agent-token" },
      "mcp",
      421,
    ],
    ["another port", { host: "127.0.0.1:80", authorization: "Bearer agent-token" }, "mcp", 421],
    ["no host", { authorization: "Bearer agent-token" }, "mcp", 421],
    [
      "a page of another origin",
      { ...good, origin: "https://evil.example", authorization: "Bearer agent-token" },
      "mcp",
      403,
    ],
    ["a sandboxed page", { ...good, origin: "null", authorization: "Bearer agent-token" }, "mcp", 403],
  ])("%s", (_name, headers, door, expected) => {
    const verdict = judgeAccess(headers, door, rules);
    expect(verdict.allowed ? "ok" : verdict.status).toBe(expected);
  });

  it("a door whose token was turned off still checks Host and Origin", () => {
    const open = { ...rules, requiresToken: { mcp: false, admin: true } };
    expect(judgeAccess(good, "mcp", open)).toEqual({ allowed: true });
    expect(judgeAccess({ host: "evil.example" }, "mcp", open).allowed).toBe(false);
    expect(judgeAccess({ ...good, origin: "https://evil.example" }, "mcp", open).allowed).toBe(false);
  });
});

describe("namesOf", () => {
  it.each<[string, number, readonly string[]]>([
    ["127.0.0.1", 7420, ["127.0.0.1:7420", "localhost:7420", "[::1]:7420"]],
    ["127.0.0.2", 7420, ["127.0.0.1:7420", "localhost:7420", "[::1]:7420", "127.0.0.2:7420"]],
    ["192.0.2.7", 7420, ["192.0.2.7:7420"]],
    ["2001:db8::1", 7420, ["[2001:db8::1]:7420"]],
    ["Gateway.Example", 80, ["gateway.example", "gateway.example:80"]],
  ])("%s on %i", (host, port, expected) => {
    const { hosts, origins } = namesOf(host, port);
    expect([...hosts].sort()).toEqual([...expected].sort());
    expect([...origins].sort()).toEqual(expected.map((name) => `http://${name}`).sort());
  });

  it("a wildcard has the names of the machine, and no others", () => {
    const { hosts } = namesOf("0.0.0.0", 7420);
    expect(hosts).toContain("127.0.0.1:7420");
    expect(hosts).not.toContain("0.0.0.0:7420");
    expect(hosts).not.toContain("evil.example:7420");
  });

  it.each([
    ["127.0.0.1", true],
    ["127.9.9.9", true],
    ["::1", true],
    ["localhost", true],
    ["0.0.0.0", false],
    ["::", false],
    ["127.0.0.1.evil.example", false],
    ["192.168.0.1", false],
  ])("isLoopback %s", (host, expected) => {
    expect(isLoopback(host)).toBe(expected);
  });

  it("an IPv6 address stands in brackets in a URL", () => {
    expect([inUrl("::1"), inUrl("127.0.0.1")]).toEqual(["[::1]", "127.0.0.1"]);
  });
});

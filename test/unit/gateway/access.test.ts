import { describe, expect, it } from "vitest";
import { judgeAccess, namesOf, type AccessRules, type Door } from "../../../src/gateway/access.ts";

const rules: AccessRules = {
  ...namesOf("127.0.0.1", 7420),
  tokens: { mcp: "agent-token", admin: "admin-token" },
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

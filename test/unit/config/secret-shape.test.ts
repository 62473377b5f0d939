import { describe, expect, it } from "vitest";
import { describeSecretShape, quoteLiteral } from "../../../src/config/secret-shape.ts";

const letters = "0123456789abcdefghijABCDEFGHIJklmnopqrst";

describe("describeSecretShape", () => {
  it.each([
    [null, `ghp_${letters}`, "a GitHub token"],
    [null, `Bearer github_pat_${letters}`, "a GitHub token"],
    [null, `glpat-${letters}`, "a GitLab token"],
    [null, `sk-ant-${letters}`, "an API key"],
    [null, `sk_live_${letters}`, "a Stripe key"],
    [null, `xoxb-1234567890-${letters}`, "a Slack token"],
    [null, "AKIAIOSFODNN7EXAMPLE", "an AWS access key"],
    [null, `AIza${letters.slice(0, 35)}`, "a Google API key"],
    [null, `npm_${letters}`, "an npm token"],
    [null, `ntn_${letters}`, "a Notion token"],
    [null, "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N", "a JSON Web Token"],
    [null, "-----BEGIN RSA PRIVATE KEY-----\nMIIE", "a private key"],
    [null, "postgres://me:hunter2@db/x", "a URL with a password"],
    ["API_KEY", "f81d4fae7dec11d0a76500a0c91e6bf6", "a secret"],
    ["x-api-key", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "a secret"],
    ["Authorization", "Bearer abc123def456ghi789", "a secret"],
    ["DB_PASSWORD", "hunter2", "a password"],
    ["pgpassword", "correct", "a password"],
  ])("%s=%s is %s", (name, text, shape) => {
    expect(describeSecretShape(name, text)).toBe(shape);
  });

  it.each([
    ["GITHUB_TOKEN", "${env:GITHUB_TOKEN}"],
    ["Authorization", "Bearer ${TOKEN}"],
    ["DATABASE_URL", "postgres://me:${env:PW}@db/x"],
    ["DATABASE_URL", "postgres://db.example.com:5432/x"],
    ["TOKEN_FILE", "/run/secrets/token-1234567890"],
    ["KEY_URL", "https://keys.example.com/1234567890abc"],
    ["MODE", "f81d4fae7dec11d0a76500a0c91e6bf6"],
    ["TOKEN", "<your token here 1234567890>"],
    ["TOKEN", "short1"],
    ["PASSWORD", "true"],
    ["TOKEN", "aaaaaaaaaaaaaaaaaaa1"],
    [null, "task-1234567890123456789012345"],
    [null, "disk-0123456789abcdefghijABCDE"],
    [null, "@modelcontextprotocol/server-filesystem@2026.8.31"],
  ])("%s=%s is none", (name, text) => {
    expect(describeSecretShape(name, text)).toBeNull();
  });

  it("takes linear time", () => {
    const time = (length: number): number => {
      const text = `${"a:".repeat(length / 2)}@`;
      const start = performance.now();
      for (let round = 0; round < 20; round += 1) describeSecretShape("token", text);
      return performance.now() - start;
    };
    time(10_000);
    expect(time(160_000) / Math.max(time(10_000), 0.5)).toBeLessThan(80);
  });
});

describe("quoteLiteral", () => {
  it("cuts, escapes, and hides what looks like a secret", () => {
    expect(quoteLiteral("a\u001bb")).toBe('`"a\\u001bb"`');
    expect(quoteLiteral("x ".repeat(200)).length).toBeLessThan(70);
    expect(quoteLiteral(`ghp_${letters}`)).toBe("a text that looks like a secret");
    expect(quoteLiteral([1])).toBe("a list");
    expect(quoteLiteral({})).toBe("an object");
    expect(quoteLiteral(null)).toBe("`null`");
  });
});

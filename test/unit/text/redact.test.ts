import { describe, expect, it } from "vitest";
import { expectLinear } from "./linear.ts";
import { createRedactor, REDACTED, redactPatterns, scanSecrets } from "../../../src/text/redact.ts";

const letters = (count: number): string => "aB3dE6gH9jK2mN5pQ8rS1tU4vW7xY0z".repeat(20).slice(0, count);

describe("by value", () => {
  const secret = "sup3r s3cret/+&=ü";
  const redactor = createRedactor();
  redactor.add("github", [secret]);

  it.each([
    ["as it is", `key=${secret};`],
    ["URL-encoded", `https://x.example/?k=${encodeURIComponent(secret)}&n=1`],
    ["form-encoded", `k=${new URLSearchParams({ v: secret }).toString().slice(2)}`],
    ["JSON-escaped", JSON.stringify({ a: secret })],
    ["hex", Buffer.from(secret).toString("hex")],
  ])("%s", (_name, text) => {
    const out = redactor.redactValues(text);
    expect(out).toContain(REDACTED);
    expect(out).not.toContain("s3cret");
  });

  it.each([0, 1, 2])("in base64 at offset %i", (offset) => {
    const encoded = Buffer.from(`${"u".repeat(offset)}${secret}tail`).toString("base64");
    const left = redactor.redactValues(encoded).replace(REDACTED, "");
    expect(left.length).toBeLessThan(16);
    expect(
      redactor.redactValues(Buffer.from(`${"u".repeat(offset)}${secret}`).toString("base64url")),
    ).toContain(REDACTED);
  });

  it("takes overlapping secrets as one, and the longest first", () => {
    const both = createRedactor();
    both.add("a", ["password-one", "password-one-two", "one-two-three"]);
    expect(both.redactValues("x password-one-two-three y")).toBe(`x ${REDACTED} y`);
  });

  it("finds a long value in pieces", () => {
    const long = createRedactor();
    const key = letters(600);
    long.add("vault", [key]);
    expect(long.redactValues(`a ${key} b`)).toBe(`a ${REDACTED} b`);
    expect(long.redactValues(`a ${key.slice(0, 300)}`)).not.toContain(key.slice(0, 128));
  });

  it("leaves values alone that would take ordinary words apart", () => {
    const short = createRedactor();
    expect(short.add("s", ["", "a", "on", "yes", "5432"])).toBe(3);
    expect(short.redactValues("yes, port 5432 is on; 15432 and 5432x are not")).toBe(
      `yes, port ${REDACTED} is on; 15432 and 5432x are not`,
    );
  });

  it("keeps a value until its last owner is gone", () => {
    const shared = createRedactor();
    shared.add("one", ["shared-secret"]);
    shared.add("two", ["shared-secret", "second-secret"]);
    shared.remove("one");
    expect(shared.redactValues("shared-secret second-secret")).toBe(`${REDACTED} ${REDACTED}`);
    shared.remove("two");
    expect(shared.redactValues("shared-secret second-secret")).toBe("shared-secret second-secret");
    shared.remove("three");
  });
});

describe("by pattern", () => {
  it.each([
    ["github-token", `ghp_${letters(36)}`],
    ["github-token", `github_pat_${letters(60)}`],
    ["gitlab-token", `glpat-${letters(20)}`],
    ["slack-token", "xoxb-123456789012-abcdefABCDEF"],
    ["slack-webhook", "https://hooks.slack.com/services/T0000/B0000/abcdefghijkl"],
    ["aws-access-key", "AKIAIOSFODNN7EXAMPLE"],
    ["google-api-key", `AIza${letters(35)}`],
    ["anthropic-key", `sk-ant-${letters(40)}`],
    ["openai-key", `sk-proj-${letters(40)}`],
    ["stripe-key", `sk_live_${letters(24)}`],
    ["npm-token", `npm_${letters(36)}`],
    ["hugging-face-token", `hf_${letters(34)}`],
    ["telegram-token", `123456789:AA${letters(33)}`],
    ["jwt", `eyJ${letters(20)}.eyJ${letters(30)}.${letters(40)}`],
    ["connection-string", "postgres://app:hunter2@db.example/orders"],
    ["azure-key", `AccountKey=${letters(40)}==`],
    ["authorization", `Authorization: Bearer ${letters(30)}`],
    ["private-key", `-----BEGIN RSA PRIVATE KEY-----\n${letters(64)}\n-----END RSA PRIVATE KEY-----`],
    ["private-key", `-----BEGIN OPENSSH PRIVATE KEY-----\n${letters(64)}`],
    ["assignment", 'password: "correct-horse"'],
    ["assignment", "API_KEY=abcd1234efgh"],
  ])("%s", (kind, text) => {
    const rules = scanSecrets(`before ${text} after`, "/0").map((finding) => finding.rule);
    expect(rules).toContain(`secret.${kind}`);
    expect(redactPatterns(`before ${text} after`)).toContain(REDACTED);
  });

  it.each([
    ["a commit", "9c1185a5c5e9fc54612808977ee8f548b2258d31"],
    ["an uuid", "9b2f0d0e-3f0b-4f63-8d0a-0b9f8f6f6b11"],
    ["a link with a port", "https://example.com:8443/a@b"],
    ["prose about tokens", "The token expires soon. Your password must have 12 characters."],
    ["an integrity", "sha512-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ=="],
    ["a public key", "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----"],
    ["a short assignment", "token=abc"],
  ])("leaves %s alone", (_name, text) => {
    expect(scanSecrets(text, "/0")).toEqual([]);
    expect(redactPatterns(text)).toBe(text);
  });

  it("keeps what is no secret around one", () => {
    expect(redactPatterns("postgres://app:hunter2@db.example/orders")).toBe(
      `postgres://app:${REDACTED}@db.example/orders`,
    );
  });

  it("never puts the secret into a finding", () => {
    const token = `ghp_${letters(36)}`;
    expect(JSON.stringify(scanSecrets(`token: ${token} ${token}`, "/x"))).not.toContain(token.slice(4, 20));
    expect(scanSecrets(`${token} ${token}`, "/x")[0]?.message).toContain("2 times");
  });

  it("is idempotent", () => {
    const once = redactPatterns(`password=${letters(20)} Authorization: Bearer ${letters(30)}`);
    expect(redactPatterns(once)).toBe(once);
  });
});

describe("JSON", () => {
  const redactor = createRedactor();
  redactor.add("s", ["my-secret-value"]);

  it("redacts strings, names and members with telling names [SEC-22]", () => {
    expect(
      redactor.redactJson({
        url: "https://x.example/?k=my-secret-value",
        headers: { Authorization: "Basic abc", "X-Api-Key": "k", accept: "*/*" },
        list: [`ghp_${letters(36)}`, 7, null, true],
        "my-secret-value": 1,
        password: 1234,
      }),
    ).toEqual({
      url: `https://x.example/?k=${REDACTED}`,
      headers: { Authorization: REDACTED, "X-Api-Key": REDACTED, accept: "*/*" },
      list: [REDACTED, 7, null, true],
      [REDACTED]: 1,
      password: REDACTED,
    });
  });

  it("is bounded in depth, count and size, and keeps odd names as own members", () => {
    let deep: unknown = 1;
    for (let level = 0; level < 10_000; level += 1) deep = [deep];
    expect(JSON.stringify(redactor.redactJson(deep))).toContain("nested too deeply");
    expect(
      JSON.stringify(redactor.redactJson({ list: Array.from({ length: 50_000 }, () => 1) })).length,
    ).toBeLessThan(30_000);
    expect(JSON.stringify(redactor.redactJson("x".repeat(3_000_000))).length).toBeLessThan(1_100_000);
    const odd = redactor.redactJson(JSON.parse('{"__proto__":{"a":"my-secret-value"}}'));
    expect(JSON.stringify(odd)).toBe(`{"__proto__":{"a":"${REDACTED}"}}`);
  });

  it("is the value itself where there is nothing to change, and a copy up to the end where there is", () => {
    const redactor = createRedactor();
    redactor.add("files", ["my-secret-value"]);
    const value = { a: [1, "x", null], b: { c: true } };
    expect(redactor.redactJson(value)).toBe(value);
    expect(redactor.redactJson({ a: 1, b: ["x", "my-secret-value", "y"], c: { d: 2 } })).toEqual({
      a: 1,
      b: ["x", REDACTED, "y"],
      c: { d: 2 },
    });
    const given = { "my-secret-value": 1, z: [undefined] };
    expect(redactor.redactJson(given)).toEqual({ [REDACTED]: 1, z: [null] });
    expect(Object.keys(given)).toEqual(["my-secret-value", "z"]);
    // Its own way to JSON would not have been looked at.
    expect(
      JSON.stringify(redactor.redactJson({ at: new Date(0), url: new URL("http://a/my-secret-value") })),
    ).toBe('{"at":{},"url":{}}');
    expect(redactor.redactJson([1, 2, 3, 4], { maxValues: 3 })).toEqual([1, 2, "[cut]"]);
    expect(redactor.redactJson({ a: 1, b: 2, c: 3 }, { maxValues: 2 })).toEqual({ a: 1, b: "[cut]" });
  });
});

describe("hostile texts", () => {
  it.each([
    "eyJ",
    "eyJ-",
    "eyJa.eyJ",
    "a://a:",
    "ghp_",
    "sk-",
    "-----BEGIN PRIVATE KEY-----",
    "token=a",
    "bearer ",
    'password="',
    "1:AA",
    "A.b+",
  ])("a quarter of a million characters of %j take no longer than linear", (part) => {
    const redactor = createRedactor();
    redactor.add("s", ["a".repeat(200), `${"a".repeat(100)}b`]);
    expectLinear(part, 30_000, (text) => redactor.redact(text));
  });
});

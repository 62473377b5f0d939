import { describe, expect, it } from "vitest";
import { compileConfig } from "../../../src/config/compile.ts";
import { learnSecrets } from "../../../src/host/known-secrets.ts";
import { redactStrings } from "../../../src/host/redact-strings.ts";
import { createRedactor } from "../../../src/text/redact.ts";

const SECRET = "literal-Xq7vT9zLw3Rk8Pn5";

describe("redactStrings", () => {
  const redact = (text: string): string => text.replaceAll(SECRET, "[redacted]");

  it("takes a secret out of every text and every name, however deep", () => {
    const value = { a: [`x ${SECRET}`, { [SECRET]: 1 }], __proto__: null, b: null };
    expect(JSON.stringify(redactStrings(value, redact))).not.toContain(SECRET);
  });

  it("leaves what holds none as the very same value", () => {
    const value = { a: [1, { b: "text" }], c: true };
    expect(redactStrings(value, redact)).toBe(value);
  });
});

describe("redactLongValues", () => {
  it("leaves words that a short value would take apart", () => {
    const redactor = createRedactor();
    redactor.add("x", ["read", SECRET]);
    expect(redactor.redactLongValues(`read ${SECRET} read`)).toBe("read [redacted] read");
    expect(redactor.redactValues("read it")).toBe("[redacted] it");
  });
});

describe("learnSecrets", () => {
  it("knows variables, files and literals before any server is started, and asks no keychain", async () => {
    const env = {
      API_TOKEN: "ghp_0123456789abcdefghijABCDEFGHIJ012345",
      K: "${keychain:never}",
      H: "${env:HOME}",
    };
    const config = compileConfig(
      { mcpServers: { x: { command: "x", env } } },
      { file: null, baseDir: "/", homeDir: "/h", platform: "linux", stateDir: "/s" },
    );
    const redactor = createRedactor();
    await learnSecrets(config, redactor);
    expect(redactor.redactValues(`the ${env.API_TOKEN}`)).toBe("the [redacted]");
    expect(redactor.redactValues(process.env["HOME"] ?? "/root")).toBe(process.env["HOME"] ?? "/root");
  });

  it("knows those of the host itself: of its collector, and of whoever is notified", async () => {
    const collector = "Bearer ghp_0123456789abcdefghijABCDEFGHIJ012345";
    const webhook = "https://hooks.example.com/ghp_9876543210abcdefghijABCDEFGHIJ543210";
    const config = compileConfig(
      { telemetry: { headers: { Authorization: collector } }, notify: { webhook } },
      { file: null, baseDir: "/", homeDir: "/h", platform: "linux", stateDir: "/s" },
    );
    const redactor = createRedactor();
    await learnSecrets(config, redactor);
    expect(redactor.redactValues(`the ${collector} and ${webhook}`)).not.toContain("ghp_");
  });
});

import { describe, expect, it } from "vitest";
import { judgeUrl, type UrlRules } from "../../../src/inputs/url.ts";

const rules: UrlRules = { allowPrivate: false, serverHost: null };
const refused = (text: string, more: Partial<UrlRules> = {}): string => {
  try {
    judgeUrl(text, { ...rules, ...more });
  } catch (error) {
    return (error as { code: string }).code;
  }
  return "shown";
};

describe("addresses that a server sends a person to", () => {
  it("are shown in full, with the host apart [ELI-15] [ELI-18]", () => {
    expect(judgeUrl("https://login.example.com/a?b=c#d", rules)).toEqual({
      url: "https://login.example.com/a?b=c#d",
      host: "login.example.com",
      unicodeHost: null,
      warnings: [],
    });
  });

  it.each([
    "javascript:alert(1)",
    "data:text/html,x",
    "file:///etc/passwd",
    "http://example.com/",
    "ftp://example.com/",
    "no address",
    "https://user:pass@example.com/",
    "https://example.com@evil.example/",
    "https://127.0.0.1/",
    "https://localhost/",
    "https://10.0.0.1/",
    "https://[::1]/",
    "https://169.254.169.254/latest/meta-data",
    "https://0x7f.1/",
    `https://example.com/${"x".repeat(2_100)}`,
    "vscode://file/x",
  ])("%s is refused [ELI-17]", (text) => {
    expect(refused(text)).toBe("input_refused");
  });

  it("on this machine only where the entry allows private addresses", () => {
    expect(refused("http://127.0.0.1:8080/a", { allowPrivate: true })).toBe("shown");
    expect(refused("http://10.0.0.1/a", { allowPrivate: true })).toBe("input_refused");
    expect(refused("https://10.0.0.1/a", { allowPrivate: true })).toBe("shown");
  });

  it.each<[string, string, string | null]>([
    ["https://аpple.com/", "outside of ASCII", "аpple.com"],
    ["https://xn--pple-43d.com/", "outside of ASCII", "аpple.com"],
    ["https://bücher.example/", "outside of ASCII", "bücher.example"],
    ["https://93.184.216.34/", "bare IP", null],
    ["https://example.com:8443/", "port", null],
    ["https://EXAMPLE.com/a/../b", "another way", null],
    ["https:\\\\example.com\\a", "another way", null],
  ])("%s is shown with a warning about it [ELI-19]", (text, warning, unicodeHost) => {
    const judged = judgeUrl(text, rules);
    expect(judged.warnings.join("; ")).toContain(warning);
    expect(judged.unicodeHost).toBe(unicodeHost);
    expect(judged.url).toMatch(/^[\x21-\x7e]+$/);
  });

  it("says where letters of several scripts are mixed", () => {
    expect(judgeUrl("https://аpple.com/", rules).warnings.join()).toContain("scripts");
    expect(judgeUrl("https://яндекс.рф/", rules).warnings.join()).not.toContain("scripts");
  });

  it("says where it does not lead to the server itself", () => {
    const at = (serverHost: string) =>
      judgeUrl("https://login.example.com/", { ...rules, serverHost }).warnings;
    expect(at("example.com")).toEqual([]);
    expect(at("login.example.com")).toEqual([]);
    expect(at("other.com").join()).toContain("other.com");
    expect(at("ample.com").join()).toContain("ample.com");
  });
});

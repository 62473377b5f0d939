import { describe, expect, it } from "vitest";
import { demandEndpoint, evaluateEndpoint } from "../../../src/auth/endpoint.ts";
import { PortcullisError } from "../../../src/errors.ts";

const strict = { allowLoopbackHttp: false };
const local = { allowLoopbackHttp: true };

describe("evaluateEndpoint [SEC-07, SEC-08, SEC-09, SEC-13]", () => {
  it.each([
    "https://auth.example.com/authorize",
    "HTTPS://AUTH.EXAMPLE.COM/",
    "https://auth.example.com:8443/a?b=c&d=%20",
    "https://[2001:db8::1]/x",
  ])("takes %s", (text) => {
    expect(evaluateEndpoint(text, strict).ok).toBe(true);
  });

  it.each([
    [undefined, "is no URL"],
    ["", "is no URL"],
    [7, "is no URL"],
    [["https://a.example"], "is no URL"],
    ["javascript:alert(1)", "is no `https://` URL"],
    ["data:text/html,x", "is no `https://` URL"],
    ["file:///etc/passwd", "is no `https://` URL"],
    ["vscode://x", "is no `https://` URL"],
    ["--version", "is no `https://` URL"],
    ["//auth.example.com", "is no `https://` URL"],
    [" https://auth.example.com", "is no `https://` URL"],
    ["https:auth.example.com", "is no `https://` URL"],
    ["https://auth.example.com/\n", "holds characters"],
    ["https://auth.example.com/`id`", "holds characters"],
    ["https://auth.example.com/${IFS}", "holds characters"],
    ["https://auth.example.com\\@evil.example", "holds characters"],
    ["https://b\u00fccher.example/", "holds characters"],
    ["https://auth.example.com/\u202e", "holds characters"],
    ["https://", "is no URL"],
    ["https://user@auth.example.com/", "holds a user name"],
    ["https://:pw@auth.example.com/", "holds a user name"],
    ["https://auth.example.com/#x", "holds a fragment"],
    ["http://auth.example.com/", "is plain http"],
    ["http://169.254.169.254/latest", "is plain http"],
    ["http://[::ffff:169.254.169.254]/", "is plain http"],
    [`https://auth.example.com/${"a".repeat(2_048)}`, "is longer than"],
  ])("refuses %j", (value, reason) => {
    for (const rules of [strict, local]) {
      expect(evaluateEndpoint(value, rules)).toMatchObject({
        ok: false,
        reason: expect.stringContaining(reason),
      });
    }
  });

  it.each(["http://127.0.0.1:3000/x", "http://localhost/x", "http://[::1]/x", "http://0x7f000001/x"])(
    "takes %s only where the entry allows it [SEC-02, AUTH-37]",
    (text) => {
      expect(evaluateEndpoint(text, strict).ok).toBe(false);
      expect(evaluateEndpoint(text, local).ok).toBe(true);
    },
  );

  it("names the field in the error and quotes the value, cleaned and cut", () => {
    const value = `javascript:\u001b[31m${"x".repeat(500)}`;
    try {
      demandEndpoint(value, "token_endpoint", strict);
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(PortcullisError);
      const { code, message, data } = error as PortcullisError;
      expect(code).toBe("egress_denied");
      expect(message).toContain("`token_endpoint`");
      expect(message.length).toBeLessThan(250);
      // oxlint-disable-next-line no-control-regex
      expect(message).not.toMatch(/[\u0000-\u001f]/);
      expect(data["field"]).toBe("token_endpoint");
    }
  });
});

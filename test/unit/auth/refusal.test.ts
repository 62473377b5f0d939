import * as oauth from "oauth4webapi";
import { describe, expect, it } from "vitest";
import { chooseIssuer } from "../../../src/auth/discovery.ts";
import { fromRefusal, toRefusal } from "../../../src/auth/oauth-error.ts";
import { judgeRefusal } from "../../../src/auth/refresh.ts";
import { PortcullisError } from "../../../src/errors.ts";

function bodyError(error: string, status: number): oauth.ResponseBodyError {
  return new oauth.ResponseBodyError("x", {
    cause: { error, error_description: "hush" },
    response: new Response(null, { status }),
  });
}

describe("toRefusal: by code and status, never by text", () => {
  it.each([
    ["an OAuth error", bodyError("invalid_grant", 400), 400, { error: "invalid_grant", isPassing: false }],
    ["one that is none", bodyError("<b>", 400), 400, { error: "invalid_request", isPassing: false }],
    ["a 401 of any form", new Error("x"), 401, { error: "invalid_client", isPassing: false }],
    ["a 503", new Error("x"), 503, { error: null, isPassing: true }],
    ["a 502 page", new Error("x"), 502, { error: null, isPassing: true }],
    ["a 429", new Error("x"), 429, { error: null, isPassing: true }],
    ["a 404", new Error("x"), 404, { error: null, isPassing: false }],
    ["a redirect", new Error("x"), 302, { error: null, isPassing: true }],
    ["a 200 that is not OAuth's", new Error("x"), 200, { error: null, isPassing: false }],
    ["no answer", new PortcullisError("connection_lost", "x"), null, { error: null, isPassing: true }],
    ["no answer in time", new PortcullisError("timed_out", "x"), null, { error: null, isPassing: true }],
    [
      "a place that may not be asked",
      new PortcullisError("egress_denied", "x"),
      null,
      { error: null, isPassing: false },
    ],
    ["anything else", new Error("x"), null, { error: null, isPassing: false }],
  ])("%s", (_name, cause, status, expected) => {
    expect(toRefusal(cause, status)).toMatchObject(expected);
  });

  it("has nothing of the answer in the error, and no original, because that holds all of it", () => {
    const error = fromRefusal(
      toRefusal(bodyError("invalid_grant", 400), 400),
      "the token request",
      "https://as.example",
    );
    expect(error).toMatchObject({ code: "auth_failed", data: { oauthError: "invalid_grant", status: 400 } });
    expect(error.cause).toBeUndefined();
    expect(error.message).not.toContain("hush");
    const later = fromRefusal(toRefusal(new Error("x"), 503), "the token request", "https://as.example");
    expect(later.code).toBe("http_error");
  });
});

describe("judgeRefusal: what a failed renewal means for what is stored", () => {
  it.each([
    [{ error: null, isPassing: true }, "later"],
    [{ error: "temporarily_unavailable", isPassing: true }, "later"],
    [{ error: "invalid_grant", isPassing: false }, "login-drop"],
    [{ error: "invalid_client", isPassing: false }, "client-lost"],
    [{ error: "unauthorized_client", isPassing: false }, "client-lost"],
    [{ error: "invalid_scope", isPassing: false }, "login-keep"],
    [{ error: "invalid_target", isPassing: false }, "login-keep"],
    [{ error: null, isPassing: false }, "login-keep"],
  ] as const)("%j: %s", (refusal, expected) => {
    expect(judgeRefusal({ ...refusal, status: 400, reason: "" })).toBe(expected);
  });
});

describe("chooseIssuer [AUTH-14, AUTH-20]", () => {
  it.each([
    [["https://a.example", "https://b.example"], null, null, "https://a.example"],
    [["https://a.example", "https://b.example"], null, "https://b.example", "https://b.example"],
    [["https://a.example"], null, "https://gone.example", "https://a.example"],
    [
      ["https://a.example", "https://b.example"],
      "https://b.example",
      "https://a.example",
      "https://b.example",
    ],
  ])("of %j, pinned %s, known %s: %s", (named, pinned, known, expected) => {
    expect(chooseIssuer(named, pinned, known)).toBe(expected);
  });

  it.each(["https://c.example", "https://a.example/", "HTTPS://a.example"])(
    "takes no other than the pinned one: %s",
    (pinned) => {
      expect(() => chooseIssuer(["https://a.example"], pinned, null)).toThrow(
        expect.objectContaining({ code: "auth_failed", message: expect.stringContaining(pinned) }),
      );
    },
  );
});

import { describe, expect, it } from "vitest";
import {
  badAnswer,
  classifyContentType,
  classifyErrorStatus,
  parseRetryAfter,
  redirectError,
  rpcErrorIn,
} from "../../../src/transport/http-answer.ts";
import type { HttpResponse } from "../../../src/transport/http-port.ts";

async function* nothing(): AsyncGenerator<Uint8Array> {}

function answer(status: number, headers: Readonly<Record<string, string>> = {}): HttpResponse {
  return { status, headers, body: nothing() };
}

const NOW = Date.UTC(2026, 0, 1);

describe("classifyContentType [FC-36]", () => {
  it.each([
    ["application/json", "json"],
    ['APPLICATION/JSON;CHARSET="UTF-8"', "json"],
    ["application/json ; charset=iso-8859-1", "json"],
    ["text/event-stream", "sse"],
    ["Text/Event-Stream; charset=utf-8", "sse"],
    [undefined, "unlabelled"],
    ["", "unlabelled"],
    ["text/plain", "unlabelled"],
    ["application/octet-stream", "unlabelled"],
    ["text/html", "foreign"],
    ["application/problem+json", "foreign"],
    ["application/jsonp", "foreign"],
    ["text/event-stream-x", "foreign"],
    [";application/json", "unlabelled"],
  ] as const)("%s is %s", (type, form) => expect(classifyContentType(type)).toBe(form));
});

describe("parseRetryAfter [FC-38]", () => {
  it.each<[string | undefined, number | undefined]>([
    ["0", 0],
    ["1", 1000],
    [" 120 ", 120_000],
    ["86400", 86_400_000],
    ["999999999999", 7 * 86_400_000],
    ["9".repeat(400), undefined],
    ["-5", undefined],
    ["1.5", undefined],
    ["1e3", undefined],
    ["soon", undefined],
    ["", undefined],
    [undefined, undefined],
    ["Thu, 01 Jan 2026 00:00:02 GMT", 2000],
    ["Thursday, 01-Jan-26 00:00:02 GMT", 2000],
    ["Thu Jan  1 00:00:02 2026", 2000],
    ["Wed, 31 Dec 2025 00:00:00 GMT", 0],
    ["Thu, 01 Jan 2099 00:00:00 GMT", 7 * 86_400_000],
    ["Thu, 99 Foo 2026 00:00:02 GMT", undefined],
    ["2026-01-01T00:00:02Z", undefined],
  ])("%j", (value, waitMs) => expect(parseRetryAfter(value, NOW)).toBe(waitMs));
});

describe("rpcErrorIn", () => {
  const error = '{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"no"}}';
  it.each([
    error,
    `\ufeff${error}`,
    ` \n${error}\n`,
    `[${error}]`,
    error.replace("1", "null"),
    error.replace('"id":1,', ""),
  ])("finds it in %j", (text) => expect(rpcErrorIn(text)?.error.code).toBe(-32600));
  it.each([
    "",
    "Bad Request",
    "{}",
    '{"jsonrpc":"2.0","id":1,"result":{}}',
    '{"error":"invalid_token"}',
    '{"error":null}',
    '{"jsonrpc":"2.0","method":"x","error":{"code":1,"message":""}}',
    `[${error},${error}]`,
    error.slice(0, -1),
    "[".repeat(100_000),
  ])("finds none in %j", (text) => expect(rpcErrorIn(text)).toBeUndefined());
});

describe("classifyErrorStatus", () => {
  const rpc = (code: number, message = "m"): string =>
    JSON.stringify({ jsonrpc: "2.0", id: 7, error: { code, message } });
  const judge = (
    status: number,
    text: string,
    hadSession = false,
    headers: Record<string, string> = {},
  ): string => {
    const verdict = classifyErrorStatus(answer(status, headers), text, {
      origin: "https://a.test",
      nowMs: NOW,
      hadSession,
    });
    return verdict.kind === "message" ? `message ${verdict.message.error.code}` : verdict.error.code;
  };

  it.each<[string, number, string, boolean, string]>([
    ["401 asks for a login, whatever the body says", 401, rpc(-32600), false, "auth_required"],
    ["403 likewise", 403, "<h1>", true, "auth_required"],
    ["429", 429, rpc(-32000), true, "rate_limited"],
    ["503", 503, rpc(-32000), false, "http_error"],
    ["an error of the protocol in a 400 is a message [HTTP-38]", 400, rpc(-32022), false, "message -32022"],
    ["an unknown method on a modern server [HTTP-38]", 404, rpc(-32601), false, "message -32601"],
    ["an error of the protocol in a 500", 500, rpc(-32603), true, "message -32603"],
    ["text", 400, "Bad Request", false, "http_error"],
    ["an empty 404 without a session", 404, "", false, "http_error"],
    ["an empty 404 to a session [HTTPL-04]", 404, "", true, "session_lost"],
    ["a 404 to a session, in JSON-RPC", 404, rpc(-32001, "Session not found"), true, "session_lost"],
    ["an unknown method is no unknown session", 404, rpc(-32601), true, "message -32601"],
    ["410 to a session", 410, "Gone", true, "session_lost"],
    ["410 without a session", 410, "Gone", false, "http_error"],
    ["a 400 that names the session", 400, "Bad Request: No valid session ID provided", true, "session_lost"],
    [
      "a 400 that names the session, in JSON-RPC",
      400,
      rpc(-32000, "Bad Request: Invalid Session"),
      true,
      "session_lost",
    ],
    [
      "a 400 that names the session, to a request without one",
      400,
      "no valid session ID",
      false,
      "http_error",
    ],
    ["a 400 about something else", 400, rpc(-32602, "missing argument"), true, "message -32602"],
    ["headers too large [HTTP-33]", 431, "", false, "http_error"],
    ["body too large [HTTP-33]", 413, "", true, "http_error"],
    ["a result with an error status", 500, '{"jsonrpc":"2.0","id":7,"result":{}}', false, "http_error"],
  ])("%s", (_title, status, text, hadSession, expected) => {
    expect(judge(status, text, hadSession)).toBe(expected);
  });

  it("says status, type, wait and the first characters, and keeps what code needs", () => {
    const headers = {
      "content-type": "text/html",
      "retry-after": "86400",
      "www-authenticate": 'Bearer error="x"',
    };
    const text = `<b>${"x".repeat(500)}\u001b[31m`;
    const verdict = classifyErrorStatus(answer(429, headers), text, {
      origin: "https://a.test",
      nowMs: NOW,
      hadSession: false,
    });
    if (verdict.kind !== "error") throw new Error("an error was expected");
    expect(verdict.error.message).toMatch(
      /^https:\/\/a\.test answered 429 with `text\/html`, and asks to wait 86400 s \(`<b>x+.?`\)$/,
    );
    expect(verdict.error.message.length).toBeLessThan(320);
    expect(verdict.error.data).toEqual({
      status: 429,
      wasSent: true,
      wwwAuthenticate: 'Bearer error="x"',
      retryAfterMs: 86_400_000,
    });
  });

  it("keeps a JSON-RPC error beside a status that decides, bounded", () => {
    const text = JSON.stringify({
      id: 1,
      error: { code: -32000, message: "m".repeat(5000), data: { text: "d".repeat(5000) } },
    });
    const verdict = classifyErrorStatus(answer(401), text, {
      origin: "https://a.test",
      nowMs: NOW,
      hadSession: false,
    });
    if (verdict.kind !== "error") throw new Error("an error was expected");
    expect(verdict.error.data["rpc"]).toMatchObject({ code: -32000 });
    expect(JSON.stringify(verdict.error.data).length).toBeLessThan(400);
  });
});

describe("redirectError [SEC-04] [FC-41]", () => {
  const from = new URL("https://a.test/mcp");
  it.each<[string | undefined, string | undefined]>([
    ["https://evil.test/steal?token=1", "https://evil.test"],
    ["//evil.test/x", "https://evil.test"],
    ["http://user:pass@evil.test/", "http://evil.test"],
    ["http://169.254.169.254/latest", "http://169.254.169.254"],
    ["file:///etc/passwd", "file:"],
    ["javascript:alert(1)", "javascript:"],
    ["/login", "https://a.test"],
    ["http://", undefined],
    [undefined, undefined],
  ])("to %s names %s", (location, target) => {
    const error = redirectError(
      answer(302, location === undefined ? {} : { location }),
      from,
      "it is not followed",
    );
    expect([error.code, error.data["target"], error.data["status"]]).toEqual(["egress_denied", target, 302]);
    expect(error.message).not.toMatch(/token|pass/);
  });
});

describe("badAnswer", () => {
  it("escapes what the server wrote", () => {
    const error = badAnswer(
      answer(200, { "content-type": "text/html\u202e" }),
      "https://a.test",
      "no",
      "a\u001b[31mb\u200bc",
    );
    expect(error.code).toBe("protocol_error");
    // eslint-disable-next-line no-control-regex
    expect(error.message).not.toMatch(/[\u0000-\u001f\u200b\u202e]/);
  });
});

import { describe, expect, it } from "vitest";
import { createTokenUse } from "../../../src/auth/authorized-port.ts";
import { assumeServer } from "../../../src/auth/server-metadata.ts";
import type { TokenSet } from "../../../src/auth/tokens.ts";
import type { PortcullisError } from "../../../src/errors.ts";
import type { HttpPort, HttpRequest } from "../../../src/transport/http-port.ts";

const tokens = (accessToken: string): TokenSet => ({
  accessToken,
  tokenType: "bearer",
  obtainedAt: 0,
  expiresAt: null,
  refreshToken: null,
  scopes: [],
  requested: [],
  resource: "https://h.example",
  server: assumeServer("https://as.example"),
  client: { clientId: "c", method: "none", secret: null, source: "registered" },
  dpopKey: null,
});

interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
}

function stage(current: () => TokenSet | undefined) {
  const sent: HttpRequest[] = [];
  const exhausted: PortcullisError[] = [];
  let answer: Answer = { status: 200 };
  const inner: HttpPort = {
    async request(request) {
      sent.push(request);
      return { headers: {}, ...answer, body: (async function* () {})() };
    },
    close: async () => undefined,
  };
  const use = createTokenUse({
    origin: "https://h.example",
    current: async () => current(),
    onExhausted: (error) => exhausted.push(error),
  });
  const port = use.port(inner);
  const ask = (url = "https://h.example/mcp", method: "GET" | "POST" = "POST", headers = {}) =>
    port.request({
      method,
      url: new URL(url),
      headers,
      signal: new AbortController().signal,
      maxBodyBytes: 1,
    });
  return { use, ask, sent, exhausted, answers: (next: Answer) => void (answer = next) };
}

describe("the token", () => {
  it("is on every request to the configured origin, late, in the header alone [AUTH-57, AUTH-58]", async () => {
    let token: TokenSet | undefined;
    const { ask, sent } = stage(() => token);
    await ask();
    token = tokens("one");
    await ask("https://h.example/mcp?x=1", "GET", { Authorization: "Basic configured", accept: "x" });
    token = tokens("two");
    await ask();
    expect(sent.map(({ headers }) => headers)).toEqual([
      {},
      { accept: "x", authorization: "Bearer one" },
      { authorization: "Bearer two" },
    ]);
    expect(sent.map(({ url }) => url.href).join(" ")).not.toMatch(/one|two/);
  });

  it.each([
    "https://h.example:8443/mcp",
    "http://h.example/mcp",
    "https://evil.example/mcp",
    "https://sub.h.example/mcp",
  ])("is not for %s [AUTH-59]", async (url) => {
    const { ask, sent } = stage(() => tokens("one"));
    await ask(url);
    expect(sent[0]?.headers).toEqual({});
  });
});

describe("a second refusal", () => {
  const insufficient = { "www-authenticate": 'Bearer error="insufficient_scope", scope="x"' };

  it("of a token that was got because of one ends everything", async () => {
    const { use, ask, sent, exhausted, answers } = stage(() => tokens("new"));
    use.expect(tokens("new"), 401);
    answers({ status: 401 });
    await ask();
    expect(exhausted).toHaveLength(1);
    await expect(ask()).rejects.toMatchObject({ code: "auth_required", data: { wasSent: false } });
    expect(sent).toHaveLength(1);
    expect(exhausted).toHaveLength(1);
  });

  it("does not, once the token has worked", async () => {
    const { use, ask, exhausted, answers } = stage(() => tokens("new"));
    use.expect(tokens("new"), 401);
    await ask();
    answers({ status: 401 });
    await ask();
    expect(exhausted).toEqual([]);
    expect(use.isRefused("new")).toBe(true);
  });

  it("of an older token, late, means nothing", async () => {
    let token = tokens("old");
    const { use, ask, exhausted, answers } = stage(() => token);
    use.expect(tokens("new"), 401);
    answers({ status: 401 });
    await ask();
    expect(exhausted).toEqual([]);
    expect([use.isRefused("old"), use.isRefused("new")]).toEqual([true, false]);
    token = tokens("new");
    answers({ status: 200 });
    await ask();
  });

  it("of GET means nothing: many servers refuse it whatever the token is", async () => {
    const { use, ask, exhausted, answers } = stage(() => tokens("new"));
    use.expect(tokens("new"), 401);
    answers({ status: 401 });
    await ask(undefined, "GET");
    expect(exhausted).toEqual([]);
  });

  it("for want of scopes is another question after a mere renewal, and the end after a step-up [AUTH-56]", async () => {
    const renewed = stage(() => tokens("new"));
    renewed.use.expect(tokens("new"), 401);
    renewed.answers({ status: 403, headers: insufficient });
    await renewed.ask();
    expect(renewed.exhausted).toEqual([]);

    const steppedUp = stage(() => tokens("new"));
    steppedUp.use.expect(tokens("new"), 403);
    steppedUp.answers({ status: 403, headers: insufficient });
    await steppedUp.ask();
    expect(steppedUp.exhausted).toHaveLength(1);
  });

  it("remembers a bounded number of refused tokens", async () => {
    let number = 0;
    const { use, ask, answers } = stage(() => tokens(`t${number}`));
    answers({ status: 401 });
    for (number = 0; number < 50; number += 1) await ask();
    expect([use.isRefused("t0"), use.isRefused("t49")]).toEqual([false, true]);
  });
});

/** Hostile metadata: whatever a server writes into it, nothing is opened and nothing asked but what a person saw and accepted. */
import { existsSync } from "node:fs";
import { inspect } from "node:util";
import { afterEach, expect, it } from "vitest";
import { readChallenge } from "../../src/auth/challenge.ts";
import {
  askServer,
  createAuthKit,
  createPerson,
  failureOf,
  onlyOrigins,
  openLoopbackPort,
} from "../support/auth-kit.ts";
import { describeField, fieldServer } from "../support/field.ts";
import { startScriptServer } from "../support/local-http.ts";

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

const FIELDS = [
  "authorization_endpoint",
  "token_endpoint",
  "registration_endpoint",
  "revocation_endpoint",
  "authorization_servers",
  "resource_metadata",
  "issuer",
  "jwks_uri",
];
/** Refused as they stand, whoever looks at them. */
const BAD = [
  "shell",
  "file",
  "javascript",
  "data",
  "vbscript",
  "ms-settings",
  "backtick",
  "subshell",
  "userinfo",
  "newline",
  "dash",
  "long",
  "array",
  "null",
  "number",
];
/** URLs that could be asked: refused because of where they lead. */
const ELSEWHERE = ["http-foreign", "ssrf", "ssrf6", "ssrf-hex", "canary"];

/** Left out by the server, as good as not there: an optional endpoint that is `null`. Never asked for and never shown: the keys. */
function isHarmless(field: string, mode: string): boolean {
  if (mode === "null") return ["registration_endpoint", "revocation_endpoint", "jwks_uri"].includes(field);
  return field === "jwks_uri" && ["http-foreign", "ssrf-hex", "canary"].includes(mode);
}

/** `WWW-Authenticate` cannot hold a line break, whatever is written there is text, and a head of 100 KiB is refused before it is read. */
function isPossible(field: string, mode: string): boolean {
  return field !== "resource_metadata" || !["newline", "array", "null", "number", "long"].includes(mode);
}

describeField("fc76-oauth-evil-metadata", () => {
  for (const field of FIELDS) {
    it.each([...BAD, ...ELSEWHERE].filter((mode) => isPossible(field, mode) && !isHarmless(field, mode)))(
      `neither opens nor asks ${field} = %s [SEC-01, SEC-07, SEC-08, SEC-13]`,
      async (MODE) => {
        const server = await startScriptServer(fieldServer("fc76-oauth-evil-metadata"), {
          FIELD: field,
          MODE,
        });
        ends.push(server.close);
        const kit = await createAuthKit();
        ends.push(kit.close);
        const authorization = kit.authorization(server.url);
        const port = authorization.port(openLoopbackPort(server.url.origin));
        ends.push(port.close);
        const person = createPerson(onlyOrigins(server.url.origin));
        const { wwwAuthenticate } = await askServer(port, server.url);
        const error = await failureOf(
          authorization.login(person, { wwwAuthenticate }, AbortSignal.timeout(20_000)),
        );

        expect(person.shown).toEqual([]);
        expect(new Set(kit.opened)).toEqual(
          kit.opened.length === 0 ? new Set() : new Set([server.url.origin]),
        );
        const { counters, extra } = await server.report();
        expect(extra["seen"]).toEqual([]);
        expect(counters["GET /authorize"]).toBeUndefined();
        expect(counters["POST /token"]).toBeUndefined();
        expect(counters["POST /register"]).toBeUndefined();
        expect(existsSync("/tmp/fc76-pwned")).toBe(false);
        expect(error.message).toContain(`\`${field}\``);
        expect(["egress_denied", "auth_failed"]).toContain(error.code);
        const shown = inspect(error, { depth: 10 });
        expect(shown.length).toBeLessThan(6_000);
        expect(shown).not.toContain("scopes_supported");
      },
    );
  }

  it("does not stumble over an optional endpoint that is null", async () => {
    const server = await startScriptServer(fieldServer("fc76-oauth-evil-metadata"), {
      FIELD: "jwks_uri",
      MODE: "null",
    });
    ends.push(server.close);
    const kit = await createAuthKit();
    ends.push(kit.close);
    const authorization = kit.authorization(server.url);
    const person = createPerson(onlyOrigins(server.url.origin));
    await failureOf(authorization.login(person, null, AbortSignal.timeout(20_000)));
    expect(person.shown.map((url) => url.pathname)).toEqual(["/authorize"]);
  });

  it("reads a value with quotes and line breaks in a challenge as text", () => {
    expect(readChallenge('Bearer resource_metadata="javascript:alert(1)"').resourceMetadata).toBe(
      "javascript:alert(1)",
    );
  });
});

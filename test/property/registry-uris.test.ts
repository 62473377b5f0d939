import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { exposeUri, splitUri } from "../../src/registry/resource-uris.ts";

/** As the configuration allows them. */
const server = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9.-]{0,20}$/);
const uri = fc.oneof(
  fc.webUrl({ withFragments: true, withQueryParameters: true }),
  fc.string({ unit: "binary", minLength: 1, maxLength: 80 }),
  fc.constantFrom("file:///a/b", "portcullis://other/x", "/", "note://{topic}/page{?page}", "mailto:a@b"),
);

/** RFC 3986: a scheme, an authority, a path, a query and a fragment, in the characters that each may have. */
const RFC_3986 =
  /^[a-z][a-z0-9+.-]*:\/\/[\w.~-]+(?:\/(?:[\w.~!$&'()*+,;=:@-]|%[0-9a-f]{2})*)*(?:\?(?:[\w.~!$&'()*+,;=:@/?-]|%[0-9a-f]{2})*)?(?:#(?:[\w.~!$&'()*+,;=:@/?-]|%[0-9a-f]{2})*)?$/i;

describe("exposed URIs", () => {
  it("are URIs wherever the server's own are [RPC-03]", () => {
    fc.assert(
      fc.property(server, fc.webUrl({ withFragments: true, withQueryParameters: true }), (name, text) => {
        expect(exposeUri(name, text)).toMatch(RFC_3986);
      }),
    );
  });

  it("lead back to server and URI, character by character", () => {
    fc.assert(
      fc.property(server, uri, (name, text) => {
        expect(splitUri(exposeUri(name, text))).toEqual({ server: name, uri: text });
      }),
    );
  });

  it("survive a client that takes them apart as URLs, where the server's own would", () => {
    for (const text of ["file:///a/b%20c?d=e#f", "test://static-text", "demo://resource/static/a.md"]) {
      const exposed = exposeUri("Files", text);
      expect(new URL(exposed).href).toBe(exposed);
    }
  });

  it.each([
    "",
    "note://x",
    "portcullis://",
    "portcullis://a",
    "portcullis://a/",
    "portcullis:///x",
    "PORTCULLIS://a/b",
  ])("%j is none", (text) => {
    expect(splitUri(text)).toBeUndefined();
  });
});

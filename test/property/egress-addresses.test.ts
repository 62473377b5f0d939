import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { classifyAddress } from "../../src/egress/address.ts";
import { evaluateAddress, evaluateUrl, matchesHost } from "../../src/egress/rules.ts";

const octets = fc.tuple(
  ...(Array.from({ length: 4 }, () => fc.integer({ min: 0, max: 255 })) as [
    fc.Arbitrary<number>,
    fc.Arbitrary<number>,
    fc.Arbitrary<number>,
    fc.Arbitrary<number>,
  ]),
);
const hexPair = (high: number, low: number): string => ((high << 8) | low).toString(16);
const isSpecial = ([a, b, c]: readonly number[]): boolean =>
  a === 0 ||
  a === 10 ||
  a === 127 ||
  (a ?? 0) >= 224 ||
  (a === 100 && (b ?? 0) >= 64 && (b ?? 0) < 128) ||
  (a === 169 && b === 254) ||
  (a === 172 && (b ?? 0) >= 16 && (b ?? 0) < 32) ||
  (a === 192 && b === 168) ||
  (a === 192 && b === 0 && (c === 0 || c === 2)) ||
  (a === 198 && (b === 18 || b === 19));

describe("addresses", () => {
  it("no address of a special range is public, in any of its forms", () => {
    fc.assert(
      fc.property(octets, ([a, b, c, d]) => {
        const kind = classifyAddress(`${a}.${b}.${c}.${d}`);
        if (isSpecial([a, b, c, d])) expect(kind).not.toBe("public");
        const tail = `${hexPair(a, b)}:${hexPair(c, d)}`;
        expect(classifyAddress(`::ffff:${a}.${b}.${c}.${d}`)).toBe(kind);
        expect(classifyAddress(`::ffff:${tail}`)).toBe(kind);
        expect(classifyAddress(`64:ff9b::${tail}`)).toBe(kind === "public" ? "nat64" : kind);
        expect(classifyAddress(`::${tail}`)).not.toBe("public");
        expect(classifyAddress(`2002:${tail}::1`)).not.toBe("public");
      }),
    );
  });

  it("every numeric spelling of an IPv4 address in a URL is judged as the address", () => {
    const rules = { origins: [], allow: [], allowPrivateAddresses: false };
    const spell = fc.constantFrom("decimal", "hex", "octal", "whole", "whole hex");
    fc.assert(
      fc.property(octets, spell, ([a, b, c, d], form) => {
        const whole = ((a * 256 + b) * 256 + c) * 256 + d;
        const host = {
          decimal: `${a}.${b}.${c}.${d}`,
          hex: [a, b, c, d].map((octet) => `0x${octet.toString(16)}`).join("."),
          octal: [a, b, c, d].map((octet) => `0${octet.toString(8)}`).join("."),
          whole: String(whole),
          "whole hex": `0x${whole.toString(16)}`,
        }[form];
        const url = new URL(`https://${host}/`);
        expect(evaluateAddress(url.hostname, url, rules)).toEqual(
          evaluateAddress(`${a}.${b}.${c}.${d}`, url, rules),
        );
      }),
    );
  });

  it("never throws and never allows what is no address", () => {
    const rules = { origins: [], allow: [], allowPrivateAddresses: true };
    const url = new URL("https://example.com/");
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.ipV4(), fc.ipV6()), (text) => {
        if (classifyAddress(text) === "invalid")
          expect(evaluateAddress(text, url, rules).allowed).toBe(false);
      }),
    );
  });
});

describe("hosts", () => {
  const label = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,8}[a-z0-9])?$/).filter((text) => /[a-z]/.test(text));

  it("a wildcard matches deeper names of its domain and nothing else", () => {
    fc.assert(
      fc.property(fc.array(label, { minLength: 1, maxLength: 3 }), label, label, (deep, name, top) => {
        const pattern = `*.${name}.${top}x`;
        expect(matchesHost(pattern, new URL(`https://${deep.join(".")}.${name}.${top}x/`))).toBe(true);
        expect(matchesHost(pattern, new URL(`https://${name}.${top}x/`))).toBe(false);
        expect(matchesHost(pattern, new URL(`https://${deep.join("")}${name}.${top}x/`))).toBe(false);
        expect(matchesHost(pattern, new URL(`https://${deep.join(".")}.${name}.${top}x.evil.test/`))).toBe(
          false,
        );
      }),
    );
  });

  it("a URL that nobody configured is refused, whatever it is", () => {
    const rules = {
      origins: ["https://mcp.example.com"],
      allow: ["*.example.org"],
      allowPrivateAddresses: true,
    };
    fc.assert(
      fc.property(
        fc.webUrl({ withQueryParameters: true, validSchemes: ["http", "https", "ftp", "ws"] }),
        (text) => {
          const url = new URL(text);
          const isConfigured =
            url.origin === "https://mcp.example.com" || url.hostname.endsWith(".example.org");
          if (!isConfigured) expect(evaluateUrl(url, rules).allowed).toBe(false);
        },
      ),
    );
  });
});

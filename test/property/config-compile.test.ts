import fc from "fast-check";
import { expect, it } from "vitest";
import { compileConfig } from "../../src/config/compile.ts";
import type { Config } from "../../src/config/compiled.ts";
import type { ConfigFacts } from "../../src/config/facts.ts";
import { parseConfigText } from "../../src/config/jsonc.ts";
import { listSchemaKeys } from "../../src/config/schema-walk.ts";
import { errorCodes, PortcullisError } from "../../src/errors.ts";

const facts: ConfigFacts = {
  file: "/r/p.json",
  baseDir: "/r",
  homeDir: "/h",
  platform: "linux",
  stateDir: "/s",
};

/** Every key that there is, so that generated values get deep into the schema. */
const keys = [...new Set(listSchemaKeys().flatMap((key) => key.name.split(".")))].filter(
  (key) => key !== "*",
);
const values = [
  "L0",
  "L3",
  "off",
  "30s",
  "1MiB",
  "npx",
  "a@1.0.0",
  "-y",
  "https://x.example",
  "http://localhost",
  "${A}",
  "${",
  "oauth",
  "none",
  "own",
  "sse",
  "never",
  "./x",
  "*",
  "a*",
  "on",
  "postgresql://h/d",
  "/abs",
  "127.0.0.1:0",
  "{x}",
  "ghp_0123456789abcdefghijABCDEFGHIJ",
];

const json = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 7 },
    fc.constantFrom(...values),
    fc.oneof(
      fc.string(),
      fc.integer(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.boolean(),
      fc.constant(null),
    ),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(
      fc.oneof(
        { weight: 9, arbitrary: fc.constantFrom(...keys, "a") },
        { weight: 1, arbitrary: fc.string() },
      ),
      tie("value"),
      {
        maxKeys: 6,
      },
    ),
  ),
})).value;

/** Objects whose outer shape is right, so that what is inside gets looked at. */
const likely = fc.record(
  {
    mcpServers: fc.dictionary(
      fc.constantFrom("a", "b", "A", "constructor", "toString"),
      fc.record(
        Object.fromEntries(
          [
            "command",
            "url",
            "args",
            "env",
            "headers",
            "tools",
            "auth",
            "limits",
            "type",
            "default",
            "rollout",
            "labels",
          ].map((key) => [key, json]),
        ),
        {
          requiredKeys: [],
        },
      ),
    ),
    gateway: json,
    store: json,
    catalog: json,
    egress: json,
  },
  { requiredKeys: [] },
);

it("compiling any JSON gives a configuration or a PortcullisError, nothing else", () => {
  fc.assert(
    fc.property(fc.oneof(json, likely), (raw) => {
      let config: Config;
      try {
        config = compileConfig(raw, facts);
      } catch (error) {
        if (!(error instanceof PortcullisError)) throw error;
        expect(Object.keys(errorCodes)).toContain(error.code);
        expect(["config_invalid", "config_not_yet"]).toContain(error.code);
        expect((error.data["problems"] as unknown[]).length).toBeGreaterThan(0);
        return;
      }
      expect(Object.isFrozen(config)).toBe(true);
    }),
    { numRuns: 800 },
  );
});

it("compiling any value of code does not throw anything else either", () => {
  fc.assert(
    fc.property(
      fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true }),
      (raw) => {
        try {
          compileConfig(raw, facts);
        } catch (error) {
          expect(error).toBeInstanceOf(PortcullisError);
        }
      },
    ),
    { numRuns: 1_000 },
  );
});

it("a valid configuration compiles to the same whatever the order of its keys, and never shows a masked literal", () => {
  const token = "ghp_0123456789abcdefghijABCDEFGHIJ";
  const entry = fc.record({
    command: fc.constantFrom("x", "./y", "npx"),
    args: fc.array(fc.constantFrom("-y", "a@1.0.0", "--token", token, "./z"), { maxLength: 4 }),
    env: fc.dictionary(fc.constantFrom("A", "TOKEN"), fc.constantFrom("1", "${B}", token)),
    tools: fc.dictionary(fc.constantFrom("a", "a*", "*", "b_*"), fc.constantFrom("L0", "L1", "L2", "off")),
  });
  const reverse = (value: unknown): unknown =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(
          Object.entries(value)
            .reverse()
            .map(([key, member]) => [key, reverse(member)]),
        )
      : value;
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom("one", "two"), entry), (mcpServers) => {
      const config = compileConfig({ mcpServers }, facts);
      const other = compileConfig(reverse({ mcpServers }), facts);
      for (const [name, server] of config.servers) {
        const again = other.servers.get(name);
        expect(again?.digest).toBe(server.digest);
        expect(again?.launchDigest).toBe(server.launchDigest);
        expect(again?.tools).toEqual(server.tools);
      }
      expect(other.digest).toBe(config.digest);
      expect(JSON.stringify([...config.servers.values(), config.warnings])).not.toContain(token);
    }),
    { numRuns: 300 },
  );
});

it("parsing any text gives a value or problems with places, and never throws", () => {
  const pieces = fc.array(
    fc.constantFrom(
      "{",
      "}",
      "[",
      "]",
      ",",
      ":",
      '"',
      '"a"',
      "1",
      "//",
      "/*",
      "*/",
      "\n",
      "\r\n",
      "\uFEFF",
      "null",
      "\\",
      "\u0000",
      "é",
    ),
    { maxLength: 30 },
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        pieces.map((list) => list.join("")),
      ),
      (text) => {
        const parsed = parseConfigText(text);
        if (parsed.value === undefined) expect(parsed.problems.length).toBeGreaterThan(0);
        for (const { line, column } of parsed.problems) {
          expect(line).toBeGreaterThan(0);
          expect(column).toBeGreaterThan(0);
          expect(line).toBeLessThanOrEqual(text.split(/\r\n|\n|\r/).length);
        }
      },
    ),
    { numRuns: 3_000 },
  );
});

it("what is strict JSON is read as JSON.parse reads it", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
      const text = JSON.stringify(value, null, 1);
      const parsed = parseConfigText(text);
      if (parsed.problems.length === 0) expect(parsed.value).toEqual(JSON.parse(text));
      else expect(text).toContain("__proto__");
    }),
    { numRuns: 1_000 },
  );
});

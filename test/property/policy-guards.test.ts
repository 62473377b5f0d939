import { resolve } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkPath } from "../../src/policy/guards/path.ts";
import { checkSql } from "../../src/policy/guards/sql.ts";
import { checkUrl } from "../../src/policy/guards/url.ts";
import { matchesPattern } from "../../src/policy/rules.ts";
import { POSTGRESQL_READS, POSTGRESQL_REFUSED } from "../support/sql-inputs.ts";

describe("guards on anything", () => {
  it("sql: what comes out is left alone, and never two statements", async () => {
    const piece = fc.constantFrom(
      ...POSTGRESQL_READS,
      ...POSTGRESQL_REFUSED.map(([sql]) => sql),
      "'",
      '"',
      "$$",
      "--",
      "/*",
      "*/",
      ";",
      "\n",
      "(",
      ")",
      " union ",
      " limit 5",
      "\\",
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(piece, { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 1, max: 50 }),
        async (pieces, maxRows) => {
          const verdict = await checkSql(pieces.join(""), "postgresql", maxRows);
          if (verdict.kind === "rewrite")
            expect(await checkSql(verdict.after as string, "postgresql", maxRows)).toEqual({ kind: "allow" });
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it("sql: a refused part inside a harmless statement is refused", async () => {
    const wrap = fc.constantFrom(
      (sql: string) => `select * from (${sql}) as q`,
      (sql: string) => `with q as (${sql}) select * from q`,
      (sql: string) => `select exists (${sql})`,
      (sql: string) => `select 1 union all (${sql})`,
      (sql: string) => `${sql};\n-- the end`,
    );
    const refused = fc.constantFrom(
      ...POSTGRESQL_REFUSED.map(([sql]) => sql).filter((sql) => /\w/.test(sql) && !sql.startsWith("--")),
    );
    await fc.assert(
      fc.asyncProperty(refused, wrap, async (sql, around) => {
        expect((await checkSql(around(sql), "postgresql", 10)).kind).toBe("deny");
      }),
      { numRuns: 1_000 },
    );
  });

  it("url: what passes has a host of the list for the standard parser, as it stands", () => {
    const part = fc.constantFrom(
      "https://",
      "http://",
      "example.com",
      "evil.example",
      "@",
      ":",
      "/",
      "\\",
      "#",
      "?",
      ".",
      "443",
      "%2e",
      "\t",
      "user",
      "[::1]",
      "ｅ",
      "\u200b",
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
        const verdict = checkUrl(parts.join(""), ["example.com"]);
        if (verdict.kind === "deny") return;
        const url = new URL(verdict.kind === "rewrite" ? (verdict.after as string) : parts.join(""));
        expect([url.protocol, url.host, url.username]).toEqual(["https:", "example.com", ""]);
      }),
      { numRuns: 5_000 },
    );
  });

  it("path: what passes is inside the root, however it is resolved", async () => {
    const part = fc.constantFrom(
      "/srv/data",
      "/",
      "..",
      ".",
      "x",
      "~",
      "%2e",
      "\\",
      "\0",
      "data",
      "srv",
      "$HOME",
      "C:",
      "／",
    );
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 8 }), async (parts) => {
        const path = parts.join("/");
        const verdict = await checkPath(path, ["/srv/data"], { cwd: "/srv/data/x", isLocal: false });
        if (verdict.kind === "deny") return;
        const sent = verdict.kind === "rewrite" ? (verdict.after as string) : path;
        expect(sent === "/srv/data" || sent.startsWith("/srv/data/")).toBe(true);
        expect(resolve(sent)).toBe(sent.length > 1 ? sent.replace(/\/$/, "") : sent);
      }),
      { numRuns: 3_000 },
    );
  });

  it("a pattern means what a regular expression would mean", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[ab*]{0,8}$/), fc.stringMatching(/^[ab]{0,10}$/), (pattern, name) => {
        expect(matchesPattern(pattern, name)).toBe(
          new RegExp(`^${pattern.replaceAll("*", ".*")}$`).test(name),
        );
      }),
      { numRuns: 5_000 },
    );
  });
});

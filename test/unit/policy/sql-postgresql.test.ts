import { describe, expect, it } from "vitest";
import { checkSql } from "../../../src/policy/guards/sql.ts";
import { POSTGRESQL_NEWER_READS, POSTGRESQL_READS, POSTGRESQL_REFUSED } from "../../support/sql-inputs.ts";

const MAX_ROWS = 100;

describe("the sql guard on PostgreSQL statements", () => {
  it("is judged on at least 150 of them", () => {
    expect(
      POSTGRESQL_READS.length + POSTGRESQL_NEWER_READS.length + POSTGRESQL_REFUSED.length,
    ).toBeGreaterThanOrEqual(150);
  });

  it.each([...POSTGRESQL_READS, ...POSTGRESQL_NEWER_READS])("lets pass: %j", async (sql) => {
    const verdict = await checkSql(sql, "postgresql", MAX_ROWS);
    expect(verdict, "reason" in verdict ? verdict.reason : "").not.toMatchObject({ kind: "deny" });
    if (verdict.kind !== "rewrite") return;
    expect(verdict.after).toMatch(/\) (AS q )?LIMIT 100$/);
    expect(await checkSql(String(verdict.after), "postgresql", MAX_ROWS)).toEqual({ kind: "allow" });
  });

  it.each(POSTGRESQL_REFUSED)("refuses: %j", async (sql, word) => {
    const verdict = await checkSql(sql, "postgresql", MAX_ROWS);
    expect(verdict).toMatchObject({ kind: "deny" });
    expect(verdict.kind === "deny" && verdict.reason).toContain(word);
  });

  it("leaves a statement alone that has a small enough limit", async () => {
    expect(await checkSql("select id from orders limit 100", "postgresql", MAX_ROWS)).toEqual({
      kind: "allow",
    });
    expect(await checkSql("select id from orders limit 101", "postgresql", MAX_ROWS)).toMatchObject({
      kind: "rewrite",
    });
  });

  it("keeps the order by making the limit part of the statement", async () => {
    expect(
      await checkSql("select id from orders order by id desc -- newest first", "postgresql", MAX_ROWS),
    ).toMatchObject({
      after: "(select id from orders order by id desc -- newest first\n) LIMIT 100",
    });
  });

  it("cuts the statement by bytes, so that text outside ASCII stays whole", async () => {
    expect(await checkSql("  select 'äöü€😀' as x; -- ö", "postgresql", MAX_ROWS)).toMatchObject({
      after: "(select 'äöü€😀' as x\n) LIMIT 100",
    });
  });

  it("refuses what is no text, or too long", async () => {
    expect(await checkSql(["select 1"], "postgresql", MAX_ROWS)).toMatchObject({ kind: "deny" });
    expect(await checkSql(null, "postgresql", MAX_ROWS)).toMatchObject({ kind: "deny" });
    expect(await checkSql(`select '${"x".repeat(100_000)}'`, "postgresql", MAX_ROWS)).toMatchObject({
      kind: "deny",
    });
    expect(await checkSql("select '\uD800'", "postgresql", MAX_ROWS)).toMatchObject({ kind: "deny" });
  });

  it("survives depth, and works afterwards", async () => {
    const deep = `select ${"(".repeat(45_000)}1${")".repeat(45_000)}`;
    expect(await checkSql(deep, "postgresql", MAX_ROWS)).toMatchObject({ kind: "deny" });
    expect(await checkSql(`select ${"1+".repeat(20_000)}1`, "postgresql", MAX_ROWS)).toMatchObject({
      kind: "deny",
    });
    expect(await checkSql("select 1", "postgresql", MAX_ROWS)).toMatchObject({ kind: "rewrite" });
  });
});

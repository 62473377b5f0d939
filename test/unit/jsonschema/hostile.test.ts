import { describe, expect, it } from "vitest";
import { compileSchema, type CompileResult } from "../../../src/jsonschema/compile.ts";
import { hostileCases } from "../../support/hostile-schemas.ts";
import { canMeasureStalls, longestStepMs, MAX_STALL_MS } from "../../support/stall.ts";

describe("hostile schemas and values", () => {
  it.each(hostileCases.map((hostile) => [hostile.name, hostile] as const))(
    "%s: ends as it should [TOOL-30]",
    (_name, { schema, value, expected }) => {
      const compiled = compileSchema(schema);
      const verdict = compiled.ok ? compiled.validate(value) : { ok: false as const, kind: compiled.code };
      expect(verdict.ok ? "valid" : verdict.kind).toBe(expected);
    },
  );

  it.skipIf(!canMeasureStalls).each(hostileCases.map((hostile) => [hostile.name, hostile] as const))(
    "%s: never holds the event loop over 50 ms [TOOL-30]",
    (_name, { schema, value }) => {
      const longestMs = longestStepMs(function* () {
        let compiled: CompileResult | undefined;
        yield () => (compiled = compileSchema(schema));
        if (compiled?.ok !== true) return;
        yield compiled.prepare;
        const { validate } = compiled;
        yield () => validate(value);
      });
      expect(longestMs).toBeLessThan(MAX_STALL_MS);
    },
  );

  it.skipIf(!canMeasureStalls)("Unicode properties in patterns that no engine has read yet", () => {
    const properties = ["L", "N", "P", "S", "M", "Z", "C"].map((name) => `\\p{${name}}`).join("");
    let run = 0;
    const many = (count: number): unknown => {
      run += 1;
      const patterns = Array.from({ length: count }, (_, at) => [
        `p${at}`,
        { pattern: `^[${properties}]x${run}-${at}` },
      ]);
      return { properties: Object.fromEntries(patterns) };
    };
    expect(compileSchema(many(8)).ok).toBe(true);
    expect(compileSchema(many(700))).toMatchObject({ ok: false, code: "too_complex" });
    const longestMs = longestStepMs(function* () {
      const schema = many(700);
      yield () => compileSchema(schema);
    });
    expect(longestMs).toBeLessThan(MAX_STALL_MS);
  });

  it("says that it gave up, which is not the same as invalid", () => {
    const compiled = compileSchema({ type: "array", items: { type: "integer" } });
    if (!compiled.ok) throw new Error(compiled.reason);
    const verdict = compiled.validate([1, 2, 3], { maxSteps: 2 });
    expect(verdict).toMatchObject({ ok: false, kind: "budget", issues: [{ keyword: "budget" }] });
    expect(compiled.validate([1, 2, 3], { maxSteps: 50 })).toEqual({ ok: true });
  });
});

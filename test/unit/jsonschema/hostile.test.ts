import { describe, expect, it } from "vitest";
import { compileSchema } from "../../../src/jsonschema/compile.ts";
import { hostileCases } from "../../support/hostile-schemas.ts";

/** The longest that compiling, building or checking holds the event loop: the best of some runs, so that a busy machine does not count. */
function longestStallMs(
  schema: unknown,
  value: unknown,
): { readonly outcome: string; readonly stallMs: number } {
  let stallMs = Number.POSITIVE_INFINITY;
  let outcome = "";
  for (let attempt = 0; attempt < 5 && stallMs > 25; attempt += 1) {
    const marks = [performance.now()];
    const compiled = compileSchema(schema);
    marks.push(performance.now());
    if (compiled.ok) {
      compiled.prepare();
      marks.push(performance.now());
      const verdict = compiled.validate(value);
      marks.push(performance.now());
      outcome = verdict.ok ? "valid" : verdict.kind;
    } else {
      outcome = compiled.code;
    }
    const steps = marks.slice(1).map((mark, at) => mark - (marks[at] ?? 0));
    stallMs = Math.min(stallMs, Math.max(...steps));
  }
  return { outcome, stallMs };
}

describe("hostile schemas and values", () => {
  it.each(hostileCases.map((hostile) => [hostile.name, hostile] as const))(
    "%s: ends as it should, and never holds the event loop over 50 ms [TOOL-30]",
    (_name, { schema, value, expected }) => {
      const { outcome, stallMs } = longestStallMs(schema, value);
      expect(outcome).toBe(expected);
      expect(stallMs).toBeLessThan(50);
    },
  );

  it("says that it gave up, which is not the same as invalid", () => {
    const compiled = compileSchema({ type: "array", items: { type: "integer" } });
    if (!compiled.ok) throw new Error(compiled.reason);
    const verdict = compiled.validate([1, 2, 3], { maxSteps: 2 });
    expect(verdict).toMatchObject({ ok: false, kind: "budget", issues: [{ keyword: "budget" }] });
    expect(compiled.validate([1, 2, 3], { maxSteps: 50 })).toEqual({ ok: true });
  });
});

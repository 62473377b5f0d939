import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { compileSchema } from "../../src/jsonschema/compile.ts";
import { checkArguments } from "../../src/registry/arguments.ts";

const schema: JsonObject = {
  type: "object",
  properties: {
    a: { type: "integer", default: 3 },
    b: { type: "array", items: { type: ["string", "null"] } },
    c: { type: "object", properties: { d: { type: "boolean", default: true } }, required: ["e"] },
    f: { enum: ["x", 1, null] },
  },
};

describe("arguments", () => {
  it("are valid, plain and stable wherever they are accepted, and never throw", () => {
    const compiled = compileSchema(schema);
    if (!compiled.ok) throw new Error(compiled.reason);
    const definition = { inputSchema: schema, compiled };
    const member = fc.oneof(
      fc.jsonValue({ maxDepth: 3 }),
      fc.anything({ withBigInt: true, withDate: true, maxDepth: 2 }),
    );
    const input = fc.oneof(
      fc.anything(),
      fc.json(),
      fc.dictionary(fc.constantFrom("a", "b", "c", "f", "g", "__proto__", "constructor"), member, {
        maxKeys: 5,
      }),
    );
    fc.assert(
      fc.property(input, (given) => {
        const verdict = checkArguments(definition, given);
        if (!verdict.ok) {
          expect(verdict.hint).not.toBe("");
          return;
        }
        expect(compiled.validate(verdict.arguments).ok).toBe(true);
        const text = JSON.stringify(verdict.arguments);
        // What is shown for approval is what is sent: saying it again changes nothing.
        const again = checkArguments(definition, JSON.parse(text));
        expect(again.ok && JSON.stringify(again.arguments)).toBe(text);
      }),
      { numRuns: Number(process.env["PROPERTY_RUNS"] ?? 2_000) },
    );
  });
});

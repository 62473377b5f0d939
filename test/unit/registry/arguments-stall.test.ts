import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/base/json.ts";
import { compileSchema } from "../../../src/jsonschema/compile.ts";
import { argumentsVerdict } from "../../../src/registry/arguments.ts";
import { hostileArguments } from "../../support/hostile-arguments.ts";
import { canMeasureStalls, longestSliceMs, MAX_STALL_MS } from "../../support/stall.ts";

describe.skipIf(!canMeasureStalls)("hostile arguments", () => {
  it.each(hostileArguments.map((hostile) => [hostile.name, hostile] as const))(
    "%s: are checked without holding the event loop over 50 ms [TOOL-30]",
    (_name, { schema, value, expected }) => {
      const compiled = compileSchema(schema());
      if (!compiled.ok) throw new Error(compiled.reason);
      compiled.prepare();
      const definition = { inputSchema: schema() as JsonObject, compiled };
      const given = value();
      const { result, longestMs } = longestSliceMs(() => argumentsVerdict(definition, given));
      expect(result.ok ? "ok" : result.issues[0]?.keyword).toBe(expected);
      expect(longestMs).toBeLessThan(MAX_STALL_MS);
    },
  );
});

import { describe, expect, it } from "vitest";
import { createSchemas } from "../../../src/registry/schemas.ts";
import { catalogOf, entryOf, tool } from "../../support/tools.ts";

describe("compiled schemas", () => {
  it("are made once per pin and side, and shared by equal definitions", () => {
    const schemas = createSchemas();
    const one = entryOf(tool("a", { outputSchema: { type: "object" } }));
    const other = entryOf(tool("a", { outputSchema: { type: "object" } }));
    expect(schemas.input(one)).toBe(schemas.input(other));
    expect(schemas.output(one)).toBe(schemas.output(other));
    expect(schemas.output(one)).not.toBe(schemas.input(one));
    expect(schemas.output(entryOf(tool("b")))).toBeUndefined();
    expect(schemas.size()).toBe(3 - 1);
  });

  it("follow an operator's override and not the pin", () => {
    const schemas = createSchemas();
    const override = { type: "object", required: ["q"] };
    const own = entryOf(tool("a"));
    const [overridden] = catalogOf("files", [tool("a")], { schemaOverride: () => override }).tools;
    if (overridden === undefined) throw new Error("no entry");
    expect(overridden.pin).toBe(own.pin);
    const accepts = (entry: typeof own): boolean => {
      const compiled = schemas.input(entry);
      return compiled.ok && compiled.validate({}).ok;
    };
    expect([accepts(own), accepts(overridden), accepts(own)]).toEqual([true, false, true]);
  });

  it("forget what was not needed for longest", () => {
    const schemas = createSchemas({ maxSchemas: 2 });
    const [a, b, c] = ["a", "b", "c"].map((name) => entryOf(tool(name)));
    if (a === undefined || b === undefined || c === undefined) throw new Error("no entries");
    const first = schemas.input(a);
    schemas.input(b);
    expect(schemas.input(a)).toBe(first);
    schemas.input(c);
    expect(schemas.size()).toBe(2);
    expect(schemas.input(a)).toBe(first);
  });

  it("warm up beforehand, and stop when nobody wants it any more", async () => {
    const schemas = createSchemas();
    const entries = Array.from({ length: 20 }, (_, at) => entryOf(tool(`t${at}`)));
    await schemas.warm(entries, new AbortController().signal);
    expect(schemas.size()).toBe(20);
    const stopped = createSchemas();
    await stopped.warm(entries, AbortSignal.abort());
    expect(stopped.size()).toBe(0);
  });
});

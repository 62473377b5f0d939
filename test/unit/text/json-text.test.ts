import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { printJson } from "../../../src/text/json-text.ts";

describe("printJson", () => {
  it("is the same document for every text", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.string({ unit: "binary" }), (value, text) => {
        const document = { value, [text]: text };
        expect(JSON.parse(printJson(document))).toEqual(JSON.parse(JSON.stringify(document)));
      }),
    );
  });

  it("holds nothing that is hidden or steers a terminal, and leaves valid writing alone", () => {
    const shown = printJson({
      a: "x\u001b[2J\u009b\u202e\u200b\u{e0041}y",
      flag: "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
    });
    expect(shown).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b\u202e]/u);
    expect(shown).toContain("\\u009b\\u202e\\u200b\\udb40\\udc41y");
    expect(shown).toContain("🏴\u{e0067}");
  });
});

import { describe, expect, it } from "vitest";
import { parseTemplate } from "../../../src/config/references.ts";

describe("parseTemplate", () => {
  it("splits text and references", () => {
    expect(parseTemplate("a ${env:B} c ${D:-e f}$${g}")).toEqual({
      ok: true,
      parts: [
        { kind: "text", text: "a " },
        { kind: "reference", reference: { scheme: "env", name: "B", fallback: null }, source: "${env:B}" },
        { kind: "text", text: " c " },
        { kind: "reference", reference: { scheme: "env", name: "D", fallback: "e f" }, source: "${D:-e f}" },
        { kind: "text", text: "${g}" },
      ],
    });
  });

  it.each(["", "$", "$$", "{}", "$ {x}", "$x", "100%"])("takes %j as it is", (text) => {
    expect(parseTemplate(text)).toEqual({ ok: true, parts: text === "" ? [] : [{ kind: "text", text }] });
  });

  it.each(["$$${A}"])("%j: an escaped opening behind a dollar", (text) => {
    expect(parseTemplate(text)).toEqual({ ok: true, parts: [{ kind: "text", text: "$${A}" }] });
  });

  it.each([
    ["${", "is never closed"],
    ["${}", "is no name of a variable"],
    ["${A B}", "is no name of a variable"],
    ["${1A}", "is no name of a variable"],
    ["${env:}", "is no name of a variable"],
    ["${file:}", "needs the path of a file"],
    ["${keychain:a b}", "needs the name of a keychain entry"],
    ["${secret:x}", "is unknown"],
    ["${command:x}", "is unknown"],
    ["${input:x}", "asked for by an editor"],
    ["${userHome}", "belongs to an editor"],
    ["${A:-${B}}", "do not nest"],
  ])("%j: %s", (text, message) => {
    const parsed = parseTemplate(text);
    expect(parsed.ok ? "" : parsed.message).toContain(message);
  });

  it("is linear in the text", () => {
    const text = "${A}".repeat(8_000);
    const parsed = parseTemplate(text);
    expect(parsed.ok && parsed.parts.length).toBe(8_000);
  });
});

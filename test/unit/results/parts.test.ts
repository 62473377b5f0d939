import { describe, expect, it } from "vitest";
import { checkUri, safeName } from "../../../src/results/links.ts";
import { checkMedia, cleanMimeType, decodedBytes, isBase64 } from "../../../src/results/media.ts";
import { checkOutput } from "../../../src/results/output-schema.ts";
import { renderForPerson } from "../../../src/results/person.ts";
import { measureJson, previewJson } from "../../../src/results/structured.ts";
import { PNG, take, text } from "./results-kit.ts";

describe("safeName", () => {
  it.each([
    ["../../../etc/passwd", "passwd"],
    ["..\\..\\x", "x"],
    ["a/b/", "b"],
    ["..", "unnamed"],
    ["", "unnamed"],
    [null, "unnamed"],
    ["CON", "_CON"],
    ["con.txt", "_con.txt"],
    ["lpt1", "_lpt1"],
    [".hidden.", "hidden"],
    ['a<b>:"c|d?e*', "a_b___c_d_e_"],
    ["r\u202egpj.exe", "r‹U+202E›gpj.exe"],
    ["报告.pdf", "报告.pdf"],
  ])("%j → %j", (raw, expected) => expect(safeName(raw)).toBe(expected));

  it("is short", () => expect(safeName("x".repeat(10_000)).length).toBe(128));
});

describe("checkUri", () => {
  it.each([
    "javascript:alert(1)",
    "JavaScript:x",
    "data:text/html,x",
    "vbscript:x",
    "\u0001javascript:x",
    "java\nscript:x",
    "java\u200bscript:x",
    "blob:https://x/y",
  ])("refuses %j [SEC-08]", (uri) => expect(checkUri(uri)).toMatchObject({ ok: false }));
  it.each([
    ["https://example.com/a", null],
    ["mem://1", null],
    ["note", null],
    ["file:///etc/passwd", "link.file"],
    ["http://127.0.0.1:8080/", "link.private-address"],
    ["http://[::1]/", "link.private-address"],
    ["http://0x7f.1/", "link.private-address"],
    ["http://metadata.google.internal/", "link.private-address"],
    ["https://10.1.2.3/", "link.private-address"],
  ])("%j: %j", (uri, rule) => {
    const verdict = checkUri(uri);
    expect(verdict.ok && verdict.finding?.rule).toBe(rule ?? undefined);
  });
});

describe("media", () => {
  it.each([
    ["image", PNG, "image/png", "image/png"],
    ["image", Buffer.from("GIF89a…").toString("base64"), "image/gif", "image/gif"],
    ["image", Buffer.from([0xff, 0xd8, 0xff, 0xe0]).toString("base64"), "image/jpg", "image/jpeg"],
    ["image", Buffer.from("RIFF0000WEBPVP8 ").toString("base64"), "image/webp", "image/webp"],
    ["audio", Buffer.from("RIFF0000WAVEfmt ").toString("base64"), "audio/x-wav", "audio/wav"],
    ["audio", Buffer.from("OggS").toString("base64"), "audio/ogg", "audio/ogg"],
  ] as const)("%s %s declared as %s is %s", (kind, data, declared, mimeType) => {
    expect(checkMedia(kind, data, declared)).toMatchObject({ ok: true, media: { mimeType, differs: false } });
  });

  it("tells a sound from an image in the same container", () => {
    expect(checkMedia("image", Buffer.from("RIFF0000WAVEfmt ").toString("base64"), "image/webp").ok).toBe(
      false,
    );
  });

  it.each([
    ["", true],
    ["QUJD", true],
    ["QUI=", true],
    ["QQ==", true],
    ["QUJ", true],
    ["QUJDR", false],
    ["QU JD", false],
    ["QU=D", false],
  ])("base64 %j: %j", (data, expected) => expect(isBase64(data)).toBe(expected));

  it("counts bytes and cleans types", () => {
    expect([decodedBytes("QUJD"), decodedBytes("QUI="), decodedBytes("QQ==")]).toEqual([3, 2, 1]);
    expect(cleanMimeType(" Text/HTML; charset=utf-8 ")).toBe("text/html; charset=utf-8");
    expect(cleanMimeType("text/\u202ehtml")).toBe("application/octet-stream");
    expect(cleanMimeType({})).toBe("application/octet-stream");
  });
});

describe("checkOutput [TOOL-13]", () => {
  const needsInteger = (value: unknown): readonly string[] =>
    typeof value === "object" && value !== null && Number.isInteger((value as { n?: unknown }).n)
      ? []
      : ["/n: must be an integer"];
  const state = { isError: false, structured: { n: 1 }, isWithheld: false };

  it.each([
    ["what fits", needsInteger, state, []],
    ["no schema", null, { ...state, structured: "anything" }, []],
    ["none where one is declared", needsInteger, { ...state, structured: undefined }, ["output.missing"]],
    ["null", needsInteger, { ...state, structured: null }, ["output.mismatch"]],
    ["a wrong type", needsInteger, { ...state, structured: { n: "1" } }, ["output.mismatch"]],
    [
      "an error without structured data",
      needsInteger,
      { ...state, isError: true, structured: undefined },
      [],
    ],
    ["an error with data that does not fit", needsInteger, { ...state, isError: true, structured: 1 }, []],
    ["what was withheld", needsInteger, { ...state, structured: undefined, isWithheld: true }, []],
  ])("%s", (_name, validate, given, expected) => {
    expect(checkOutput(validate, given).map(({ rule }) => rule)).toEqual(expected);
  });

  it("keeps the content of a mismatch and tells the model", () => {
    const taken = take(
      { content: [text("all rows")], structuredContent: { n: "1" } },
      { validateOutput: needsInteger },
    );
    expect(taken.content[0]).toEqual({ type: "text", text: "all rows" });
    expect(taken.structured).toEqual({ n: "1" });
    expect(taken.model).toContain("Its form is not what the tool declares (output.mismatch)");
  });

  it("is one clean, short sentence", () => {
    const [finding] = checkOutput(() => Array.from({ length: 50 }, () => "x\u202e".repeat(300)), state);
    expect(finding?.message.length).toBeLessThanOrEqual(300);
    expect(finding?.message).not.toContain("\u202e");
  });
});

describe("renderForPerson", () => {
  it("shows every kind without a control character", () => {
    const taken = take({
      content: [
        text("a\x1b[31mb\r\nc"),
        { type: "image", data: PNG, mimeType: "image/png" },
        { type: "resource_link", uri: "https://x.example/\u202ea", name: "n", description: "d\u0007" },
        { type: "resource", resource: { uri: "mem://1", text: "t\u0000" } },
        { type: "resource", resource: { uri: "mem://2", blob: "QUJD", mimeType: "application/pdf" } },
      ],
    });
    const shown = renderForPerson(taken.content);
    expect(shown.split("\n")).toEqual([
      "a␛[31mb",
      "c",
      "[image image/png, 70 bytes]",
      "[link “n” https://x.example/‹U+202E›a (d␇)]",
      "[resource mem://1]",
      "t␀",
      "[resource mem://2 application/pdf, 3 bytes]",
    ]);
  });

  it("shows structured data where it is all there is", () => {
    expect(renderForPerson([], { a: ["\u009b"] })).toBe('{\n  "a": [\n    "‹U+009B›"\n  ]\n}');
  });
});

describe("measureJson and previewJson", () => {
  const limits = { maxDepth: 3, maxValues: 10, maxCharacters: 20 };
  it.each([
    [{ a: [1] }, null],
    [[[[[1]]]], "depth"],
    [Array.from({ length: 11 }, () => 1), "count"],
    ["x".repeat(21), "size"],
    [{ ["x".repeat(21)]: 1 }, "size"],
    [{ a: undefined }, "type"],
    [[() => 1], "type"],
  ])("%j exceeds %j", (value, excess) => expect(measureJson(value, limits).excess).toBe(excess));

  it("shows the shape of something enormous in a few lines", () => {
    const preview = previewJson({
      rows: Array.from({ length: 5_000 }, (_, id) => ({ id, body: "x".repeat(1_000) })),
    });
    expect(preview.length).toBeLessThanOrEqual(4_000);
    expect(preview).toContain("… 4990 more");
  });
});

import { describe, expect, it } from "vitest";
import {
  byteLength,
  cleanData,
  cleanForModel,
  cleanForPerson,
  clip,
  oneLine,
  splitAtBytes,
  visibleSample,
} from "../../../src/text/clean.ts";

const tag = (text: string): string =>
  Array.from(text)
    .map((letter) => String.fromCodePoint(0xe0000 + (letter.codePointAt(0) ?? 0)))
    .join("");
const FLAGS = ["gbeng", "gbsct", "gbwls"].map((region) => `\u{1f3f4}${tag(region)}\u{e007f}`);

describe("text that is left as it is, for people and for models", () => {
  it.each([
    ["plain text", "Hello, world.\n\tindented\n"],
    ["code", 'const a = `${b}`; // <a href="x">&amp;</a> \\u0000 %20\n'],
    ["JSON", '{"a":[1,2,{"b":"\\u202e"}],"c":null}'],
    ["the flags of England, Scotland and Wales", FLAGS.join(" ")],
    ["families", "👨‍👩‍👧‍👦 👩🏽‍🚀 🏳️‍🌈 🏴‍☠️ ❤️‍🔥"],
    ["presentation and keycaps", "☺️ ☺︎ 1️⃣ #️⃣ ©️"],
    ["national flags", "🇩🇪🇨🇳🇧🇷"],
    ["Chinese, Japanese, Korean", "忽略大小写。カタカナ・ひらがな 한국어 텍스트"],
    ["ideographic variants", "葛\u{e0100}城市 辻\u{e0101}"],
    ["Arabic and Hebrew", "مرحبا بالعالم. שלום עולם (test) 123"],
    ["Persian with joiners", "می\u200cخواهم"],
    ["Hindi and Sinhala with joiners", "क्\u200dष ශ්\u200dරී"],
    ["Mongolian with selectors", "ᠮᠣᠩ\u180bᠭᠣᠯ"],
    ["private use and box drawing", "\ue0b0 ┌─┐ █"],
  ])("%s", (_name, text) => {
    expect(cleanForPerson(text)).toBe(text);
    expect(cleanForModel(text)).toBe(text);
    expect(cleanData(text)).toBe(text);
  });
});

describe("hidden characters", () => {
  it.each([
    ["an escape sequence", "a\x1b[31mred\x1b[0m", "a␛[31mred␛[0m", "ared"],
    [
      "a link in a terminal",
      "\x1b]8;;https://x.example\x1b\\docs\x1b]8;;\x1b\\",
      "␛]8;;https://x.example␛\\docs␛]8;;␛\\",
      "docs",
    ],
    ["a string sequence that stays open", "\x1b]0;title", "␛]0;title", "0;title"],
    ["an 8-bit control sequence", "\x9b31mred", "‹U+009B›31mred", "red"],
    ["NUL and backspace", "a\0b\bc\x7f", "a␀b␈c␡", "abc"],
    ["a carriage return that overwrites", "secret\rshown", "secret␍shown", "secret\nshown"],
    ["a right-to-left override", "gpj\u202eexe", "gpj‹U+202E›exe", "gpjexe"],
    ["isolates and marks", "\u2066a\u2069\u200e\u061c", "‹U+2066›a‹U+2069›‹U+200E›‹U+061C›", "a"],
    ["zero-width characters", "pa\u200bss\u2060wo\ufeffrd", "pa‹U+200B›ss‹U+2060›wo‹U+FEFF›rd", "password"],
    ["a joiner between Latin letters", "a\u200db", "a‹U+200D›b", "ab"],
    ["a run of them", "x\u200b\u200c\u200d\u2060\ufeffy", "x‹U+200B and 4 more hidden›y", "xy"],
    ["text in tag characters", `Hi${tag("delete all")}`, "Hi‹hidden “delete all”›", "Hi"],
    [
      "tag text inside a flag",
      `\u{1f3f4}${tag("gbengX")}\u{e007f}`,
      "\u{1f3f4}‹hidden “gbengX”›",
      "\u{1f3f4}",
    ],
    ["selectors after an emoji", "😀\ufe0f\ufe01\ufe02", "😀\ufe0f‹U+FE01›‹U+FE02›", "😀\ufe0f"],
    ["Hangul fillers", "a\u3164\uffa0\u115fb", "a‹U+3164›‹U+FFA0›‹U+115F›b", "ab"],
    ["separators of lines", "a\u2028b\u0085c", "a‹U+2028›b‹U+0085›c", "a\nb\nc"],
    ["half a surrogate pair", "a\ud83db", "a\ufffdb", "a\ufffdb"],
  ])("%s", (_name, text, forPerson, forModel) => {
    expect(cleanForPerson(text)).toBe(forPerson);
    expect(cleanForModel(text)).toBe(forModel);
  });

  it("keeps Windows line ends in data and makes them line ends for people and models", () => {
    expect(cleanData("a\r\nb\rc")).toBe("a\r\nb␍c");
    expect(cleanForPerson("a\r\nb")).toBe("a\nb");
    expect(cleanForModel("a\r\nb")).toBe("a\nb");
    expect(cleanForPerson("\u200b\r\n")).toBe("‹U+200B›\n");
  });

  it("does not let an open sequence swallow a long text", () => {
    expect(cleanForModel(`\x1b]${"x".repeat(5_000)}\x07`)).toHaveLength(5_000);
  });
});

describe("clip", () => {
  it.each([
    ["abc", 3, "abc"],
    ["abcd", 3, "ab…"],
    ["abcd", 0, ""],
    ["a👨‍👩‍👧b", 5, "a…"],
    ["e\u0301e\u0301e\u0301", 4, "e\u0301…"],
    ["\ud83d\ude00\ud83d\ude00", 4, "\ud83d\ude00\ud83d\ude00"],
    ["👨‍👩‍👧b", 4, "…"],
    [`${FLAGS[0] ?? ""}b`, 6, "…"],
    ["\ud83d\ude00\ud83d\ude00x", 4, "\ud83d\ude00…"],
  ])("%j at %i", (text, max, expected) => expect(clip(text, max)).toBe(expected));

  it("tears a hostile stack of marks between code points, at most", () => {
    const clipped = clip(`a${"\u0301".repeat(10_000)}`, 500);
    expect(clipped.length).toBeLessThanOrEqual(500);
    expect(clipped.isWellFormed()).toBe(true);
  });
});

describe("splitAtBytes", () => {
  it.each([
    ["hello", 5, "hello"],
    ["hello", 4, "hell"],
    ["你好", 3, "你"],
    ["你好", 5, "你"],
    ["😀😀", 7, "😀"],
    ["a😀", 3, "a"],
    ["abc", 0, ""],
  ])("%j at %i", (text, max, head) => {
    const split = splitAtBytes(text, max);
    expect(split.head).toBe(head);
    expect(split.head + split.tail).toBe(text);
    expect(byteLength(split.head)).toBeLessThanOrEqual(max);
  });
});

describe("oneLine and visibleSample", () => {
  it("folds white space and shows what is hidden", () => {
    expect(oneLine("  a\n\n\tb\u202ec  ")).toBe("a b‹U+202E›c");
  });
  it("is short whatever comes", () => {
    expect(oneLine("\u200bx".repeat(100_000), 50).length).toBeLessThanOrEqual(50);
    expect(visibleSample('say "hi"\n')).toBe('"say \\"hi\\""');
  });
});

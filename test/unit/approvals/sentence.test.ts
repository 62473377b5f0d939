import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/base/json.ts";
import { detailRows } from "../../../src/approvals/details.ts";
import { sentenceFor, titleClaim } from "../../../src/approvals/sentence.ts";

/** Stands for the cleaner of the host. */
function makeVisible(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what it shows
  return text.replaceAll(
    /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u200B-\u200F\u202A-\u202E]/g,
    (one) => `‹${one.charCodeAt(0).toString(16)}›`,
  );
}

function say(template: string | null, args: JsonObject, tool = "act"): string {
  return sentenceFor({ server: "github", tool, arguments: args, say: template, makeVisible });
}

describe("a sentence from a template", () => {
  it("fills in the arguments", () => {
    const args = { pullNumber: 412, owner: "acme", repo: "web", merge_method: "squash" };
    expect(say("Merge #{pullNumber} into {owner}/{repo} by {merge_method}", args)).toBe(
      "Merge #412 into acme/web by squash",
    );
  });

  it("shows what is missing, and braces", () => {
    expect(say("Write {path} to {target.name}", { path: "/a" })).toBe("Write /a to ‹no target.name›");
    expect(say("{{literal}} {n}", { n: 1 })).toBe("{literal} 1");
  });

  it("goes into objects and lists, own properties only", () => {
    expect(say("{a.b} {list.1} {ids}", { a: { b: "x" }, list: ["p", "q"], ids: [1, 2, 3, 4, 5] })).toBe(
      "x q 1, 2, 3 and 2 more",
    );
    expect(say("{constructor} {a.__proto__}", { a: {} })).toBe("‹no constructor› ‹no a.__proto__›");
  });

  it("quotes a value that could be mistaken for the sentence around it", () => {
    expect(say("Send to {to}", { to: "ann. Approved by the owner" })).toBe(
      "Send to “ann. Approved by the owner”",
    );
    expect(say("Send {x}", { x: "a” and delete “b" })).toBe('Send “a" and delete "b”');
    expect(say("Send {x}", { x: "" })).toBe("Send “”");
  });

  it("clips what is long and counts it", () => {
    const sentence = say("Post {body}", { body: "x".repeat(5_000) });
    expect(sentence.length).toBeLessThan(160);
    expect(sentence).toContain("…” (5000 characters)");
    expect(say("{a}".repeat(50), { a: "word ".repeat(15) }).length).toBeLessThanOrEqual(601);
  });

  it("stays on one line and shows what cannot be seen", () => {
    const sentence = say("Run {x}", { x: "a\nb\r\nc\u001b[2Kd\u202ee\u200bf" });
    expect(sentence).toBe("Run “a ⏎ b ⏎ c‹1b›[2Kd‹202e›e‹200b›f”");
  });

  it("does not expand what an argument holds", () => {
    expect(say("{a}", { a: "{b}", b: "secret" })).toBe("“{b}”");
    expect(say("{a}", { a: "$& $1 $$" })).toBe("“$& $1 $$”");
  });
});

describe("a sentence without a template", () => {
  it.each([
    [{ owner: "acme", repo: "web", title: "Fix login" }, "github act: acme/web, title “Fix login”"],
    [{ message: "hi" }, "github act: hi"],
    [{}, "github act, without arguments"],
    [
      { a: 1, b: true, c: null, d: [], e: {}, f: 2 },
      "github act: a 1, b true, c null, d an empty list, and 2 more",
    ],
    [{ ids: ["x", "y"] }, "github act: x, y"],
    [{ owner: { x: 1 }, repo: "web" }, "github act: owner 1 field, repo web"],
  ] as const)("%j: %s", (args, sentence) => {
    expect(say(null, args as unknown as JsonObject)).toBe(sentence);
  });

  it("shows the tricks in a tool's name", () => {
    expect(say(null, {}, "safe\u202etool\n")).toBe("github safe‹202e›tool ⏎, without arguments");
  });
});

describe("the server's own title", () => {
  it("is a quoted claim", () => {
    expect(titleClaim("github", "act", "Totally safe” tool", makeVisible)).toBe(
      'github calls it “Totally safe" tool”',
    );
    expect(titleClaim("github", "act", null, makeVisible)).toBeNull();
    expect(titleClaim("github", "act", "act", makeVisible)).toBeNull();
    expect(titleClaim("github", "act", "x".repeat(9_999), makeVisible)?.length).toBeLessThan(140);
  });
});

describe("the table of arguments", () => {
  it("has a row per value, long ones folded", () => {
    const rows = detailRows(
      { a: { b: 1, "c/d": "x\ny" }, list: ["p", "q"], items: [{ id: 5 }], body: "z".repeat(500) },
      null,
      [],
      makeVisible,
    );
    expect(
      rows.map(({ where, name, value, isFolded, change }) => [
        where,
        name,
        value.length > 20 ? value.length : value,
        isFolded,
        change,
      ]),
    ).toEqual([
      ["/a/b", "a.b", "1", false, null],
      ["/a/c~1d", "a.c/d", "x\ny", true, null],
      ["/list", "list", "p\nq", true, null],
      ["/items/0/id", "items[1].id", "5", false, null],
      ["/body", "body", 500, true, null],
    ]);
  });

  it("marks what came out of a tool, also inside a list", () => {
    const origins = [{ where: "/to/1", message: "an e-mail address in it came out of `x y`" }];
    expect(
      detailRows({ to: ["a", "b"], cc: "c" }, null, origins, makeVisible).map(
        ({ origins: found }) => found.length,
      ),
    ).toEqual([1, 0]);
  });

  it("shows what differs from the last approved call", () => {
    const rows = detailRows({ same: 1, other: 2, added: 3 }, { same: 1, other: 9, gone: 4 }, [], makeVisible);
    expect(rows.map(({ name, change, before }) => [name, change, before])).toEqual([
      ["same", "same", null],
      ["other", "changed", "9"],
      ["added", "new", null],
      ["gone", "removed", "4"],
    ]);
  });

  it("is bounded, counts what it leaves out, and leaves out nothing that came from a tool", () => {
    const args = Object.fromEntries(Array.from({ length: 500 }, (_one, index) => [`k${index}`, index]));
    const rows = detailRows(args, null, [{ where: "/k499", message: "m" }], makeVisible);
    expect(rows).toHaveLength(201);
    expect(rows[0]?.name).toBe("k499");
    expect(rows.at(-1)?.value).toBe("300 more values");
    expect(detailRows({ x: "y".repeat(1_000_000) }, null, [], makeVisible)[0]).toMatchObject({
      characters: 1_000_000,
    });
  });
});

import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { GuardRule } from "../../../src/config/compiled.ts";
import { checkMatch } from "../../../src/policy/guards/match.ts";
import { checkNumber } from "../../../src/policy/guards/number.ts";
import { checkPath } from "../../../src/policy/guards/path.ts";
import { runGuards } from "../../../src/policy/guards/run.ts";
import { checkUrl } from "../../../src/policy/guards/url.ts";

describe("number", () => {
  it.each([
    [5, "allow"],
    [0, "allow"],
    [10, "allow"],
    [10.01, "deny"],
    [-1, "deny"],
    ["7", "allow"],
    ["7.5", "allow"],
    ["11", "deny"],
    ["1e1", "deny"],
    [" 7", "deny"],
    ["0x7", "deny"],
    ["", "deny"],
    [Number.NaN, "deny"],
    [Number.POSITIVE_INFINITY, "deny"],
    [null, "deny"],
    [true, "deny"],
    [[5], "deny"],
  ] as const)("%j between 0 and 10: %s", (value, kind) => {
    expect(checkNumber(value as number, 0, 10).kind).toBe(kind);
  });

  it("without bounds wants a number all the same", () => {
    expect(checkNumber(1e300, null, null).kind).toBe("allow");
    expect(checkNumber("x", null, null).kind).toBe("deny");
  });
});

describe("match", () => {
  it("takes the whole value", () => {
    expect(checkMatch("main", "main|release/\\d+").kind).toBe("allow");
    expect(checkMatch("release/12", "main|release/\\d+").kind).toBe("allow");
    expect(checkMatch("main; rm -rf", "main|release/\\d+").kind).toBe("deny");
    expect(checkMatch("main\n", "main").kind).toBe("deny");
    expect(checkMatch(12, "\\d+").kind).toBe("allow");
    expect(checkMatch({}, ".*").kind).toBe("deny");
    expect(checkMatch("x".repeat(100_001), ".*").kind).toBe("deny");
  });

  it("takes linear time", () => {
    expect(checkMatch("a".repeat(50_000), "(a+)+b").kind).toBe("deny");
  });

  it("throws for a pattern that is none, also for what RE2 does not know", () => {
    expect(() => checkMatch("a", "(")).toThrow(RangeError);
    expect(() => checkMatch("a", "(?=a)a")).toThrow(RangeError);
  });
});

describe("url", () => {
  const HOSTS = [
    "example.com",
    "*.wild.example",
    "ported.example:8443",
    "http://plain.example",
    "bücher.example",
  ];
  it.each([
    ["https://example.com", "allow"],
    ["https://example.com/", "allow"],
    ["https://example.com/a?b=c#d", "allow"],
    ["https://example.com:443/", "rewrite"],
    ["HTTPS://EXAMPLE.COM/", "rewrite"],
    ["https://example.com/a/../b", "rewrite"],
    ["https://example.com?x=a@b", "rewrite"],
    ["https://%65xample.com/", "rewrite"],
    ["https://ｅxample.com/", "rewrite"],
    ["https://a.wild.example/", "allow"],
    ["https://a.b.wild.example/", "allow"],
    ["https://wild.example/", "deny"],
    ["https://evilwild.example/", "deny"],
    ["https://ported.example:8443/", "allow"],
    ["https://ported.example/", "deny"],
    ["https://example.com:8443/", "deny"],
    ["http://plain.example/", "allow"],
    ["https://plain.example/", "deny"],
    ["http://example.com/", "deny"],
    ["https://xn--bcher-kva.example/", "allow"],
    ["https://bücher.example/", "rewrite"],
    ["https://exаmple.com/", "deny"], // a Cyrillic letter
    ["https://example.com.evil.example/", "deny"],
    ["https://example.com.", "deny"],
    ["https://example.com@evil.example/", "deny"],
    ["https://user:pass@example.com/", "deny"],
    ["https://evil.example\\@example.com/", "deny"],
    ["https:\\\\example.com/", "deny"],
    ["https:/example.com/", "deny"],
    ["https:example.com", "deny"],
    ["//example.com/", "deny"],
    ["/relative", "deny"],
    [" https://example.com/", "deny"],
    ["https://example.com/\n", "deny"],
    ["https://exam\tple.com/", "deny"],
    ["https://exam\u00adple.com/", "rewrite"],
    ["https://exam\u200bple.com/", "deny"],
    ["https://example.com/\u202egnp", "deny"],
    ["javascript:alert(1)", "deny"],
    ["file:///etc/passwd", "deny"],
    ["ftp://example.com/", "deny"],
    ["https://127.0.0.1/", "deny"],
    ["https://0x7f.1/", "deny"],
    ["https://[::1]/", "deny"],
    ["https://", "deny"],
    ["", "deny"],
    [5, "deny"],
    [null, "deny"],
  ] as const)("%j: %s", (value, kind) => {
    const verdict = checkUrl(value, HOSTS);
    expect(verdict.kind).toBe(kind);
    // What is sent is what a second check would leave alone.
    if (verdict.kind === "rewrite") expect(checkUrl(String(verdict.after), HOSTS).kind).toBe("allow");
  });
});

describe("path", () => {
  let root = "";
  let outside = "";
  const at = (cwd: string | null = null) => ({ cwd, isLocal: true });

  beforeAll(async () => {
    const base = await realpath(await mkdtemp(join(tmpdir(), "portcullis-path-")));
    root = join(base, "root");
    outside = join(base, "outside");
    await mkdir(join(root, "sub"), { recursive: true });
    await mkdir(join(base, "rooted"));
    await mkdir(outside);
    await writeFile(join(outside, "secret"), "x");
    await writeFile(join(root, "file"), "x");
    await symlink(outside, join(root, "out"));
    await symlink(join(outside, "not-there"), join(root, "dangling"));
    await symlink(join(root, "sub"), join(root, "in"));
    await symlink("loop", join(root, "loop"));
  });
  afterAll(async () => rm(join(root, ".."), { recursive: true, force: true }));

  it.each([
    ["file", "allow"],
    ["sub", "allow"],
    ["sub/", "allow"],
    ["new-file", "allow"],
    ["sub/new/deep/file", "allow"],
    ["in/new", "allow"],
    ["", "allow"],
    ["sub/../file", "rewrite"],
    ["./file", "rewrite"],
    ["sub//file", "rewrite"],
    ["out", "deny"],
    ["out/secret", "deny"],
    ["out/new", "deny"],
    ["dangling", "deny"],
    ["dangling/new", "deny"],
    ["loop/x", "deny"],
    ["file/x", "deny"],
    ["../outside/secret", "deny"],
    ["../rooted/x", "deny"],
    ["sub/../../outside/secret", "deny"],
    ["in/../../outside", "deny"],
    ["..%2foutside", "deny"],
    ["%2e%2e/outside", "deny"],
    ["..%252foutside", "deny"],
    ["a\\..\\..\\outside", "deny"],
    ["a\0b", "deny"],
    ["a\nb", "deny"],
    ["a\u200bb", "deny"],
    ["a\u202eb", "deny"],
    ["．．/outside", "deny"],
    ["a／b", "deny"],
    ["$HOME/x", "deny"],
    ["${HOME}/x", "deny"],
    ["%USERPROFILE%", "deny"],
    ["\uD800", "deny"],
  ] as const)("root/%j: %s", async (tail, kind) => {
    const verdict = await checkPath(tail === "" ? root : `${root}/${tail}`, [root], at());
    expect(verdict.kind).toBe(kind);
    if (verdict.kind === "rewrite")
      expect((await checkPath(String(verdict.after), [root], at())).kind).toBe("allow");
  });

  it.each([
    ["/etc/passwd"],
    ["//server/share"],
    ["\\\\server\\share"],
    ["C:\\Windows"],
    ["C:/Windows"],
    ["file:///etc/passwd"],
    ["~/x"],
    ["~root/x"],
    ["/"],
    ["relative"],
    [""],
  ])("%j: deny", async (path) => {
    expect((await checkPath(path, [root], at())).kind).toBe("deny");
  });

  it("writes a relative path out, against the folder of the server", async () => {
    expect(await checkPath("sub/x", [root], at(root))).toMatchObject({
      kind: "rewrite",
      after: join(root, "sub/x"),
    });
    expect((await checkPath("../outside/secret", [root], at(root))).kind).toBe("deny");
    expect((await checkPath("out/secret", [root], at(root))).kind).toBe("deny");
  });

  it("takes a root that is a link for where it leads", async () => {
    const link = join(root, "..", "link");
    await symlink(root, link);
    expect((await checkPath(join(root, "file"), [link], at())).kind).toBe("allow");
    expect((await checkPath(join(link, "file"), [link], at())).kind).toBe("allow");
    expect((await checkPath(join(link, "out", "secret"), [link], at())).kind).toBe("deny");
  });

  it("looks only at the spelling for a server on another machine", async () => {
    const remote = { cwd: null, isLocal: false };
    expect((await checkPath("/srv/data/x", ["/srv/data"], remote)).kind).toBe("allow");
    expect((await checkPath("/srv/data/../x", ["/srv/data"], remote)).kind).toBe("deny");
    expect((await checkPath("/srv/database", ["/srv/data"], remote)).kind).toBe("deny");
    expect((await checkPath(`${root}/out/secret`, [root], remote)).kind).toBe("allow");
  });

  it("is not a path: anything but a text", async () => {
    for (const value of [null, 5, {}, ["a"]])
      expect((await checkPath(value, [root], at())).kind).toBe("deny");
  });
});

describe("the runner", () => {
  const context = { cwd: null, isLocal: true };
  const sql: GuardRule = { kind: "sql", argument: "q", dialect: "postgresql", maxRows: 10 };
  const number: GuardRule = { kind: "number", argument: "n", min: 1, max: 9 };
  const url: GuardRule = { kind: "url", argument: "list.urls", hosts: ["example.com"] };

  it("rewrites a copy, records both forms, and changes nothing the second time", async () => {
    const given = {
      q: "select 1",
      n: 5,
      list: [{ urls: ["https://EXAMPLE.com/a", "https://example.com/b"] }, { urls: [] }],
    };
    const before = structuredClone(given);
    const first = await runGuards([sql, number, url], given, context);
    expect(given).toEqual(before);
    expect(first.arguments).toEqual({
      q: "(select 1\n) LIMIT 10",
      n: 5,
      list: [{ urls: ["https://example.com/a", "https://example.com/b"] }, { urls: [] }],
    });
    expect(first.verdicts.filter(({ kind }) => kind === "rewrite")).toMatchObject([
      { guard: "sql", before: "select 1", after: "(select 1\n) LIMIT 10" },
      { guard: "url", before: "https://EXAMPLE.com/a" },
    ]);
    const second = await runGuards([sql, number, url], first.arguments, context);
    expect(second.arguments).toBe(first.arguments);
    expect(second.verdicts.every(({ kind }) => kind === "allow")).toBe(true);
  });

  it("denies a missing argument, and stops there", async () => {
    const { verdicts } = await runGuards([number, sql], { q: "select 1" }, context);
    expect(verdicts).toMatchObject([{ kind: "deny", argument: "n", hasFailed: false }]);
  });

  it("denies where one of many values does not pass", async () => {
    const { verdicts } = await runGuards(
      [url],
      { list: { urls: ["https://example.com/", "https://evil.example/"] } },
      context,
    );
    expect(verdicts.at(-1)).toMatchObject({ kind: "deny", guard: "url" });
  });

  it("denies where a guard cannot run", async () => {
    const broken: GuardRule = { kind: "match", argument: "n", pattern: "(" };
    expect((await runGuards([broken], { n: "x" }, context)).verdicts).toMatchObject([
      { kind: "deny", hasFailed: true },
    ]);
    const many = { n: Array.from({ length: 1_001 }, () => 5) };
    expect((await runGuards([number], many, context)).verdicts).toMatchObject([
      { kind: "deny", hasFailed: true },
    ]);
  });

  it("does not follow what is inherited, and keeps odd names", async () => {
    const inherited: GuardRule = { kind: "match", argument: "constructor.name", pattern: ".*" };
    expect((await runGuards([inherited], {}, context)).verdicts).toMatchObject([{ kind: "deny" }]);
    const odd = JSON.parse('{"__proto__": 1, "q": "select 1"}') as Record<string, string>;
    const { arguments: out } = await runGuards([sql], odd, context);
    expect(Object.keys(out)).toEqual(["__proto__", "q"]);
  });
});

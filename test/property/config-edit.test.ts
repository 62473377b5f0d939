import fc from "fast-check";
import { expect, it } from "vitest";
import {
  addServer,
  inOrder,
  removeServer,
  setGrade,
  setRollout,
  setServerKey,
  type ConfigEdit,
} from "../../src/config/edit.ts";
import { parseConfigText } from "../../src/config/jsonc.ts";
import { GRADES } from "../../src/vocabulary.ts";

/** A file with a numbered comment wherever one may stand, in one of several layouts. */
const layouts = fc.record({
  servers: fc.uniqueArray(fc.constantFrom("alpha", "beta", "gamma"), { minLength: 1, maxLength: 3 }),
  rules: fc.uniqueArray(fc.constantFrom("read", "write", "list_*"), { maxLength: 3 }),
  isObject: fc.boolean(),
  indent: fc.constantFrom("  ", "    ", "\t", ""),
  eol: fc.constantFrom("\n", "\r\n"),
  hasTrailingCommas: fc.boolean(),
  hasMark: fc.boolean(),
});

interface Layout {
  readonly servers: readonly string[];
  readonly rules: readonly string[];
  readonly isObject: boolean;
  readonly indent: string;
  readonly eol: string;
  readonly hasTrailingCommas: boolean;
  readonly hasMark: boolean;
}

function render(layout: Layout): { text: string; commentsOf: (server: string) => string[]; outer: string[] } {
  let number = 0;
  const owners = new Map<string, string[]>();
  const comment = (owner: string): string => {
    number += 1;
    const text = number % 2 === 0 ? `/* note ${number}. */` : `// note ${number}.`;
    owners.set(owner, [...(owners.get(owner) ?? []), text]);
    return text;
  };
  const lines: string[] = ["{", `1${comment("")}`, '1"mcpServers": {'];
  layout.servers.forEach((server, index) => {
    lines.push(`2${comment("")}`, `2"${server}": {`, `3"command": "x", ${comment(server)}`);
    const rules = layout.rules.map((rule, at) => {
      const comma = at < layout.rules.length - 1 || layout.hasTrailingCommas ? "," : "";
      const value = layout.isObject ? '{ "grade": "L2", "say": "Do {x}" }' : '"L2"';
      return `4"${rule}": ${value}${comma} ${comment(server)}`;
    });
    lines.push('3"tools": {', ...rules, `3}${layout.hasTrailingCommas ? "," : ""}`);
    const comma = index < layout.servers.length - 1 || layout.hasTrailingCommas ? "," : "";
    lines.push(`2}${comma}`);
  });
  lines.push("1}", "}", `${comment("")}`);
  const text = lines
    .map((line) => {
      const depth = /^[1-4]/.exec(line)?.[0];
      return depth === undefined ? line : layout.indent.repeat(Number(depth)) + line.slice(1);
    })
    .join(layout.eol);
  return {
    text: (layout.hasMark ? "\uFEFF" : "") + text,
    commentsOf: (server) => owners.get(server) ?? [],
    outer: owners.get("") ?? [],
  };
}

const grades = fc.constantFrom(...GRADES);
const tools = fc.constantFrom("read", "write", "list_*", "new_tool");

it("setting grades, keys and rollouts keeps every comment, the rest of the value, and the look of the file", () => {
  fc.assert(
    fc.property(layouts, tools, grades, fc.nat(100), fc.nat(10), (layout, tool, grade, percent, pick) => {
      const { text, commentsOf, outer } = render(layout);
      const server = layout.servers[pick % layout.servers.length] ?? "alpha";
      const edit = inOrder(
        setGrade(server, tool, grade),
        setRollout(server, { percent }),
        setServerKey(server, ["source"], "own"),
      );
      const edited = edit(text);
      for (const comment of [...outer, ...layout.servers.flatMap(commentsOf)])
        expect(edited).toContain(comment);
      const before = parseConfigText(text);
      const after = parseConfigText(edited);
      expect([before.problems, after.problems]).toEqual([[], []]);
      const expected = structuredClone(before.value) as {
        mcpServers: Record<string, Record<string, unknown>>;
      };
      const entry = expected.mcpServers[server] ?? {};
      const rules = entry["tools"] as Record<string, unknown>;
      const old = rules[tool];
      rules[tool] = typeof old === "object" && old !== null ? { ...old, grade } : grade;
      entry["rollout"] = { percent };
      entry["source"] = "own";
      expect(after.value).toEqual(expected);
      expect(edited.startsWith("\uFEFF")).toBe(layout.hasMark);
      if (layout.eol === "\r\n") expect(edited.replaceAll("\r\n", "")).not.toContain("\n");
      else expect(edited).not.toContain("\r");
    }),
    { numRuns: 500 },
  );
});

it("adding and removing a server changes that server alone, and keeps the comments of the others", () => {
  fc.assert(
    fc.property(layouts, fc.nat(10), (layout, pick) => {
      const { text, commentsOf, outer } = render(layout);
      const server = layout.servers[pick % layout.servers.length] ?? "alpha";
      const others = layout.servers.filter((name) => name !== server);
      const steps: readonly (readonly [ConfigEdit, readonly string[]])[] = [
        [addServer("delta", { command: "y", args: ["1"] }), [...layout.servers, "delta"]],
        [removeServer(server), [...others, "delta"]],
        [removeServer("delta"), others],
      ];
      let edited = text;
      for (const [edit, names] of steps) {
        edited = edit(edited);
        const parsed = parseConfigText(edited);
        expect(parsed.problems).toEqual([]);
        expect(Object.keys((parsed.value as { mcpServers: object }).mcpServers).toSorted()).toEqual(
          names.toSorted(),
        );
        for (const comment of [...outer, ...others.flatMap(commentsOf)]) expect(edited).toContain(comment);
        if (!layout.hasTrailingCommas) expect(edited).not.toMatch(/,\s*}/);
      }
    }),
    { numRuns: 500 },
  );
});

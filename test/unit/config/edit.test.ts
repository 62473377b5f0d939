import { describe, expect, it } from "vitest";
import {
  addServer,
  inOrder,
  removeServer,
  setArgument,
  setGrade,
  setRollout,
  setServerKey,
} from "../../../src/config/edit.ts";

const text = `{
  // the allowlist
  "mcpServers": {
    /* code host */
    "github": {
      "url": "https://hub.example/mcp", // fixed
      "tools": {
        "search_*": "L0",
        "merge": { "grade": "L2", "say": "Merge {n}" }, // careful
      },
    },
    "files": { "command": "npx", "args": ["-y", "files@1.0.0", "./safe"] },
  },
}
`;

describe("setGrade", () => {
  it("replaces a grade", () => {
    expect(setGrade("github", "search_*", "L1")(text)).toBe(
      text.replace('"search_*": "L0"', '"search_*": "L1"'),
    );
  });

  it("keeps the other keys of an object rule", () => {
    expect(setGrade("github", "merge", "off")(text)).toBe(text.replace('"grade": "L2"', '"grade": "off"'));
  });

  it("adds a rule, and `tools` where there are none", () => {
    expect(setGrade("github", "close", "L1")(text)).toContain('"close": "L1"');
    const edited = setGrade("files", "read", "L0")(text);
    expect(edited).toContain('"read": "L0"');
    expect(edited).toContain("/* code host */");
    expect(edited).toContain("// careful");
  });

  it("says which server is near where there is none", () => {
    expect(() => setGrade("githib", "x", "L0")(text)).toThrow(
      "there is no server `githib` in the configuration; did you mean `github`?",
    );
  });
});

describe("other edits", () => {
  it("set and take away a rollout", () => {
    const five = setRollout("github", { percent: 5 })(text);
    expect(five).toContain('"rollout"');
    const both = setRollout("github", { principals: ["local"] })(five);
    expect(both.replaceAll(/\s/g, "")).toContain('"rollout":{"percent":5,"principals":["local"]}');
    expect(setRollout("github", null)(both)).not.toContain("rollout");
  });

  it("add and remove servers", () => {
    const added = addServer("orders", { command: "node", args: ["./o.js"] })(text);
    expect(added).toContain('"orders": {');
    expect(() => addServer("files", { command: "x" })(text)).toThrow(/there is a server `files` already/);
    expect(removeServer("files")(text)).not.toContain("npx");
    expect(addServer("a", { command: "x" })("{}")).toBe(
      '{\n  "mcpServers": {\n    "a": {\n      "command": "x"\n    }\n  }\n}',
    );
  });

  it("set one argument and one key", () => {
    expect(setArgument("files", 1, "files@2.0.0")(text)).toBe(text.replace("files@1.0.0", "files@2.0.0"));
    expect(() => setArgument("files", 7, "x")(text)).toThrow(/has no argument 7/);
    expect(setServerKey("files", ["source"], "official")(text)).toContain('"source": "official"');
    expect(() => setServerKey("files", ["command", "x"], 1)(text)).toThrow(/cannot be set/);
  });

  it("come one after another", () => {
    const edited = inOrder(
      setGrade("files", "a", "L0"),
      setGrade("files", "b", "L1"),
      removeServer("github"),
    )(text);
    expect(edited).toContain('"b": "L1"');
    expect(edited).not.toContain("github");
  });

  it("keep tabs, CR LF and a byte order mark", () => {
    const tabs =
      '\uFEFF{\r\n\t"mcpServers": {\r\n\t\t"a": {\r\n\t\t\t"command": "x"\r\n\t\t}\r\n\t}\r\n}\r\n';
    const edited = setGrade("a", "t", "L0")(tabs);
    expect(edited.startsWith("\uFEFF{\r\n\t")).toBe(true);
    expect(edited).toContain('\r\n\t\t\t"tools": {\r\n\t\t\t\t"t": "L0"\r\n\t\t\t}');
    expect(edited.replaceAll("\r\n", "")).not.toContain("\n");
  });
});

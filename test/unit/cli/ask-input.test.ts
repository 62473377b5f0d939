import { describe, expect, it } from "vitest";
import { answerInputAtTerminal } from "../../../src/cli/ask-input.ts";
import { readForm } from "../../../src/inputs/form.ts";
import type { FormQuestion, InputQuestion } from "../../../src/inputs/question.ts";

const source = {
  findings: [],
  server: "paint",
  tool: "paint__mix",
  callId: "c1",
  principal: "local",
  number: 1,
  max: 10,
  warnings: [],
};
const { fields } = readForm({
  type: "object",
  properties: {
    colour: { type: "string", minLength: 2 },
    size: { type: "integer", default: 3 },
    dry: { type: "boolean", default: true },
    finish: {
      type: "string",
      oneOf: [
        { const: "m", title: "Matt" },
        { const: "g", title: "Gloss" },
      ],
    },
    tools: { type: "array", items: { type: "string", enum: ["brush", "roller", "knife"] } },
  },
  required: ["colour"],
});
const form: FormQuestion = {
  ...source,
  kind: "form",
  message: "Which colour?\nBe quick",
  fields,
  problems: [],
};

async function answer(question: InputQuestion, lines: readonly string[]) {
  const said: string[] = [];
  const left = [...lines];
  const asked: string[] = [];
  const callback = answerInputAtTerminal({ say: (text) => void said.push(text) }, async (text) => {
    asked.push(text);
    return left.shift() ?? "";
  });
  const given = await callback(question, new AbortController().signal);
  return { given, said: said.join("\n"), asked: asked.join("\n"), left };
}

describe("a form at the terminal", () => {
  it("says who asks what for, asks by field, and shows everything before it is sent [ELI-01] [ELI-03] [ELI-12]", async () => {
    const { given, said, asked } = await answer(form, ["blue", "", "no", "2", "1,3", "y"]);
    expect(given).toEqual({
      action: "accept",
      content: { colour: "blue", dry: false, finish: "g", tools: ["brush", "knife"] },
      by: "local",
    });
    for (const part of [
      "`paint` asks",
      "paint__mix",
      "call c1",
      "question 1 of at most 10",
      "  | Which colour?",
      "  | Be quick",
    ])
      expect(said).toContain(part);
    expect(asked).toContain("colour (text, at least 2 characters, required): ");
    expect(asked).toContain("size (whole number) [3]: ");
    expect(said).toContain(
      "To be sent to `paint`:\n  colour: blue\n  size: 3\n  dry: no\n  finish: Gloss\n  tools: brush, knife",
    );
  });

  it("can be corrected, field by field and as a whole", async () => {
    const { given, said } = await answer(form, [
      "blue",
      "many",
      "4",
      "perhaps",
      "",
      "9",
      "Matt",
      "2,7",
      "2",
      "e",
      "green",
      "",
      "",
      "-",
      "",
      "y",
    ]);
    expect(given).toMatchObject({
      action: "accept",
      content: { colour: "green", size: 4, finish: null, tools: ["roller"] },
    });
    expect(said).toContain("that is no such number");
  });

  it.each([
    [[":decline"], "decline"],
    [["blue", ":cancel"], "cancel"],
    [["blue", "", "", "", "", "d"], "decline"],
    [["blue", "", "", "", "", ""], "cancel"],
    [["blue", "", "", "", "", "n"], "cancel"],
  ] as const)("%j leaves it by %s, and nothing is sent [ELI-02] [ELI-11]", async (lines, action) => {
    expect((await answer(form, lines)).given).toEqual({ action, by: "local" });
  });

  it("says what was wrong with the last answer", async () => {
    const problems = [{ field: "colour", message: "is too short; expected at least 2 characters" }];
    expect((await answer({ ...form, problems }, [":cancel"])).said).toContain("colour: is too short");
  });
});

describe("an address at the terminal", () => {
  const url: InputQuestion = {
    ...source,
    kind: "url",
    message: "Log in",
    url: "https://xn--pple-43d.com/a",
    host: "xn--pple-43d.com",
    unicodeHost: "аpple.com",
    warnings: ["the host is written with letters outside of ASCII"],
  };

  it("is shown whole, with its host and what is odd, and only a clear yes is consent [ELI-04] [ELI-15] [ELI-18] [ELI-19]", async () => {
    const { given, said } = await answer(url, ["y"]);
    expect(given).toEqual({ action: "accept", by: "local" });
    expect(said).toContain("host:    xn--pple-43d.com   (also written аpple.com)");
    expect(said).toContain("address: https://xn--pple-43d.com/a");
    expect(said).toContain("! the host is written");
    expect((await answer(url, ["d"])).given).toEqual({ action: "decline", by: "local" });
    expect((await answer(url, ["sure"])).given).toEqual({ action: "cancel", by: "local" });
  });
});

import { expect, it } from "vitest";
import { table } from "../../../src/cli/table.ts";

const header = ["TOOL", "GRADE", "ABOUT"];

it("stands in columns, whatever servers write: what is hidden is made visible first, and no line is broken", () => {
  const text = table(
    header,
    [
      ["a\u001b[31m\u202E", "L0", "one\ntwo"],
      ["b", "L2", ""],
    ],
    80,
  );
  expect(text.split("\n")).toEqual([
    "TOOL            GRADE  ABOUT",
    "a␛[31m‹U+202E›  L0     one two",
    "b               L2",
  ]);
});

it("is a paragraph for each row where the terminal is too narrow for its columns", () => {
  const rows = [
    ["files__read_a_rather_long_name", "L0", "reads"],
    ["b", "L2", ""],
  ];
  expect(table(header, rows, 40).split("\n")).toEqual([
    "files__read_a_rather_long_name",
    "  GRADE  L0",
    "  ABOUT  reads",
    "b",
    "  GRADE  L2",
  ]);
  expect(table(header, rows, 60).split("\n")).toHaveLength(3);
});

/** The documents of the repository as readers follow them: decision records by number, links to files that are there. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";

const ROOT = join(import.meta.dirname, "../..");

const documents = [
  ...readdirSync(ROOT),
  ...readdirSync(join(ROOT, "docs"), { recursive: true, encoding: "utf8" }).map((path) => join("docs", path)),
].filter((path) => path.endsWith(".md"));

it("each decision record has a number of its own, without gaps, and its title begins with it", () => {
  const files = readdirSync(join(ROOT, "docs/adr")).sort();
  const numbers = files.map((file) => Number(file.slice(0, 4)));
  expect(numbers, files.join(", ")).toEqual(files.map((_file, at) => at + 1));
  const titles = files.map((file) => readFileSync(join(ROOT, "docs/adr", file), "utf8").split("\n", 1)[0]);
  expect(titles).toEqual(numbers.map((number) => expect.stringMatching(new RegExp(`^# ${number}\\. \\S`))));
});

it("a record is named by its number wherever it is linked", () => {
  const wrong = documents.flatMap((path) =>
    [...readFileSync(join(ROOT, path), "utf8").matchAll(/\[ADR (\d+)\]\([^)]*?(\d{4})-[^)]*\)/g)]
      .filter(([, named, linked]) => Number(named) !== Number(linked))
      .map(([link]) => `${path}: ${link}`),
  );
  expect(wrong).toEqual([]);
});

it("a link to a file leads to one", () => {
  const lost = documents.flatMap((path) =>
    [...readFileSync(join(ROOT, path), "utf8").matchAll(/\]\((?![a-z]+:|#)([^)#\s]+)/g)]
      .filter(([, target = ""]) => !existsSync(join(ROOT, dirname(path), target)))
      .map(([link]) => `${path}: ${link}`),
  );
  expect(lost).toEqual([]);
});

import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/base/json.ts";
import { checkFormAnswer } from "../../../src/inputs/form-answer.ts";
import { readForm } from "../../../src/inputs/form.ts";

const form = (properties: JsonObject, more: JsonObject = {}) =>
  readForm({ type: "object", properties, ...more });
const refused = (schema: JsonObject): string => {
  try {
    readForm(schema);
  } catch (error) {
    return (error as Error).message;
  }
  return "it was read";
};

const ABC = [
  { value: "a", label: "First" },
  { value: "b", label: "Second" },
];

describe("fields", () => {
  it("takes texts, numbers and booleans with their limits and defaults [ELI-08] [ELI-24]", () => {
    const { fields } = form(
      {
        mail: {
          type: "string",
          title: "Your mail",
          format: "email",
          minLength: 3,
          maxLength: 80,
          default: "a@b.cd",
        },
        count: { type: "integer", minimum: 1, maximum: 9, default: 2 },
        share: { type: "number", description: "In percent" },
        agree: { type: "boolean", default: false },
      },
      { required: ["mail"] },
    );
    expect(fields).toEqual([
      {
        kind: "text",
        name: "mail",
        label: "Your mail",
        description: null,
        isRequired: true,
        format: "email",
        minLength: 3,
        maxLength: 80,
        default: "a@b.cd",
      },
      {
        kind: "number",
        name: "count",
        label: "count",
        description: null,
        isRequired: false,
        isInteger: true,
        minimum: 1,
        maximum: 9,
        default: 2,
      },
      {
        kind: "number",
        name: "share",
        label: "share",
        description: "In percent",
        isRequired: false,
        isInteger: false,
        minimum: null,
        maximum: null,
        default: null,
      },
      {
        kind: "boolean",
        name: "agree",
        label: "agree",
        description: null,
        isRequired: false,
        default: false,
      },
    ]);
  });

  it.each<[string, JsonObject, object]>([
    ["untitled, one", { type: "string", enum: ["a", "b"], default: "b" }, { kind: "choice", default: "b" }],
    [
      "titled, one",
      {
        type: "string",
        oneOf: [
          { const: "a", title: "First" },
          { const: "b", title: "Second" },
        ],
      },
      { kind: "choice", choices: ABC },
    ],
    [
      "untitled, several",
      {
        type: "array",
        items: { type: "string", enum: ["a", "b"] },
        minItems: 1,
        maxItems: 2,
        default: ["a"],
      },
      { kind: "choices", minItems: 1, maxItems: 2, default: ["a"] },
    ],
    [
      "titled, several",
      {
        type: "array",
        items: {
          anyOf: [
            { const: "a", title: "First" },
            { const: "b", title: "Second" },
          ],
        },
      },
      { kind: "choices", choices: ABC, default: null },
    ],
    [
      "with enumNames",
      { type: "string", enum: ["a", "b"], enumNames: ["First", "Second"] },
      { kind: "choice", choices: ABC },
    ],
  ])("takes a choice: %s [ELI-23]", (_name, property, expected) => {
    expect(form({ pick: property }).fields).toMatchObject([expected]);
  });

  it("a default that is none of the choices is no default", () => {
    expect(form({ pick: { type: "string", enum: ["a"], default: "z" } }).fields).toMatchObject([
      { default: null },
    ]);
  });

  it("shows what a server wrote without hidden characters, and no link to click [ELI-20]", () => {
    const [field] = form({
      name: {
        type: "string",
        title: "Na\u202eme\nhttps://evil.example/x",
        description: "see www.evil.example",
      },
    }).fields;
    expect(field?.label).toBe("Na‹U+202E›me https[://]evil.example/x");
    expect(field?.description).toBe("see www[.]evil.example");
  });

  it.each<[string, JsonObject]>([
    ["an object in it", { a: { type: "object", properties: {} } }],
    ["a list of objects", { a: { type: "array", items: { type: "object" } } }],
    ["a list of texts", { a: { type: "array", items: { type: "string" } } }],
    ["a reference", { a: { $ref: "#/$defs/x" } }],
    ["several types", { a: { type: ["string", "null"] } }],
    ["no type", { a: {} }],
    ["not even an object", { a: true }],
    ["allOf", { a: { type: "string", allOf: [{ minLength: 1 }] } }],
    ["a choice of numbers", { a: { type: "integer", enum: [1, 2] } }],
    ["a choice of nothing", { a: { type: "string", enum: [] } }],
    ["501 choices", { a: { type: "string", enum: Array.from({ length: 501 }, (_, at) => `c${at}`) } }],
    ["51 fields", Object.fromEntries(Array.from({ length: 51 }, (_, at) => [`f${at}`, { type: "string" }]))],
    ["a name with a hidden character", { "a\u200b": { type: "string" } }],
    ["a name that is a link", { "https://evil.example": { type: "string" } }],
    ["an empty name", { "": { type: "string" } }],
  ])("refuses %s [ELI-24]", (_name, properties) => {
    expect(refused({ type: "object", properties })).not.toBe("it was read");
  });

  it("refuses prototypes as names, and requirements of what is not asked", () => {
    expect(
      refused(JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}}}') as JsonObject),
    ).toContain("cannot be shown");
    expect(refused({ type: "object", properties: {}, required: ["toString"] })).toContain("requires");
    expect(refused({ type: "object", properties: {}, anyOf: [{}] })).toContain("anyOf");
    expect(refused({ type: "string" })).toContain("no object");
  });

  it.each([
    "password",
    "Passwort",
    "apiKey",
    "API_KEY",
    "access_token",
    "otp",
    "cvv",
    "cardNumber",
    "credit-card",
    "раssword",
    "pass\u200bword",
    "𝐩𝐚𝐬𝐬𝐰𝐨𝐫𝐝",
    "one time code",
    "请输入密码",
    "client_secret",
    "token",
    "pin",
    "mot de passe",
  ])("refuses a field named or titled `%s`", (word) => {
    expect(refused({ type: "object", properties: { a: { type: "string", title: word } } })).toContain(
      "secret",
    );
  });

  it.each([
    "max_tokens",
    "pinboard",
    "key",
    "issue key",
    "passenger",
    "tokenizer",
    "author",
    "secretary",
    "city",
  ])("takes a field titled `%s`", (word) => {
    expect(form({ a: { type: "string", title: word } }).fields).toHaveLength(1);
  });

  it("a switch may be about passwords: nobody can type one into it", () => {
    expect(form({ resetPassword: { type: "boolean" } }).fields).toHaveLength(1);
  });
});

describe("answers [ELI-09]", () => {
  const asked = form(
    {
      mail: { type: "string", format: "email" },
      count: { type: "integer", minimum: 1, default: 2 },
      pick: { type: "array", items: { type: "string", enum: ["a", "b"] }, default: ["a"] },
    },
    { required: ["mail"] },
  );

  it("keep the defaults that were shown, unless they are taken out [ELI-08]", () => {
    expect(checkFormAnswer(asked, { mail: "a@b.cd" })).toEqual({
      ok: true,
      content: { mail: "a@b.cd", count: 2, pick: ["a"] },
    });
    expect(checkFormAnswer(asked, { mail: "a@b.cd", count: null, pick: null })).toEqual({
      ok: true,
      content: { mail: "a@b.cd" },
    });
  });

  it.each<[JsonObject, string]>([
    [{ mail: "nobody" }, "mail"],
    [{}, "mail"],
    [{ mail: "a@b.cd", count: 0 }, "count"],
    [{ mail: "a@b.cd", count: "2" }, "count"],
    [{ mail: "a@b.cd", pick: ["c"] }, ""],
    [{ mail: "a@b.cd", other: 1 }, "other"],
  ])("%j is told to be wrong at `%s`", (given, field) => {
    const verdict = checkFormAnswer(asked, given);
    expect(verdict.ok).toBe(false);
    if (!verdict.ok && field !== "")
      expect(verdict.problems.map((problem) => problem.field)).toContain(field);
  });
});

/** docs/configuration.md and schema.json say what the schema says. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv } from "ajv";
import { describe, expect, it } from "vitest";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../src/base/json.ts";
import { compileConfig } from "../../../src/config/compile.ts";
import { createJsonSchema, renderJsonSchema, renderNotYet } from "../../../src/config/json-schema.ts";
import { parseConfigText } from "../../../src/config/jsonc.ts";
import { listSchemaKeys } from "../../../src/config/schema-walk.ts";
import { PortcullisError } from "../../../src/errors.ts";

const root = join(import.meta.dirname, "../../..");
const page = readFileSync(join(root, "docs/configuration.md"), "utf8");
const facts = {
  file: null,
  baseDir: "/repo",
  homeDir: "/home/me",
  platform: "linux" as const,
  stateDir: "/state",
};

/** Compiles, or is refused for nothing but keys that are not implemented yet. */
function expectCompiles(raw: unknown): void {
  try {
    compileConfig(raw, facts);
  } catch (error) {
    if (!(error instanceof PortcullisError) || error.code !== "config_not_yet") throw error;
  }
}

interface Row {
  readonly key: string;
  readonly meaning: string;
  readonly fallback: string;
  readonly example: string;
}

const rows: readonly Row[] = page
  .split("<!-- keys: ")
  .slice(1)
  .flatMap((part) => {
    const prefix = part.slice(0, part.indexOf("-->")).trim();
    const table = part.split("\n").filter((line) => line.startsWith("| `"));
    return table.map((line): Row => {
      const [, key = "", meaning = "", fallback = "", example = ""] = line
        .split(/(?<!\\)\|/)
        .map((cell) => cell.trim());
      return {
        key: prefix + key.replaceAll("`", ""),
        meaning,
        fallback,
        example: example.replaceAll(/^`|`$/g, "").replaceAll("\\|", "|"),
      };
    });
  });

describe("schema.json", () => {
  it("is current", () => {
    expect(readFileSync(join(root, "schema.json"), "utf8"), "run node scripts/schema.mjs").toBe(
      renderJsonSchema(),
    );
  });

  it("is a JSON Schema that takes the examples of the page and refuses unknown keys", () => {
    const validate = new Ajv({ strict: false, validateFormats: false }).compile(createJsonSchema());
    for (const example of listExamples()) {
      expect(validate(example), JSON.stringify(validate.errors)).toBe(true);
    }
    expect(validate({ mcpServers: { a: { comand: "x" } } })).toBe(false);
  });

  it("describes every key", () => {
    expect(listSchemaKeys().filter((key) => key.description.length < 10)).toEqual([]);
  });
});

function listExamples(): readonly JsonValue[] {
  return [...page.matchAll(/```jsonc\n([\s\S]*?)```/g)].map((match) => {
    const parsed = parseConfigText(match[1] ?? "");
    expect(parsed.problems).toEqual([]);
    return parsed.value ?? null;
  });
}

describe("docs/configuration.md", () => {
  it("has every key of the schema once, and no other", () => {
    expect(rows.map((row) => row.key).toSorted()).toEqual(
      listSchemaKeys()
        .map((key) => key.name)
        .toSorted(),
    );
  });

  it("says meaning, default and example of each", () => {
    for (const row of rows)
      expect(row.meaning.length * row.fallback.length * row.example.length, row.key).toBeGreaterThan(0);
  });

  it("names every choice of a key", () => {
    for (const { name, choices } of listSchemaKeys()) {
      const row = rows.find((one) => one.key === name);
      const isGrade = choices.includes("L0");
      const isType = name === "mcpServers.*.type";
      if (isGrade || isType) continue;
      const text = `${row?.meaning ?? ""} ${row?.fallback ?? ""} ${row?.example ?? ""}`;
      for (const choice of choices) expect(text, name).toContain(choice);
    }
  });

  it("has examples that compile", () => {
    expect(listExamples().length).toBeGreaterThan(2);
    for (const example of listExamples()) expectCompiles(example);
  });

  it.each(rows.map((row) => [row.key, row.example] as const))("%s: %s compiles", (key, example) => {
    expectCompiles(placeExample(key, JSON.parse(example) as JsonValue));
  });

  it("lists what is not implemented yet", () => {
    const listed = /<!-- not-yet:start -->\n([\s\S]*?)<!-- not-yet:end -->/.exec(page)?.[1];
    expect(listed, "run node scripts/schema.mjs").toBe(renderNotYet());
  });
});

const REMOTE_KEYS = ["url", "headers", "transport", "auth", "allowPrivateAddresses"];

/** A configuration that is valid around `key`, with `value` there. */
function placeExample(key: string, value: JsonValue): JsonObject {
  const isRemote = REMOTE_KEYS.some((name) => key.startsWith(`mcpServers.*.${name}`)) || value === "http";
  const server: JsonObject = isRemote ? { url: "https://hub.example.com/mcp" } : { command: "x" };
  const config: JsonObject = { mcpServers: { a: server } };
  if (key.startsWith("mcpServers.*.auth.")) server["auth"] = { type: "none" };
  if (key.startsWith("mcpServers.*.auth.identityProvider.")) {
    const identityProvider = { issuer: "https://idp.example.com", clientId: "x", idToken: "${file:x}" };
    server["auth"] = {
      type: "enterprise",
      issuer: "https://auth.example.com",
      clientId: "x",
      identityProvider,
    };
  }
  if (key.startsWith("mcpServers.*.tools.*.")) {
    const guard = {
      sql: { argument: "a" },
      path: { argument: "a", roots: ["."] },
      url: { argument: "a", hosts: ["x"] },
      number: { argument: "a", max: 1_000 },
      match: { argument: "a", pattern: "a" },
    };
    const kind = /\.guard\.(\w+)\./.exec(key)?.[1];
    server["tools"] = {
      a: {
        ...(key.includes(".when.")
          ? { when: [{ arguments: { "*": { isPresent: true } }, grade: "L3" }] }
          : {}),
        ...(key.includes(".preview.") ? { preview: { tool: "x" } } : {}),
        ...(key.includes(".undo.") ? { undo: { tool: "x" } } : {}),
        ...(kind !== undefined && Object.hasOwn(guard, kind)
          ? { guard: { [kind]: guard[kind as keyof typeof guard] } }
          : {}),
      },
    };
  }
  const path = key.split(".").map((part) => (part === "*" && !key.includes("arguments.*") ? "a" : part));
  // The name of an argument stays `*`; the names of server and tool do not.
  if (key.includes("arguments.*")) for (const index of [1, 3]) path[index] = "a";
  setAt(config, path, value);
  return config;
}

function setAt(target: JsonObject, path: readonly string[], value: JsonValue): void {
  const [key = "", ...rest] = path;
  if (rest.length === 0) {
    target[key] = value;
    return;
  }
  const inner = target[key];
  const object = Array.isArray(inner) ? inner[0] : inner;
  if (isJsonObject(object)) setAt(object, rest, value);
  else {
    const made: JsonObject = {};
    target[key] = made;
    setAt(made, rest, value);
  }
}

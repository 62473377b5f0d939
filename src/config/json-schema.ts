/** The JSON Schema of the configuration for editors, made from the schema that is enforced. */
import * as z from "zod";
import type { JsonObject } from "../base/json.ts";
import { configSchema } from "./schema.ts";
import { referenceSupport, support } from "./support.ts";

/** Draft-07, which editors understand; comments and trailing commas are allowed in the file. */
export function createJsonSchema(): JsonObject {
  const schema = z.toJSONSchema(configSchema, {
    target: "draft-7",
    io: "input",
    cycles: "ref",
    unrepresentable: "any",
  });
  return {
    ...(JSON.parse(JSON.stringify(schema)) as JsonObject),
    title: "Portcullis configuration",
    description: "The MCP servers that an agent may use, and the rules for them. See docs/configuration.md.",
    allowComments: true,
    allowTrailingCommas: true,
  };
}

/** Text of `schema.json`. */
export function renderJsonSchema(): string {
  return `${JSON.stringify(createJsonSchema(), null, 2)}\n`;
}

/** The keys and values that this version refuses, as lines of Markdown for the documentation. */
export function renderNotYet(): string {
  const listOf = (table: Readonly<Record<string, string>>): string[] =>
    Object.keys(table).filter((name) => table[name] === "not-yet");
  const names = [
    ...listOf(support).map((name) => `- \`${name.replace("=", ": ")}\``),
    ...listOf(referenceSupport).map((scheme) => `- \`\${${scheme}:…}\``),
  ];
  return names.length === 0 ? "Nothing: every key above is implemented.\n" : `${names.join("\n")}\n`;
}

/** Real tool definitions of published servers: none is held without a good reason, and every provider's rules hold for all. */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { readClaim } from "../../src/policy/annotations.ts";
import { exposeName } from "../../src/registry/naming.ts";
import { estimateTokens, offerByThreshold } from "../../src/registry/offer.ts";
import {
  offered,
  toAiSdkTools,
  toAnthropicTools,
  toGeminiTools,
  toMcpTool,
  toOpenAiChatTools,
  toOpenAiResponsesTools,
  type OfferedTool,
} from "../../src/registry/providers.ts";
import type { RegisteredTool } from "../../src/registry/registry.ts";
import { anthropicProblems, geminiProblems, openAiProblems } from "../support/provider-rules.ts";
import { catalogOf } from "../support/tools.ts";

interface Collected {
  readonly package: string;
  readonly version: string;
  readonly licence: string;
  readonly tools: readonly unknown[];
}

const folder = fileURLToPath(new URL("../corpus/tools/", import.meta.url));
const files = readdirSync(folder).filter((name) => name.endsWith(".json"));
const collected = files.map((name) => JSON.parse(readFileSync(folder + name, "utf8")) as Collected);

const registered: RegisteredTool[] = [];
const held: string[] = [];
const alarms: string[] = [];
let tools: readonly OfferedTool[] = [];

beforeAll(() => {
  for (const [at, name] of files.entries()) {
    const server = name.replace(/\.json$/, "").slice(0, 30);
    const catalog = catalogOf(server, collected[at]?.tools ?? [], {
      annotationFaults: (annotations) => readClaim(annotations).faults,
    });
    held.push(...catalog.quarantined.map((item) => `${server} ${item.name}: ${item.quarantine.reason}`));
    for (const entry of catalog.tools) {
      const high = entry.findings.filter(({ severity }) => severity === "high");
      alarms.push(...high.map(({ rule, where }) => `${server} ${entry.name}: ${rule} at ${where}`));
      registered.push({
        entry,
        exposedName: exposeName(server, entry.name),
        key: catalog.key,
        pinState: "new",
        isBaseline: true,
      });
    }
  }
  tools = registered.map(offered);
});

describe("the corpus", () => {
  it("has at least 500 definitions, each file with package, version and a permissive licence", () => {
    expect(collected.flatMap((file) => file.tools).length).toBeGreaterThanOrEqual(500);
    for (const file of collected) {
      expect(file.package).not.toBe("");
      expect(file.version).toMatch(/^\d/);
      expect(["MIT", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC"]).toContain(file.licence);
    }
  });

  it("nothing is held for its form or for what it says", () => {
    expect(held).toEqual([]);
    expect(alarms).toEqual([]);
  });

  it("exposed names are unique", () => {
    expect(new Set(registered.map(({ exposedName }) => exposedName)).size).toBe(registered.length);
  });
});

describe("every provider's documented rules hold for all of them", () => {
  it("Anthropic", () => {
    expect(toAnthropicTools(tools).flatMap(({ definition }) => anthropicProblems(definition))).toEqual([]);
  });
  it("OpenAI, not strict and strict, in both APIs", () => {
    for (const strict of [false, true]) {
      const responses = toOpenAiResponsesTools(tools, { strict });
      expect(responses.flatMap(({ definition }) => openAiProblems(definition))).toEqual([]);
      const chat = toOpenAiChatTools(tools, { strict });
      expect(chat.flatMap(({ definition }) => openAiProblems(definition.function))).toEqual([]);
      const strictOnes = responses.filter(({ definition }) => definition.strict);
      expect(strictOnes.length > 0).toBe(strict);
    }
  });
  it("Gemini", () => {
    expect(toGeminiTools(tools).flatMap(({ definition }) => geminiProblems(definition))).toEqual([]);
  });
  it("AI SDK and MCP", () => {
    expect(Object.keys(toAiSdkTools(tools))).toHaveLength(tools.length);
    for (const tool of registered) expect(toMcpTool(tool).inputSchema["type"]).toBe("object");
  });
});

it("the tools that find others need less than 5 % of the tokens of all", () => {
  const offer = offerByThreshold(tools, { mode: "search" });
  expect(offer.wholeTokens).toBe(tools.reduce((sum, tool) => sum + estimateTokens(tool), 0));
  expect(offer.tokens / offer.wholeTokens).toBeLessThan(0.05);
});

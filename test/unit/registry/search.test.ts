import { describe, expect, it } from "vitest";
import {
  estimateTokens,
  META_TOOL_NAMES,
  offerByThreshold,
  type OfferOptions,
} from "../../../src/registry/offer.ts";
import { isReservedName } from "../../../src/registry/naming.ts";
import { toAnthropicTools } from "../../../src/registry/providers.ts";
import { createToolSearch, toolSearch, wordsOf, type SearchableTool } from "../../../src/registry/search.ts";
import { canMeasureStalls, longestSliceMs, longestStepMs, MAX_STALL_MS } from "../../support/stall.ts";

function searchable(
  server: string,
  name: string,
  description: string,
  properties: Record<string, unknown> = {},
): SearchableTool {
  return {
    exposedName: `${server}__${name}`,
    server,
    name,
    title: null,
    description,
    inputSchema: { type: "object", properties: properties as never },
  };
}

const tools = [
  searchable("github", "create_issue", "Opens a new issue in a repository"),
  searchable("github", "create_pull_request", "Proposes changes to a repository"),
  searchable("github", "list_issues", "Lists the issues of a repository", {
    labels: { type: "array", description: "Only with these labels" },
  }),
  searchable("drive", "uploadDocument", "Puts a file into a folder"),
  searchable("drive", "search_files", "Finds files by name"),
  searchable("mail", "send", "Sends a mail to somebody", { recipient: {} }),
  searchable("weather", "get_forecast", "查询城市的天气预报"),
];

describe("search", () => {
  const search = createToolSearch(tools);
  const names = (query: string, options = {}): readonly string[] =>
    search.find(query, options).map((hit) => hit.item.exposedName);

  it.each([
    ["create issue", "github__create_issue"],
    ["open a new issue", "github__create_issue"],
    ["pull requests", "github__create_pull_request"],
    ["uplaod docment", "drive__uploadDocument"],
    ["upload", "drive__uploadDocument"],
    ["labels", "github__list_issues"],
    ["recipient", "mail__send"],
    ["天气", "weather__get_forecast"],
    ["forecasts", "weather__get_forecast"],
    ["files in drive", "drive__search_files"],
  ])("%s: finds %s first [CBP-05]", (query, expected) => {
    expect(names(query)[0]).toBe(expected);
  });

  it("keeps to one server and to the limit, and finds nothing for nonsense", () => {
    expect(names("issue file mail", { server: "drive" })).toEqual([
      "drive__search_files",
      "drive__uploadDocument",
    ]);
    expect(names("repository", { limit: 2 })).toHaveLength(2);
    expect(names("qqqq zzzz")).toEqual([]);
    expect(names("")).toEqual([]);
  });

  it("reads names in every style as the same words", () => {
    expect(wordsOf("createPullRequest")).toEqual(wordsOf("create_pull_request"));
    expect(wordsOf("create pull requests")).toEqual(wordsOf("create-pull-request"));
    expect(wordsOf("HTTPServer")).toEqual(wordsOf("http server"));
  });

  it.skipIf(!canMeasureStalls)(
    "never holds the event loop over 50 ms: 2,000 tools of many words, a hostile question",
    () => {
      // A word of its own at every place.
      const words = (at: number): string =>
        Array.from({ length: 500 }, (_, word) => `verb${at * 500 + word}`).join(" ");
      const many = Array.from({ length: 2_000 }, (_, at) =>
        searchable(`s${at % 50}`, `tool_${at}`, words(at)),
      );
      const { result: large, longestMs } = longestSliceMs(() => toolSearch(many));
      expect(longestMs).toBeLessThan(MAX_STALL_MS);
      const question = Array.from({ length: 40 }, (_, at) => `vreb${at}x7`).join(" ");
      expect(longestStepMs(() => [() => large.find(question)])).toBeLessThan(MAX_STALL_MS);
    },
  );
});

describe("offer", () => {
  const offered = Array.from({ length: 200 }, (_, at) => ({
    exposedName: `s__tool_${at}`,
    description: "Does something that takes a while to say in words, as descriptions do.",
    inputSchema: {
      type: "object",
      properties: { value: { type: "string", description: "What to do it with" } },
    },
  }));

  it.each<[string, OfferOptions, "whole" | "search"]>([
    ["beyond the threshold", {}, "search"],
    ["within it", { windowTokens: 1_000_000 }, "whole"],
    ["another share", { share: 0.5 }, "whole"],
    ["always whole", { mode: "whole" }, "whole"],
    ["always search", { mode: "search", windowTokens: 1e9 }, "search"],
  ])("%s [CBP-01]", (_what, options, kind) => {
    expect(offerByThreshold(offered, options).kind).toBe(kind);
  });

  it("needs less than 5 % of the tokens of the whole catalog, under names of its own", () => {
    const offer = offerByThreshold(offered);
    expect(offer.tokens / offer.wholeTokens).toBeLessThan(0.05);
    expect(offer.tools.map((tool) => tool.exposedName)).toEqual(Object.values(META_TOOL_NAMES));
    expect(offer.tools.every((tool) => isReservedName(tool.exposedName))).toBe(true);
  });

  it("is the same to the byte whatever the catalog holds, so that a provider goes on with what it has cached [CBP-08]", () => {
    const [one, other] = [offered, [...offered.slice(5), ...offered.slice(0, 3)]].map((tools) =>
      JSON.stringify(toAnthropicTools(offerByThreshold(tools).tools)),
    );
    expect(one).toBe(other);
  });

  it("offers everything that there is where that is little", () => {
    const few = offered.slice(0, 3);
    const offer = offerByThreshold(few);
    expect(offer.tools).toBe(few);
    expect(offer.tokens).toBe(few.reduce((sum, tool) => sum + estimateTokens(tool), 0));
  });
});

import { describe, expect, it } from "vitest";
import { cleanPage } from "../../../src/wire/list.ts";

const context = (room = 100) => ({ seen: new Set<string>(), room });
const tool = (name: string, more: object = {}): object => ({
  name,
  inputSchema: { type: "object" },
  ...more,
});

describe("cleanPage", () => {
  it("keeps good items as they came, unknown members included", () => {
    const item = tool("a", { title: "A", "x-vendor": [1], annotations: { readOnlyHint: true } });
    const page = cleanPage("tools", { tools: [item], nextCursor: "" } as never, context());
    expect(page).toEqual({ items: [item], raw: [item], findings: [], nextCursor: "" });
  });

  it("has no cursor at the end, and none that is no text [PAG-02]", () => {
    expect(cleanPage("tools", { tools: [] }, context())).not.toHaveProperty("nextCursor");
    expect(cleanPage("tools", { tools: [], nextCursor: 3 }, context())).not.toHaveProperty("nextCursor");
    expect(cleanPage("tools", { tools: [], nextCursor: null }, context())).not.toHaveProperty("nextCursor");
  });

  it("is undefined for what is no list of this kind", () => {
    expect(cleanPage("tools", { prompts: [] }, context())).toBeUndefined();
    expect(cleanPage("tools", { tools: {} }, context())).toBeUndefined();
  });

  it("leaves out bad items, names them, and keeps the others", () => {
    const page = cleanPage(
      "tools",
      {
        tools: [
          null,
          "x",
          {},
          { name: "no-schema" },
          { name: 3 },
          tool("good"),
          { name: "bad", inputSchema: [] },
        ],
      } as never,
      context(),
    );
    expect(page?.items.map((item) => item.name)).toEqual(["good"]);
    expect(page?.findings.map((finding) => [finding.rule, finding.where])).toEqual([
      ["catalog.bad-item", "tools/0"],
      ["catalog.bad-item", "tools/1"],
      ["catalog.bad-item", "tools/2"],
      ["catalog.bad-item", "tools/3"],
      ["catalog.bad-item", "tools/4"],
      ["catalog.bad-item", "tools/6"],
    ]);
  });

  it("hands on what it left out as it came, and stops at a list that is nothing but rubbish", () => {
    const page = cleanPage("tools", { tools: [null, tool("a"), { name: "b" }] } as never, context());
    expect(page?.raw).toEqual([null, tool("a"), { name: "b" }]);
    const rubbish = cleanPage("tools", { tools: Array.from({ length: 5_000 }, () => 1) }, context());
    expect(rubbish?.raw).toHaveLength(2_000);
    expect(rubbish?.findings).toContainEqual(expect.objectContaining({ rule: "catalog.too-many" }));
    const full = cleanPage("tools", { tools: [tool("a"), tool("b"), tool("c")] } as never, context(2));
    expect(full?.raw).toHaveLength(2);
  });

  it("drops members of the wrong type and keeps the item", () => {
    const page = cleanPage(
      "tools",
      { tools: [tool("a", { description: 3, annotations: "x", icons: [{}], _meta: null })] } as never,
      context(),
    );
    expect(page?.items).toEqual([tool("a")]);
    expect(page?.findings.map((finding) => finding.rule)).toEqual(
      Array.from({ length: 4 }, () => "catalog.bad-member"),
    );
  });

  it("takes the first of two with one name, across pages too", () => {
    const shared = context();
    expect(
      cleanPage("tools", { tools: [tool("a", { title: "first" }), tool("a")] } as never, shared)?.items,
    ).toHaveLength(1);
    const second = cleanPage("tools", { tools: [tool("a"), tool("b")] } as never, shared);
    expect(second?.items.map((item) => item.name)).toEqual(["b"]);
    expect(second?.findings[0]).toMatchObject({ rule: "catalog.duplicate-name", where: "tools/0" });
  });

  it("stops where there is no more room", () => {
    const page = cleanPage(
      "tools",
      { tools: Array.from({ length: 10 }, (_, index) => tool(`t${index}`)) } as never,
      context(3),
    );
    expect(page?.items).toHaveLength(3);
    expect(page?.findings).toMatchObject([{ rule: "catalog.too-many" }]);
  });

  it("bounds its findings however many items are bad", () => {
    const page = cleanPage("tools", { tools: Array.from({ length: 1_000 }, () => null) }, context());
    expect(page?.findings.length).toBeLessThanOrEqual(51);
    expect(page?.findings.at(-1)).toMatchObject({ rule: "catalog.more-findings" });
  });

  it("leaves out giants", () => {
    const page = cleanPage(
      "tools",
      {
        tools: [tool("big", { description: "x".repeat(600_000) }), tool("y".repeat(3_000)), tool("ok")],
      } as never,
      context(),
    );
    expect(page?.items.map((item) => item.name)).toEqual(["ok"]);
  });

  it("never shows a hidden character of a name in a finding", () => {
    const page = cleanPage("tools", { tools: [tool("a\u202e\u001b[31m", { title: 1 })] } as never, context());
    expect(page?.findings[0]?.message).not.toMatch(/[\u0000-\u001f\u202e]/);
  });

  it("names a resource by its address where it has no name", () => {
    expect(cleanPage("resources", { resources: [{ uri: "file:///a" }] }, context())?.items).toEqual([
      { uri: "file:///a", name: "file:///a" },
    ]);
    expect(
      cleanPage(
        "resourceTemplates",
        { resourceTemplates: [{ uriTemplate: "x://{a}", name: "t" }] },
        context(),
      )?.items,
    ).toEqual([{ uriTemplate: "x://{a}", name: "t" }]);
  });

  it("drops malformed arguments of a prompt", () => {
    expect(cleanPage("prompts", { prompts: [{ name: "p", arguments: [{}] }] }, context())?.items).toEqual([
      { name: "p" },
    ]);
  });

  it("treats __proto__ as a name like any other", () => {
    expect(
      cleanPage("tools", { tools: [tool("__proto__"), tool("constructor")] } as never, context())?.items,
    ).toHaveLength(2);
  });
});

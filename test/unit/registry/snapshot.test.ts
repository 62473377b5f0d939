import { describe, expect, it } from "vitest";
import { buildCatalog } from "../../../src/registry/catalog.ts";
import { restoreCatalog, snapshotCatalog } from "../../../src/registry/snapshot.ts";
import { tool } from "../../support/tools.ts";

const key = { server: "files", credential: "ann" } as const;
const catalog = buildCatalog({
  key,
  receivedAt: 5,
  tools: [tool("a"), tool("__proto__"), tool("bad", { inputSchema: null })],
  resources: [{ uri: "file:///a", name: "a" }],
  templates: [{ uriTemplate: "file:///{p}", name: "t" }],
  prompts: [{ name: "p" }],
  instructions: "Be kind.\u202e",
  partial: ["prompts"],
});

describe("snapshot of a catalog", () => {
  it("comes back the same through JSON, quarantined items too", () => {
    const stored = JSON.parse(JSON.stringify(snapshotCatalog(catalog))) as unknown;
    const restored = restoreCatalog(stored, key, {});
    expect(restored).toMatchObject({
      key,
      receivedAt: 5,
      partial: ["prompts"],
      instructions: catalog.instructions,
    });
    expect(restored?.tools.map((entry) => [entry.name, entry.pin])).toEqual(
      catalog.tools.map((entry) => [entry.name, entry.pin]),
    );
    expect(restored?.quarantined.map((item) => item.quarantine)).toEqual(
      catalog.quarantined.map((item) => item.quarantine),
    );
    expect(restored).toMatchObject({
      resources: [{ uri: "file:///a" }],
      templates: [{ uri: "file:///{p}" }],
      prompts: [{ name: "p" }],
    });
  });

  it.each([
    ["another version", { ...snapshotCatalog(catalog), version: 0 }],
    ["another server", { ...snapshotCatalog(catalog), server: "mail" }],
    ["another credential [CCH-10]", { ...snapshotCatalog(catalog), credential: "bob" }],
    ["no object", "catalog"],
  ])("%s is none", (_what, stored) => {
    expect(restoreCatalog(stored, key, {})).toBeUndefined();
  });

  it("survives what was stored wrong", () => {
    expect(restoreCatalog({ version: 1, ...key, tools: "x", prompts: [null] }, key, {})).toMatchObject({
      tools: [],
      receivedAt: 0,
    });
  });
});

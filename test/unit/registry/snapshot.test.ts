import { describe, expect, it } from "vitest";
import { buildCatalog } from "../../../src/registry/catalog.ts";
import type { Catalog } from "../../../src/registry/entry.ts";
import { readSnapshot, snapshotCatalog } from "../../../src/registry/snapshot.ts";
import { tool } from "../../support/tools.ts";

const key = { server: "files", credential: "ann" } as const;
const catalog = buildCatalog({
  key,
  receivedAt: 5,
  tools: [
    7,
    tool("a"),
    tool("__proto__"),
    tool("bad", { inputSchema: null }),
    tool("a"),
    { description: "no name" },
    tool("giant", { description: "x".repeat(300_000) }),
  ],
  resources: [{ uri: "file:///a", name: "a" }],
  templates: [{ uriTemplate: "file:///{p}", name: "t" }],
  prompts: [{ name: "p" }],
  instructions: "Be kind.\u202e",
  partial: ["prompts"],
});

function restoreCatalog(value: unknown): Catalog | undefined {
  const input = readSnapshot(value, key);
  return input === undefined ? undefined : buildCatalog(input);
}

describe("snapshot of a catalog", () => {
  it("comes back the same through JSON, quarantined items too", () => {
    const stored = JSON.parse(JSON.stringify(snapshotCatalog(catalog))) as unknown;
    const restored = restoreCatalog(stored);
    expect(restored).toMatchObject({
      key,
      receivedAt: 5,
      partial: ["prompts"],
      instructions: catalog.instructions,
    });
    expect(restored?.tools.map((entry) => [entry.name, entry.pin])).toEqual(
      catalog.tools.map((entry) => [entry.name, entry.pin]),
    );
    const told = (held: Catalog | undefined): unknown =>
      held?.quarantined
        .map(({ name, quarantine }) => `${name} ${quarantine.code} ${quarantine.reason}`)
        .sort();
    expect(told(restored)).toEqual(told(catalog));
    expect(catalog.quarantined).toHaveLength(5);
    // What has no name is known by its place.
    expect(restored?.quarantined.filter(({ name }) => name === null).map(({ index }) => index)).toEqual([
      0, 5,
    ]);
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
    expect(restoreCatalog(stored)).toBeUndefined();
  });

  it("survives what was stored wrong", () => {
    expect(
      restoreCatalog({ version: 1, ...key, tools: "x", prompts: [null], told: [3, { kind: "x" }] }),
    ).toMatchObject({
      tools: [],
      receivedAt: 0,
    });
  });
});

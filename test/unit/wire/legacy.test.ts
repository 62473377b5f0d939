import { describe, expect, it } from "vitest";
import {
  allowsBatch,
  chooseLegacyRevision,
  initializeParams,
  newestLegacy,
  readInitializeParams,
  readInitializeResult,
} from "../../../src/wire/legacy.ts";

const clientInfo = { name: "n", version: "1" };

describe("initialize", () => {
  it("is read by a server as it was sent [VER-16] [VER-19]", () => {
    const params = initializeParams({ revision: "2025-11-25", capabilities: { roots: {} }, clientInfo });
    expect(readInitializeParams(params)).toEqual({
      protocolVersion: "2025-11-25",
      capabilities: { roots: {} },
      clientInfo,
    });
    expect(readInitializeParams(undefined)).toBeUndefined();
    expect(readInitializeParams({ protocolVersion: "2025-11-25" })).toBeUndefined();
  });

  it("agrees on every legacy revision and on nothing else", () => {
    const result = {
      protocolVersion: "2024-11-05",
      capabilities: { tools: {} },
      serverInfo: { name: "s", version: "2" },
      instructions: "x",
    };
    expect(readInitializeResult(result)).toEqual({ kind: "agreed", revision: "2024-11-05", result });
    expect(readInitializeResult({ protocolVersion: "2026-07-28" })).toEqual({
      kind: "mismatch",
      version: "2026-07-28",
    });
    expect(readInitializeResult({ protocolVersion: "1999-01-01" })).toEqual({
      kind: "mismatch",
      version: "1999-01-01",
    });
    expect(readInitializeResult({})).toEqual({ kind: "mismatch", version: null });
    expect(readInitializeResult({ protocolVersion: 3 })).toEqual({ kind: "mismatch", version: null });
  });

  it("is answered with the version asked for, or our newest", () => {
    expect(chooseLegacyRevision("2025-03-26")).toBe("2025-03-26");
    expect(chooseLegacyRevision("2026-07-28")).toBe("2025-11-25");
    expect(newestLegacy(["2024-11-05", "2025-06-18", "x"])).toBe("2025-06-18");
    expect(newestLegacy(["x"])).toBeUndefined();
  });

  it("allows batches in one revision only", () => {
    expect(["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"].filter(allowsBatch)).toEqual([
      "2025-03-26",
    ]);
  });
});

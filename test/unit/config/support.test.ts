import { describe, expect, it } from "vitest";
import { findNotYet, referenceSupport, support } from "../../../src/config/support.ts";
import { listSchemaKeys } from "../../../src/config/schema-walk.ts";

const messages = (raw: unknown, table = support, references = referenceSupport): string[] =>
  findNotYet(raw, table, references).map((problem) => problem.message);

describe("the table of what is implemented", () => {
  it("has a line for every key of the schema, and no other", () => {
    const keys = listSchemaKeys().map((key) => key.name);
    const lines = Object.keys(support).filter((name) => !name.includes("="));
    expect(lines.toSorted()).toEqual(keys.toSorted());
  });

  it("speaks of values only where the key takes them", () => {
    const keys = new Map(listSchemaKeys().map((key) => [key.name, key.choices]));
    for (const line of Object.keys(support).filter((name) => name.includes("="))) {
      const [name, value] = line.split("=");
      if (name === "store") continue;
      expect(keys.get(name ?? "")).toContain(value);
    }
  });
});

describe("findNotYet", () => {
  const table = {
    ...Object.fromEntries(Object.keys(support).map((name) => [name, "implemented" as const])),
    "mcpServers.*.sandbox": "not-yet",
    "mcpServers.*.tools.*.guard.sql": "not-yet",
    "mcpServers.*.auth.type=oauth": "not-yet",
    "store=postgresql": "not-yet",
  } as const;

  it("names each key once, and nothing inside it", () => {
    const raw = {
      mcpServers: {
        x: {
          command: "x",
          sandbox: { read: ["."] },
          tools: { "q*": { guard: { sql: { argument: "sql" } } } },
        },
      },
    };
    expect(messages(raw, table)).toEqual([
      "`mcpServers.x.sandbox` is not implemented yet: remove it",
      '`mcpServers.x.tools["q*"].guard.sql` is not implemented yet: remove it',
    ]);
  });

  it("tells values of one key apart", () => {
    const raw = {
      mcpServers: {
        x: { url: "https://x", auth: { type: "oauth" } },
        y: { url: "https://y", auth: { type: "none" } },
      },
    };
    expect(messages(raw, table)).toEqual([
      '`mcpServers.x.auth.type = "oauth"` is not implemented yet: remove it',
    ]);
    expect(messages({ store: "/var/lib/x" }, table)).toEqual([]);
    expect(messages({ store: "postgresql://h/db" }, table)).toHaveLength(1);
  });

  it("refuses a key that the table forgot", () => {
    expect(messages({ log: {} }, {})).toEqual(["`log` is not implemented yet: remove it"]);
  });

  it("finds references that are not implemented, in texts that are read for them only", () => {
    const raw = {
      mcpServers: {
        x: {
          command: "x",
          env: { A: "${keychain:a}", B: "${env:B}" },
          tools: { t: { grade: "L2", say: "${keychain:a}" } },
        },
      },
    };
    expect(messages(raw, table, { env: "implemented", file: "implemented", keychain: "not-yet" })).toEqual([
      "`${keychain:a}` is not implemented yet: write `${env:NAME}` or `${file:PATH}`",
    ]);
  });
});

import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../../src/base/json.ts";
import { compileConfig } from "../../../src/config/compile.ts";
import {
  carryTrust,
  describeServers,
  describeTrust,
  ensureTrusted,
  evaluateTrust,
  recordTrust,
  type TrustDocuments,
  type TrustQuestion,
} from "../../../src/config/trust.ts";
import type { Documents } from "../../../src/store/store.ts";

const facts = {
  file: "/r/portcullis.json",
  baseDir: "/r",
  homeDir: "/h",
  platform: "linux" as const,
  stateDir: "/s",
};
const config = compileConfig(
  {
    mcpServers: {
      files: {
        command: "npx",
        args: ["-y", "a@1.0.0", "x\u200by", "\u001b[2K"],
        env: { NODE_OPTIONS: "--require ./evil.js" },
      },
      hub: { url: "https://hub.example/mcp", headers: { Authorization: "Bearer ${env:T}" }, disabled: true },
    },
  },
  facts,
);
const needed = { file: "/r/portcullis.json", digest: "d1", stateDir: "/s" };

/** Documents with versions, as the store port describes them. */
function createDocuments(): TrustDocuments {
  const kept = new Map<string, { value: JsonValue; version: number }>();
  return {
    get: (_collection, key) => Promise.resolve(kept.get(key)),
    put(_collection, key, value, options) {
      const version = kept.get(key)?.version ?? 0;
      if (options?.ifVersion !== undefined && options.ifVersion !== version)
        return Promise.resolve(undefined);
      kept.set(key, { value, version: version + 1 });
      return Promise.resolve({ version: version + 1 });
    },
  };
}

const nowMs = (): number => 1_000;

describe("ensureTrusted", () => {
  it("fits the store port", () => {
    const asTrust = (documents: Documents): TrustDocuments => documents;
    expect(asTrust).toBeTypeOf("function");
  });

  it("asks once, shows what would run, and remembers the answer", async () => {
    const documents = createDocuments();
    const questions: TrustQuestion[] = [];
    const ask = (question: TrustQuestion): Promise<boolean> => {
      questions.push(question);
      return Promise.resolve(true);
    };
    await ensureTrusted(needed, config, { documents, ask, nowMs });
    await ensureTrusted(needed, config, { documents, ask, nowMs });
    await ensureTrusted(needed, config, { documents, ask: null, nowMs });
    expect(questions).toEqual([{ file: needed.file, verdict: "new", servers: describeServers(config) }]);
  });

  it("asks again after a change, also when it is changed back", async () => {
    const documents = createDocuments();
    const verdicts: string[] = [];
    const ask = (question: TrustQuestion): Promise<boolean> => {
      verdicts.push(question.verdict);
      return Promise.resolve(true);
    };
    for (const digest of ["d1", "d2", "d1"])
      await ensureTrusted({ ...needed, digest }, config, { documents, ask, nowMs });
    expect(verdicts).toEqual(["new", "changed", "changed"]);
  });

  it("refuses without a terminal, and after a no, with exit code 3 and nothing stored [SEC-15]", async () => {
    const documents = createDocuments();
    const refusal = {
      code: "config_untrusted",
      message: expect.stringContaining("portcullis trust") as string,
    };
    await expect(ensureTrusted(needed, config, { documents, ask: null, nowMs })).rejects.toMatchObject(
      refusal,
    );
    await expect(
      ensureTrusted(needed, config, { documents, ask: () => Promise.resolve(false), nowMs }),
    ).rejects.toMatchObject(refusal);
    await recordTrust(needed, { documents, by: "person", nowMs: 1 });
    await expect(
      ensureTrusted({ ...needed, digest: "d2" }, config, { documents, ask: null, nowMs }),
    ).rejects.toThrow(/has changed since/);
  });

  it("binds trust to the place: the same content elsewhere is new", async () => {
    const documents = createDocuments();
    await recordTrust(needed, { documents, by: "person", nowMs: 1 });
    const elsewhere = { ...needed, file: "/other/portcullis.json" };
    await expect(ensureTrusted(elsewhere, config, { documents, ask: null, nowMs })).rejects.toThrow(
      /not trusted yet/,
    );
  });
});

describe("carryTrust", () => {
  it("moves trust over an edit of Portcullis itself, if the file was trusted", async () => {
    const documents = createDocuments();
    const edit = { file: needed.file, before: "d1", after: "d2" };
    expect(await carryTrust(edit, { documents, nowMs: 2 })).toBe(false);
    await recordTrust(needed, { documents, by: "person", nowMs: 1 });
    expect(await carryTrust({ ...edit, before: "other" }, { documents, nowMs: 2 })).toBe(false);
    expect(await carryTrust(edit, { documents, nowMs: 2 })).toBe(true);
    await ensureTrusted({ ...needed, digest: "d2" }, config, { documents, ask: null, nowMs });
    await expect(ensureTrusted(needed, config, { documents, ask: null, nowMs })).rejects.toThrow();
  });
});

describe("evaluateTrust", () => {
  it.each([
    [undefined, "new"],
    ["text", "new"],
    [{ file: "/else", digest: "d1" }, "new"],
    [{ file: "/r/portcullis.json", digest: "d1" }, "trusted"],
    [{ file: "/r/portcullis.json", digest: "d2" }, "changed"],
    [{ file: "/r/portcullis.json" }, "changed"],
  ] as const)("%j is %s", (stored, verdict) => {
    expect(evaluateTrust(stored, needed)).toBe(verdict);
  });
});

describe("describeServers", () => {
  it("shows the exact command, arguments and variables, nothing cut, nothing hidden, and what to look at twice [SEC-14] [SEC-16]", () => {
    expect(describeServers(config)).toEqual([
      'files: runs "npx" "-y" "a@1.0.0" "x\\u{200b}y" "\\u001b[2K" in "/r" with variables NODE_OPTIONS="--require ./evil.js"\n    look twice: puts other code into its program (`NODE_OPTIONS`)',
      'hub (disabled): connects to "https://hub.example/mcp" with headers Authorization="Bearer ${env:T}"',
    ]);
  });

  it("is said to be code that runs with the rights of whoever agrees [SEC-15]", () => {
    const said = describeTrust(describeServers(config));
    expect(said).toMatch(/code that runs on this machine with all your rights: dangerous/);
    for (const line of describeServers(config)) expect(said).toContain(line);
  });
});

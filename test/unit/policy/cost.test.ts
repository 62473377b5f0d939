/** What a decision and provenance cost, as ratios to plain work on the same input, so that a busy machine does not matter. */
import { describe, expect, it } from "vitest";
import { evaluate } from "../../../src/policy/evaluate.ts";
import { createProvenance } from "../../../src/policy/provenance.ts";
import { createSeededRandom } from "../../../src/base/random.ts";
import { serverConfig, toolRule } from "../../support/server-config.ts";

const LABELS = { isPrivate: true, isUntrusted: true, isExternal: false };

/** The best of several runs, in milliseconds. */
function best(runs: number, work: () => unknown): number {
  let least = Number.POSITIVE_INFINITY;
  for (let run = 0; run < runs; run += 1) {
    const started = performance.now();
    work();
    least = Math.min(least, performance.now() - started);
  }
  return least;
}

/** Rows as a tool gives them: ids, addresses, URLs and running text. */
function rows(bytes: number): string {
  const random = createSeededRandom(5);
  const number = (): number => Math.floor(random.fraction() * 1e9);
  const lines: string[] = [];
  for (let length = 0; length < bytes; length += lines.at(-1)?.length ?? 0) {
    lines.push(
      JSON.stringify({
        id: number(),
        email: `u${number()}@example.com`,
        url: `https://api.example.com/items/${number()}`,
        body: "an ordinary sentence of a person who reports what is broken and how to see it, ".repeat(3),
      }),
    );
  }
  return lines.join("\n").slice(0, bytes);
}

describe("the cost of provenance", () => {
  const output = rows(1024 * 1024);
  const args = { body: rows(64 * 1024) };

  it("for 1 MiB of outputs and 64 KiB of arguments is a small multiple of looking at each character once", () => {
    let sum = 0;
    const bare = best(20, () => {
      for (let at = 0; at < output.length; at += 1) sum = Math.imul(sum ^ output.charCodeAt(at), 31);
    });
    const whole = best(20, () => {
      const provenance = createProvenance({ key: Buffer.alloc(32, 1), conversation: "c" });
      provenance.observe("x y", [{ type: "text", text: output }], LABELS);
      return provenance.check(args).length;
    });
    expect(sum).not.toBe(0.5);
    expect(whole / bare).toBeLessThan(8);
  });

  it("is paid by calls that change something, not by those that only read", () => {
    const provenance = createProvenance({ key: Buffer.alloc(32, 1), conversation: "c" });
    const observe = best(20, () =>
      provenance.observe("x y", [{ type: "text", text: output.slice(0, 64 * 1024) }], LABELS),
    );
    const check = best(1, () => provenance.check({ body: "x" }));
    expect(observe * 5).toBeLessThan(check);
  });
});

describe("the cost of a decision", () => {
  it("of an ordinary call, with its provenance, is that of writing its arguments down a few times", () => {
    const server = serverConfig({
      tools: [toolRule("create_issue", { grade: "L1" }), toolRule("search_*", { grade: "L0" })],
      labels: ["internal"],
    });
    const provenance = createProvenance({ key: Buffer.alloc(32, 1), conversation: "c" });
    provenance.userSaid("open an issue in acme/web about the login");
    provenance.observe("x y", [{ type: "text", text: rows(2_000) }], LABELS);
    const args = {
      owner: "acme",
      repo: "web",
      title: "The login is broken",
      labels: ["bug", "help wanted"],
      body: "It fails.",
    };
    const base = {
      server,
      principal: "local",
      pin: "p",
      arguments: args,
      now: 0,
      isPaused: false,
      guards: [],
    } as const;
    const tool = { name: "create_issue", annotations: undefined, wasPresentAtAcceptance: true };
    const decide = (): number =>
      evaluate({ ...base, tool, flow: provenance.flow, provenance: () => provenance.check(args) }).reasons
        .length;
    const many = (work: () => number): (() => number) => {
      return () => {
        let sum = 0;
        for (let call = 0; call < 500; call += 1) sum += work();
        return sum;
      };
    };
    const written = best(
      40,
      many(() => JSON.stringify(args).length),
    );
    const decided = best(40, many(decide));
    expect(decided / written).toBeLessThan(20);
  });
});

/** The outside servers that misbehave on stdio, at the level of the transport. */
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { describeField, fieldServer } from "../support/field.ts";
import { nodeScript } from "../support/own-server.ts";
import { isLiving, livingMembers } from "../support/process-group.ts";
import { errorOf, openStdioSession, type StdioSession } from "../support/stdio-session.ts";

const MIB = 1024 * 1024;
const MODERN_META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};

interface Run {
  readonly session: StdioSession;
  readonly call: (tool: string, args?: JsonObject) => Promise<unknown>;
  /** Closes, and shows that nobody is left. */
  readonly end: () => Promise<string>;
}

async function start(name: string, era: "modern" | "legacy", env: Record<string, string> = {}): Promise<Run> {
  const session = await openStdioSession(nodeScript(fieldServer(name), [], { ERA: era, ...env }));
  const meta: JsonObject = era === "modern" ? { _meta: MODERN_META } : {};
  return {
    session,
    call: (tool, args = {}) => session.request("tools/call", { name: tool, arguments: args, ...meta }),
    async end() {
      const { how } = await session.transport.close();
      expect(livingMembers(session.transport.pid)).toEqual([]);
      expect(session.timesClosed()).toBe(1);
      return how;
    },
  };
}

const textOf = (message: unknown): string | undefined =>
  (message as { result?: { content?: { text?: string }[] } }).result?.content?.[0]?.text;

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "field-"));
});
afterEach(() => rmSync(dir, { recursive: true }));

/** What the server noted in its state file. */
const stateOf = (): { event: string; pid: number }[] =>
  readFileSync(join(dir, "state"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { event: string; pid: number });

/** Tests of one field server, in both eras. */
function describeServer(name: string, body: (era: "modern" | "legacy") => void): void {
  describeField(name, () => {
    for (const era of ["modern", "legacy"] as const) describe(era, () => body(era));
  });
}

describeServer("fc01-stdout-noise", (era) => {
  it("lines: noise between answers is passed over", async () => {
    const run = await start("fc01-stdout-noise", era);
    for (let at = 0; at < 20; at += 1)
      expect(textOf(await run.call("echo", { at }))).toBe(JSON.stringify({ at }));
    const counts = run.session.transport.counts();
    expect(counts?.oddities["stdio.noise-line"]).toBeGreaterThan(20);
    expect(run.session.oddities[0]?.sample).toBe("Welcome to Fancy Server v3!");
    expect(await run.end()).toBe("clean");
  });

  it("only-noise: nothing is taken for an answer, and close is orderly", async () => {
    const run = await start("fc01-stdout-noise", era, { MODE: "only-noise" });
    const pending = run.call("echo");
    await expect.poll(() => run.session.transport.counts()?.oddities["stdio.noise-line"]).toBeGreaterThan(10);
    expect(run.session.messages).toEqual([]);
    expect(await run.end()).toBe("clean");
    expect((await errorOf(pending)).code).toBe("cancelled");
  });
});

describeServer("fc03-crlf-bom", (era) => {
  it("every line end is taken, and the last line without one", async () => {
    const run = await start("fc03-crlf-bom", era);
    for (let at = 0; at < 5; at += 1)
      expect(textOf(await run.call("echo", { at }))).toBe(JSON.stringify({ at }));
    expect(textOf(await run.call("last"))).toBe("bye");
    expect((await run.session.closed)?.code).toBe("process_exited");
    await run.end();
  });
});

describeServer("fc04-newline-flood", (era) => {
  for (const mode of ["", "at-start"]) {
    it(`flood ${mode}: ended at the cap, memory within the cap and 32 MiB`, async () => {
      const host = fileURLToPath(new URL("stdio-hosts/measures.ts", import.meta.url));
      const params = { name: "flood", arguments: {}, ...(era === "modern" ? { _meta: MODERN_META } : {}) };
      const env = JSON.stringify({ ERA: era, MODE: mode, STATE_FILE: join(dir, "state") });
      const args = [host, fieldServer("fc04-newline-flood"), JSON.stringify(params), env];
      const { stdout } = await promisify(execFile)(process.execPath, args);
      const cost = JSON.parse(stdout) as { end: string; growthBytes: number };
      expect(cost.end).toBe("message_too_large");
      expect(cost.growthBytes).toBeLessThan((16 + 32) * MIB);
      for (const { pid } of stateOf()) expect(isLiving(pid)).toBe(false);
    });
  }

  it("drip: a large answer in tiny pieces arrives, and the connection works on", async () => {
    const run = await start("fc04-newline-flood", era);
    const startedAt = performance.now();
    const answer = textOf(await run.call("drip"));
    expect(answer?.length).toBeGreaterThan(7 * MIB);
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    expect(await run.call("echo")).toMatchObject({ result: {} });
    await run.end();
  });
});

describeServer("fc06-stderr-flood", (era) => {
  for (const mode of ["", "handshake", "no-newline"]) {
    it(`${mode}: stderr is drained, answers come`, async () => {
      const run = await start("fc06-stderr-flood", era, { MODE: mode });
      for (let at = 0; at < 20; at += 1)
        expect(textOf(await run.call("echo", { at }))).toBe(JSON.stringify({ at }));
      expect(run.session.transport.counts()?.stderrBytes).toBeGreaterThan(1_000_000);
      expect(run.session.transport.stderrTail().length).toBeLessThanOrEqual(4_096);
      await run.end();
    });
  }
});

describeServer("fc09-exit-mid-call", (era) => {
  for (const [mode, code, data] of [
    ["exit", "process_exited", { exitCode: 3, stderrTail: "fatal: database gone" }],
    ["half", "process_exited", { exitCode: 0 }],
    ["kill", "process_exited", { signal: "SIGKILL" }],
  ] as const) {
    it(`${mode}: the call in flight settles at once`, async () => {
      const run = await start("fc09-exit-mid-call", era, { MODE: mode });
      const error = await errorOf(run.call("echo"));
      expect(error.code).toBe(code);
      expect(error.data).toMatchObject(data);
      await run.end();
    });
  }

  it("close-stdout: settles within a second, and the process is ended", async () => {
    const run = await start("fc09-exit-mid-call", era, { MODE: "close-stdout" });
    // It may crash when it next writes, before it is told to go.
    expect(["connection_lost", "process_exited"]).toContain((await errorOf(run.call("echo"))).code);
    await run.end();
  });

  it("silent: only close ends it", async () => {
    const run = await start("fc09-exit-mid-call", era, { MODE: "silent" });
    const pending = run.call("echo");
    expect(await run.end()).toBe("clean");
    expect((await errorOf(pending)).code).toBe("cancelled");
  });

  it("epipe: its answer arrives, what is written afterwards fails with a code", async () => {
    const run = await start("fc09-exit-mid-call", era, { MODE: "epipe" });
    const first =
      era === "modern"
        ? run.session.request("server/discover", { _meta: MODERN_META })
        : run.session.request("initialize", { protocolVersion: "2025-11-25", capabilities: {} });
    expect(await first).toMatchObject({ result: {} });
    const { code } = await errorOf(run.call("echo"));
    expect(["process_exited", "connection_lost"]).toContain(code);
    expect((await run.session.closed)?.code).toBe("process_exited");
    await run.end();
  });
});

describeServer("fc10-crash-after-handshake", (era) => {
  it("slow-start: ten quick starts leave nobody", async () => {
    const runs = await Promise.all(
      Array.from({ length: 10 }, () => start("fc10-crash-after-handshake", era, { MODE: "slow-start" })),
    );
    for (const run of runs) void run.session.request("initialize").catch(() => undefined);
    const ends = await Promise.all(runs.map((run) => run.end()));
    // On a crowded machine one may need the signal; none may need more, and none may stay.
    expect(ends.filter((how) => how !== "clean" && how !== "terminated")).toEqual([]);
  });
});

describeServer("fc11-sigterm-grandchild", (era) => {
  for (const mode of ["grandchild", "self"]) {
    it(`${mode}: close ends everybody who ignores the signals`, async () => {
      const run = await start("fc11-sigterm-grandchild", era, {
        MODE: mode,
        STATE_FILE: join(dir, "state"),
      });
      expect(textOf(await run.call("echo", { a: 1 }))).toBe('{"a":1}');
      expect(await run.end()).toBe("killed");
      const pids = new Set(stateOf().map((entry) => entry.pid));
      expect(pids.size).toBe(mode === "self" ? 1 : 2);
      for (const pid of pids) expect(isLiving(pid)).toBe(false);
    });
  }
});

describeServer("fc16-env-dump", (era) => {
  it("the server gets exactly the environment that was given", async () => {
    const run = await start("fc16-env-dump", era, { FAKE_GIVEN: "yes" });
    process.env["FAKE_API_KEY"] = "s3cr3t";
    try {
      const { result } = (await run.call("dump_env")) as {
        result: { structuredContent: { names: string[] } };
      };
      expect(result.structuredContent.names.toSorted()).toEqual(["ERA", "FAKE_GIVEN", "PATH"]);
    } finally {
      delete process.env["FAKE_API_KEY"];
      await run.end();
    }
  });
});

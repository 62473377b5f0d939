import { describe, expect, it } from "vitest";
import { createEmitter } from "../../../src/base/emitter.ts";
import { createManualClock } from "../../../src/base/manual-clock.ts";
import { sayStarts, startSentence } from "../../../src/cli/start-progress.ts";
import type { Config, ServerConfig } from "../../../src/config/compiled.ts";
import type { StatusReport } from "../../../src/host/views.ts";
import type { HostEvent } from "../../../src/telemetry/events.ts";

type Starting = Parameters<typeof startSentence>[0];
const program = {
  name: "files",
  launch: { kind: "stdio" },
  limits: { connectMs: 30_000 },
  package: null,
} as Starting;
const npx = { ...program, limits: { connectMs: 120_000 }, package: { runner: "npx" } } as Starting;
const remote = { ...program, launch: { kind: "http" } } as Starting;

describe("startSentence", () => {
  it.each([
    ["a program", program, "starting files (up to 30 s)…"],
    ["a package", npx, "starting files (npx may have to download it, up to 120 s)…"],
    ["a remote server", remote, "connecting to files (up to 30 s)…"],
  ])("%s", (_what, server, sentence) => {
    expect(startSentence(server)).toBe(sentence);
  });
});

describe("slow starts", () => {
  async function setUp(where: { isJson?: boolean; isInteractive?: boolean } = {}, state = "idle") {
    const clock = createManualClock();
    const events = createEmitter<HostEvent>();
    const said: string[] = [];
    await sayStarts(
      {
        config: { servers: new Map([["files", program as ServerConfig]]) } as unknown as Config,
        onEvent: (listener) => events.on(listener),
        status: async () => ({ servers: [{ name: "files", state }] }) as unknown as StatusReport,
      },
      { isJson: false, isInteractive: true, ...where, say: (text) => void said.push(text) },
      clock,
    );
    const become = (to: string, reason = ""): void =>
      events.emit({
        type: "connection.changed",
        at: clock.now(),
        key: { server: "files", credential: "shared" },
        from: "",
        to,
        reason,
      });
    return { clock, said, become };
  }

  it("are told after a second, and how they ended", async () => {
    const { clock, said, become } = await setUp();
    become("connecting");
    await clock.advance(999);
    expect(said).toEqual([]);
    await clock.advance(1);
    await clock.advance(6_000);
    become("ready");
    expect(said).toEqual(["starting files (up to 30 s)…", "files is ready after 7 s"]);
    become("connecting");
    await clock.advance(1_000);
    become("dead", "no such program");
    expect(said.at(-1)).toBe("files is dead after 1 s: no such program");
  });

  it("a quick start is not worth a line", async () => {
    const { clock, said, become } = await setUp();
    become("connecting");
    await clock.advance(900);
    become("ready");
    expect([said, clock.pending()]).toEqual([[], 0]);
  });

  it("what started before anybody listened counts too", async () => {
    const { clock, said } = await setUp({}, "connecting");
    await clock.advance(1_000);
    expect(said).toEqual(["starting files (up to 30 s)…"]);
  });

  it.each([{ isJson: true }, { isInteractive: false }])("nothing is said with %o", async (where) => {
    const { clock, said, become } = await setUp(where, "connecting");
    become("connecting");
    await clock.advance(5_000);
    expect(said).toEqual([]);
  });
});

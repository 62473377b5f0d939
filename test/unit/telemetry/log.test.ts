import { describe, expect, it } from "vitest";
import { createEmitter } from "../../../src/base/emitter.ts";
import type { HostEvent } from "../../../src/telemetry/events.ts";
import { keepLog, lineOf, type LogSettings } from "../../../src/telemetry/log.ts";

const at = Date.UTC(2026, 10, 30, 14, 2, 11);
const key = { server: "files", credential: "shared" } as const;
const about = { at, callId: "c1", principal: "alice", server: "files", tool: "read", grade: "L0" } as const;
const origin = { method: "tools/call", startedAt: at, trace: null } as const;

const changed = (to: string, reason = "why"): HostEvent => ({
  type: "connection.changed",
  at,
  key,
  from: "ready",
  to,
  reason,
});
const closed = (more: { readonly isKnown: boolean; readonly tool: string }): HostEvent => ({
  type: "call.closed",
  ...about,
  ...origin,
  ...more,
  outcome: "completed",
  code: null,
  effect: "none",
  durationMs: 12.4,
  attempts: 1,
});
const finding = (severity: "low" | "high"): HostEvent => ({
  type: "finding.raised",
  at,
  server: "files",
  tool: null,
  callId: null,
  finding: { rule: "injection.override", severity, where: "/0", message: "the server's words" },
});

describe("an event as a line", () => {
  it.each([
    ["error", "background work failed: no", { type: "host.fault", at, message: "no" }],
    ["info", "files: ready → idle (why)", changed("idle")],
    ["warn", "files: ready → dead (why)", changed("dead")],
    ["warn", "files: ready → backing-off (why)", changed("backing-off")],
    ["debug", "files: 3 tools", { type: "catalog.refreshed", at, key, tools: 3, quarantined: 0 }],
    [
      "warn",
      "files: 3 tools, 1 held until `portcullis review`",
      { type: "catalog.refreshed", at, key, tools: 3, quarantined: 1 },
    ],
    ["info", "files: injection.override (low)", finding("low")],
    ["warn", "files: injection.override (high)", finding("high")],
    [
      "debug",
      "call c1 of files read: completed, effect none, 12 ms",
      closed({ isKnown: true, tool: "read" }),
    ],
    [
      "debug",
      "call c1 of a tool that is not known: completed, effect none, 12 ms",
      closed({ isKnown: false, tool: "what a model wrote" }),
    ],
  ] satisfies [string, string, HostEvent][])("%s: %s", (level, text, event) => {
    expect(lineOf(event)).toMatchObject({ level, text });
  });

  it("an approval is told without what it would do", () => {
    const line = lineOf({
      type: "approval.requested",
      at,
      approvalId: "a1",
      group: "g",
      server: "files",
      tool: "write",
      sentence: "Write my diary",
      expiresAt: at,
    });
    expect(line?.text).toBe("files write waits for an answer: approval a1");
    expect(JSON.stringify(line)).not.toContain("diary");
  });
});

describe("the log", () => {
  function keep(log: LogSettings) {
    const events = createEmitter<HostEvent>();
    const lines: string[] = [];
    const wishes: boolean[] = [];
    const host = {
      config: { log },
      onEvent: (listener: (event: HostEvent) => void, { calls }: { readonly calls: boolean }) => {
        wishes.push(calls);
        return events.on(listener);
      },
    };
    const end = keepLog(host, (line) => lines.push(line));
    return { host, lines, wishes, events, end };
  }

  it("writes what is important enough, each on one line", () => {
    const { events, lines, end } = keep({ level: "warn", format: "text" });
    events.emit(changed("idle"));
    events.emit(changed("dead", "it said:\nall\tgone"));
    end();
    events.emit(changed("dead"));
    expect(lines).toEqual(["2026-11-30T14:02:11.000Z warn  files: ready → dead (it said: all gone)"]);
    expect(events.listenerCount()).toBe(0);
  });

  it("as JSON: one object a line", () => {
    const { events, lines } = keep({ level: "info", format: "json" });
    events.emit(changed("idle"));
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      {
        at: "2026-11-30T14:02:11.000Z",
        level: "info",
        event: "connection.changed",
        text: "files: ready → idle (why)",
        server: "files",
        from: "ready",
        to: "idle",
      },
    ]);
  });

  it("asks for the events of calls only where it writes them, and a reload changes that", () => {
    const kept = keep({ level: "info", format: "text" });
    kept.host.config = { log: { level: "debug", format: "text" } };
    kept.events.emit({ type: "config.reloaded", at, changed: [], added: [], removed: [] });
    kept.events.emit(closed({ isKnown: true, tool: "read" }));
    expect(kept.wishes).toEqual([false, true]);
    expect(kept.lines).toHaveLength(1);
    expect(kept.events.listenerCount()).toBe(1);
    kept.end();
    expect(kept.events.listenerCount()).toBe(0);
  });
});

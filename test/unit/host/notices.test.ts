import { describe, expect, it } from "vitest";
import { noticeOf, together } from "../../../src/host/notices.ts";
import { desktopCommand } from "../../../src/host/notify-desktop.ts";
import type { HostEvent } from "../../../src/telemetry/events.ts";

const key = { server: "files", credential: "shared" } as const;
const approval = (id: string, group = "g"): HostEvent => ({
  type: "approval.requested",
  at: 0,
  approvalId: id,
  group,
  server: "files",
  tool: "remove",
  sentence: `Remove ${id}`,
  expiresAt: 300_000,
});
const changed = (to: string): HostEvent => ({
  type: "connection.changed",
  at: 0,
  key,
  from: "ready",
  to,
  reason: "gone",
});
const refreshed = (quarantined: number): HostEvent => ({
  type: "catalog.refreshed",
  at: 0,
  key,
  tools: 3,
  quarantined,
});
const finding: HostEvent = {
  type: "finding.raised",
  at: 0,
  server: "files",
  tool: "read",
  callId: "c",
  finding: { rule: "injection.override", severity: "high", where: "", message: "it gives orders" },
};

describe("what is worth a notice", () => {
  it.each<[string, HostEvent, number, object | null]>([
    [
      "a call that waits",
      approval("a"),
      0,
      { kind: "approval", text: "Remove a", approvalId: "a", expiresAt: "1970-01-01T00:05:00.000Z" },
    ],
    ["a finding", finding, 0, { kind: "finding", text: "it gives orders (injection.override, high)" }],
    ["a server that is dead", changed("dead"), 0, { kind: "server", text: "it is dead: gone" }],
    ["a server that wants a login", changed("auth-required"), 0, { kind: "server" }],
    ["a server that tries again", changed("backing-off"), 0, null],
    ["definitions newly held", refreshed(2), 1, { kind: "definitions" }],
    ["definitions held as before", refreshed(2), 2, null],
    ["anything else", { type: "config.reloaded", at: 0, changed: [], added: [], removed: [] }, 0, null],
  ])("%s", (_name, event, held, expected) => {
    const notice = noticeOf(event, held);
    if (expected === null) expect(notice).toBeNull();
    else expect(notice).toMatchObject(expected);
  });

  it("approvals of one turn are one notice", () => {
    const notices = [
      approval("a"),
      approval("b"),
      finding,
      approval("c", "other"),
      finding,
      approval("d"),
    ].flatMap((event) => noticeOf(event, 0) ?? []);
    expect(together(notices).map(({ kind, count, text }) => [kind, count, text])).toEqual([
      ["approval", 3, "Remove a … and 2 more"],
      ["finding", 1, "it gives orders (injection.override, high)"],
      ["approval", 1, "Remove c"],
      ["finding", 1, "it gives orders (injection.override, high)"],
    ]);
  });
});

describe("desktops", () => {
  it("get text as an argument of its own, never as script, option or markup", () => {
    const notice = { title: '-- "x', text: '<b>" & do shell script "id"' };
    expect(desktopCommand(notice, "linux")).toEqual({
      command: "notify-send",
      args: ["--app-name=Portcullis", "--", '-- "x', '&lt;b&gt;" &amp; do shell script "id"'],
    });
    const mac = desktopCommand(notice, "darwin");
    expect(mac?.args.slice(-2)).toEqual([notice.title, notice.text]);
    expect(mac?.args.slice(0, -2).join()).not.toContain("shell");
    expect(desktopCommand(notice, "win32")).toBeNull();
  });
});

/** What is worth telling a person who is not looking: calls that wait for an answer, and alerts. Pure; texts are clean already. */
import { assertNever } from "../base/assert-never.ts";
import type { HostEvent } from "../telemetry/events.ts";

export interface Notice {
  readonly kind: "approval" | "finding" | "server" | "definitions";
  /** ISO 8601. */
  readonly at: string;
  /** A few words. */
  readonly title: string;
  readonly text: string;
  readonly server: string;
  readonly tool: string | null;
  /** Of an approval: what `portcullis approve` takes. */
  readonly approvalId: string | null;
  readonly group: string | null;
  /** ISO 8601. */
  readonly expiresAt: string | null;
  /** How many this one stands for: approvals of one turn come together. */
  readonly count: number;
}

/** States that are not left without a person. */
const STUCK: ReadonlySet<string> = new Set(["dead", "auth-required", "incompatible"]);

/** @param held how many definitions of the connection were held before. @returns `null` for what nobody has to hear of. */
export function noticeOf(event: HostEvent, held: number): Notice | null {
  const at = new Date(event.at).toISOString();
  const plain = { at, tool: null, approvalId: null, group: null, expiresAt: null, count: 1 };
  switch (event.type) {
    case "approval.requested":
      return {
        ...plain,
        kind: "approval",
        title: "A call waits for your answer",
        text: event.sentence,
        server: event.server,
        tool: event.tool,
        approvalId: event.approvalId,
        group: event.group,
        expiresAt: new Date(event.expiresAt).toISOString(),
      };
    case "finding.raised":
      return {
        ...plain,
        kind: "finding",
        title: `Suspicious: ${event.server}`,
        text: `${event.finding.message} (${event.finding.rule}, ${event.finding.severity})`,
        server: event.server,
        tool: event.tool,
      };
    case "connection.changed":
      if (!STUCK.has(event.to)) return null;
      return {
        ...plain,
        kind: "server",
        title: `${event.key.server} needs you`,
        text: `it is ${event.to}: ${event.reason}`,
        server: event.key.server,
      };
    case "catalog.refreshed":
      if (event.quarantined <= held) return null;
      return {
        ...plain,
        kind: "definitions",
        title: `${event.key.server}: look at its tools`,
        text: `${event.quarantined} definitions are held until you have looked (portcullis review)`,
        server: event.key.server,
      };
    case "host.opened":
    case "host.closed":
    case "host.fault":
    case "connection.odd":
    case "server.recovered":
    case "call.opened":
    case "call.asked":
    case "call.approved":
    case "call.dispatched":
    case "call.attempted":
    case "call.progressed":
    case "call.closed":
    case "call.answered-late":
    case "approval.answered":
    case "input.asked":
    case "input.answered":
    case "input.completed":
    case "config.reloaded":
      return null;
    default:
      return assertNever(event);
  }
}

/** Notices that came together: approvals of one group as one. */
export function together(notices: readonly Notice[]): readonly Notice[] {
  const groups = new Map<string, Notice>();
  for (const [index, notice] of notices.entries()) {
    const key = notice.group ?? `${index}`;
    const first = groups.get(key);
    groups.set(key, first === undefined ? notice : { ...first, count: first.count + 1 });
  }
  return [...groups.values()].map((notice) =>
    notice.count === 1
      ? notice
      : {
          ...notice,
          title: `${notice.count} calls wait for your answer`,
          text: `${notice.text} … and ${notice.count - 1} more`,
        },
  );
}

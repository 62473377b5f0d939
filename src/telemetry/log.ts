/**
 * The log of a process that serves: events as lines. Never arguments, results or the sentence of an approval: logs are kept, and
 * read by others than those who may answer. Events of single calls are lines of `debug`, so that they are made only then.
 */
import { assertNever } from "../base/assert-never.ts";
import type { HostEvent } from "./events.ts";

const LEVELS = ["error", "warn", "info", "debug"] as const;
export type LogLevel = (typeof LEVELS)[number];

export interface LogSettings {
  /** The least important lines that are written. */
  readonly level: LogLevel;
  readonly format: "text" | "json";
}

/** What a log follows; a host is one. */
export interface LoggedHost {
  readonly config: { readonly log: LogSettings };
  onEvent(listener: (event: HostEvent) => void, options: { readonly calls: boolean }): () => void;
}

export interface LogLine {
  readonly level: LogLevel;
  /** One plain line. */
  readonly text: string;
  /** For `json`: what the text is about. */
  readonly about: Readonly<Record<string, string | number>>;
}

/** Follows `host` until the function that it returns is called; a reload may change level and format. */
export function keepLog(host: LoggedHost, write: (line: string) => void): () => void {
  const listen = (): (() => void) => {
    const { level, format } = host.config.log;
    const hear = (event: HostEvent): void => {
      const line = lineOf(event);
      if (line !== null && isWithin(line.level, level)) write(render(event, line, format));
      if (event.type !== "config.reloaded") return;
      off();
      off = listen();
    };
    return host.onEvent(hear, { calls: level === "debug" });
  };
  let off = listen();
  return () => off();
}

function isWithin(level: LogLevel, wanted: LogLevel): boolean {
  return LEVELS.indexOf(level) <= LEVELS.indexOf(wanted);
}

function render({ at, type }: HostEvent, { level, text, about }: LogLine, format: "text" | "json"): string {
  const time = new Date(at).toISOString();
  const plain = text.replaceAll(/\s+/g, " ");
  return format === "text"
    ? `${time} ${level.padEnd(5)} ${plain}`
    : JSON.stringify({ at: time, level, event: type, text: plain, ...about });
}

/** States that are not left without a person, and those that calls cannot count on. */
const TROUBLE: ReadonlySet<string> = new Set([
  "dead",
  "auth-required",
  "incompatible",
  "backing-off",
  "degraded",
]);

/** @returns `null` for what is told elsewhere, or is no news. */
export function lineOf(event: HostEvent): LogLine | null {
  switch (event.type) {
    case "host.fault":
      return { level: "error", text: `background work failed: ${event.message}`, about: {} };
    case "connection.changed": {
      const { key, from, to, reason } = event;
      return {
        level: TROUBLE.has(to) ? "warn" : "info",
        text: `${key.server}: ${from} → ${to} (${reason})`,
        about: { server: key.server, from, to },
      };
    }
    case "connection.odd":
      return {
        level: "debug",
        text: `${event.key.server}: ${event.kind}`,
        about: { server: event.key.server, kind: event.kind },
      };
    case "server.recovered": {
      const { server } = event.key;
      const text = `${server}: takes calls again; ${event.stale.length} answers given meanwhile were old`;
      return { level: "info", text, about: { server, stale: event.stale.length } };
    }
    case "catalog.refreshed": {
      const { key, tools, quarantined } = event;
      return {
        level: quarantined > 0 ? "warn" : "debug",
        text: `${key.server}: ${tools} tools${quarantined > 0 ? `, ${quarantined} held until \`portcullis review\`` : ""}`,
        about: { server: key.server, tools, quarantined },
      };
    }
    case "finding.raised": {
      const { server, tool, callId, finding } = event;
      return {
        level: finding.severity === "high" ? "warn" : "info",
        text: `${server}${tool === null ? "" : ` ${tool}`}: ${finding.rule} (${finding.severity})`,
        about: {
          server,
          rule: finding.rule,
          severity: finding.severity,
          ...(tool === null ? {} : { tool }),
          ...(callId === null ? {} : { callId }),
        },
      };
    }
    case "approval.requested": {
      const { approvalId, server, tool } = event;
      return {
        level: "info",
        text: `${server} ${tool} waits for an answer: approval ${approvalId}`,
        about: { server, tool, approvalId },
      };
    }
    case "approval.answered": {
      const { approvalId, answer, by, channel } = event;
      return {
        level: "info",
        text: `approval ${approvalId} is ${answer}${by === null ? "" : `, by ${by}`}`,
        about: {
          approvalId,
          answer,
          ...(by === null ? {} : { by }),
          ...(channel === null ? {} : { channel }),
        },
      };
    }
    case "call.closed": {
      const { callId, server, tool, outcome, effect, durationMs, code } = event;
      const named = event.isKnown ? `${server} ${tool}` : "a tool that is not known";
      return {
        level: "debug",
        text: `call ${callId} of ${named}: ${outcome}, effect ${effect}, ${Math.round(durationMs)} ms`,
        about: {
          callId,
          outcome,
          effect,
          durationMs,
          ...(event.isKnown ? { server, tool } : {}),
          ...(code === null ? {} : { code }),
        },
      };
    }
    case "call.answered-late": {
      const { callId, server, tool } = event;
      return {
        level: "warn",
        text: `call ${callId} of ${server} ${tool} was answered after it had been given up`,
        about: { callId, server, tool },
      };
    }
    case "host.opened":
    case "host.closed":
    case "config.reloaded":
    case "call.opened":
    case "call.asked":
    case "call.approved":
    case "call.dispatched":
    case "call.progressed":
    case "call.attempted":
    case "input.asked":
    case "input.answered":
    case "input.completed":
      return null;
    default:
      return assertNever(event);
  }
}

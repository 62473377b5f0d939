/** `portcullis status` for people. */
import type { ServerStatus, StatusReport } from "../../host/views.ts";
import type { TroubledServer } from "../../operations/tools.ts";
import { shortTime } from "../output.ts";
import { table } from "../table.ts";
import { renderLastWords } from "./last-words.ts";

export function renderStatus(report: StatusReport, nowMs: number): string {
  if (report.servers.length === 0) return "no servers are configured: add one with `portcullis add`";
  const rows = report.servers.map((server) => [
    server.name,
    server.state,
    server.transport,
    server.revision ?? "",
    grades(server),
    proof(server, nowMs),
    breaker(server),
    String(server.restarts),
  ]);
  const header = ["SERVER", "STATE", "VIA", "REVISION", "TOOLS", "LAST PROOF OF LIFE", "BREAKER", "RESTARTS"];
  const notes = report.servers
    .filter((server) => server.state !== "ready" && server.state !== "idle")
    .flatMap(renderTrouble);
  return [table(header, rows), ...notes].join("\n");
}

/** Why a server is not there, and what happens next. */
export function renderTrouble({ name, reason, next, lastWords }: TroubledServer): string[] {
  return [`${name}: ${reason}; ${next}`, ...renderLastWords(lastWords)];
}

function grades({ tools }: ServerStatus): string {
  const named = (["L0", "L1", "L2", "L3", "off"] as const).filter((grade) => tools[grade] > 0);
  const parts = named.map((grade) => `${tools[grade]} ${grade}`);
  if (tools.quarantined > 0) parts.push(`${tools.quarantined} quarantined`);
  return parts.length === 0 ? "none known" : parts.join(", ");
}

function breaker({ breaker: { state, failures } }: ServerStatus): string {
  return state === "closed" && failures > 0 ? `closed, ${failures} failed` : state;
}

function proof({ lastHealthCheck: check }: ServerStatus, nowMs: number): string {
  if (check === null) return "never";
  return `${shortTime(check.at, nowMs)} ${check.ok ? `ok, ${Math.round(check.latencyMs)} ms` : "failed"}`;
}

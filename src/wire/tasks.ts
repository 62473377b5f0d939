/**
 * Tasks on the wire: the extension (modern, SEP-2663) and those of 2025-11-25 (legacy), read into one shape. Pure.
 * They are not wire-compatible; the negotiated revision decides which reader is used.
 */
import { isJsonObject, ownProperty, type JsonObject } from "../base/json.ts";
import type { JsonRpcErrorObject } from "../protocol/jsonrpc.ts";
import type { InputRequests } from "../protocol/input-requests.ts";
import type { TaskStatus } from "../protocol/tasks.ts";
import { isRpcError } from "./jsonrpc.ts";
import { readInputRequests } from "./modern.ts";

/** A task as it stands, whichever protocol told it. */
export interface TaskState {
  readonly taskId: string;
  readonly status: TaskStatus;
  readonly statusMessage?: string;
  /** Milliseconds the server keeps it; `null`: no limit, or not said. */
  readonly ttlMs: number | null;
  /** How long the server asks to wait between two looks. */
  readonly pollIntervalMs?: number;
  readonly inputRequests?: InputRequests;
  /** Modern, `completed`. */
  readonly result?: JsonObject;
  /** Modern, `failed`. */
  readonly error?: JsonRpcErrorObject;
}

const STATUSES: ReadonlySet<unknown> = new Set([
  "working",
  "input_required",
  "completed",
  "failed",
  "cancelled",
]);
const MAX_TASK_ID_LENGTH = 1_024;

/** True for a status after which nothing changes any more. */
export function isTerminal(status: TaskStatus): boolean {
  return status === "completed" || status === "failed" || status === "cancelled";
}

/** Reads a task of the extension, flat as the type has it; `undefined` where it is malformed. */
export function readTask(value: JsonObject): TaskState | undefined {
  const head = readHead(value);
  if (head === undefined) return undefined;
  const inputRequests =
    head.status === "input_required" ? readInputRequests(ownProperty(value, "inputRequests")) : undefined;
  const result = ownProperty(value, "result");
  const error = ownProperty(value, "error");
  if (head.status === "completed" && !isJsonObject(result)) return undefined;
  return {
    ...head,
    ttlMs: readMs(ownProperty(value, "ttlMs")) ?? null,
    ...optionalMs(ownProperty(value, "pollIntervalMs")),
    ...(inputRequests === undefined ? {} : { inputRequests }),
    ...(head.status === "completed" && isJsonObject(result) ? { result } : {}),
    ...(head.status === "failed" && isRpcError(error) ? { error } : {}),
  };
}

/** Reads a task of 2025-11-25. */
export function readLegacyTask(value: unknown): TaskState | undefined {
  if (!isJsonObject(value)) return undefined;
  const head = readHead(value);
  if (head === undefined) return undefined;
  return {
    ...head,
    ttlMs: readMs(ownProperty(value, "ttl")) ?? null,
    ...optionalMs(ownProperty(value, "pollInterval")),
  };
}

function readHead(value: JsonObject): Pick<TaskState, "taskId" | "status" | "statusMessage"> | undefined {
  const taskId = ownProperty(value, "taskId");
  const status = ownProperty(value, "status");
  const statusMessage = ownProperty(value, "statusMessage");
  if (
    typeof taskId !== "string" ||
    taskId === "" ||
    taskId.length > MAX_TASK_ID_LENGTH ||
    !STATUSES.has(status)
  )
    return undefined;
  return {
    taskId,
    status: status as TaskStatus,
    ...(typeof statusMessage === "string" ? { statusMessage } : {}),
  };
}

function readMs(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
}

function optionalMs(value: unknown): { readonly pollIntervalMs?: number } {
  const pollIntervalMs = readMs(value);
  return pollIntervalMs === undefined ? {} : { pollIntervalMs };
}

const DEFAULT_POLL_MS = 1_000;
const MIN_POLL_MS = 100;
const MAX_POLL_MS = 60_000;

/**
 * How long to wait before the next look: what the server asks for, within 100 ms and 60 s, stretched the longer it takes
 * where it asks for nothing, and up to a tenth longer so that many clients do not look at the same moment.
 */
export function nextPollMs(task: TaskState, looks: number, fraction: number): number {
  const asked = task.pollIntervalMs ?? DEFAULT_POLL_MS * Math.min(2 ** Math.floor(looks / 5), 16);
  return Math.round(Math.min(Math.max(asked, MIN_POLL_MS), MAX_POLL_MS) * (1 + fraction / 10));
}

/** Tasks: the extension of SEP-2663 (modern) and those of 2025-11-25 (legacy). Not wire-compatible with each other. */
import type { JsonObject } from "../base/json.ts";
import type { JsonRpcErrorObject } from "./jsonrpc.ts";
import type { InputRequests } from "./input-requests.ts";

export type TaskStatus = "working" | "input_required" | "completed" | "failed" | "cancelled";

/** A task of the extension as `tools/call` (resultType `task`), `tasks/get` and `notifications/tasks` give it: flat. */
export interface Task {
  readonly taskId: string;
  readonly status: TaskStatus;
  readonly statusMessage?: string;
  readonly createdAt?: string;
  readonly lastUpdatedAt?: string;
  /** Milliseconds the server keeps it; null: no limit. */
  readonly ttlMs?: number | null;
  readonly pollIntervalMs?: number;
  /** With status `input_required`. Keys are unique for the life of the task. */
  readonly inputRequests?: InputRequests;
  /** With status `completed`: what the request would have answered. */
  readonly result?: JsonObject;
  /** With status `failed`. */
  readonly error?: JsonRpcErrorObject;
}

/** A task of 2025-11-25. Its result is fetched by `tasks/result`. */
export interface LegacyTask {
  readonly taskId: string;
  readonly status: TaskStatus;
  readonly statusMessage?: string;
  readonly createdAt?: string;
  readonly lastUpdatedAt?: string;
  readonly ttl?: number | null;
  readonly pollInterval?: number;
}

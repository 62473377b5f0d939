/** Tasks: the extension of SEP-2663 (modern) and those of 2025-11-25 (legacy). `wire/tasks.ts` reads both into one shape. */

export type TaskStatus = "working" | "input_required" | "completed" | "failed" | "cancelled";

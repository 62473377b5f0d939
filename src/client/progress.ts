/**
 * Progress of requests in flight. Only values that grow count; a flood keeps the request alive but is passed on in part only.
 * Source: patterns/progress.
 */
import { ownProperty, type JsonObject } from "../base/json.ts";
import type { Progress } from "../protocol/types.ts";
import type { Core } from "./core.ts";
import type { ProgressMark } from "./correlation.ts";

const MAX_MESSAGE_LENGTH = 2_000;
const WINDOW_MS = 1_000;

/** Takes the params of one `notifications/progress`. The progress token of a request is its id. */
export function receiveProgress(core: Core, params: JsonObject): void {
  const token = ownProperty(params, "progressToken");
  const value = ownProperty(params, "progress");
  const request = typeof token === "number" ? core.correlation.get(token) : undefined;
  const task = typeof token === "number" ? core.taskProgress.get(token) : undefined;
  const listening:
    | { progress?: ProgressMark; readonly onProgress?: ((progress: Progress) => void) | undefined }
    | undefined = request ?? task;
  if (listening === undefined) {
    core.oddities.note("progress.unknown-token");
    return;
  }
  const mark = listening.progress;
  if (typeof value !== "number" || !Number.isFinite(value) || (mark !== undefined && value <= mark.value)) {
    core.oddities.note("progress.not-growing");
    return;
  }
  const next = nextMark(mark, value, core.clock.monotonic());
  listening.progress = next;
  if (request !== undefined) core.correlation.extend(request);
  if (listening.onProgress === undefined) return;
  if (next.inWindow > core.limits.progressPerSecond) core.oddities.note("progress.flood");
  else deliver(core, listening.onProgress, readProgress(params, value));
}

function nextMark(mark: ProgressMark | undefined, value: number, nowMs: number): ProgressMark {
  if (mark === undefined || nowMs - mark.windowStartMs >= WINDOW_MS)
    return { value, windowStartMs: nowMs, inWindow: 1 };
  return { value, windowStartMs: mark.windowStartMs, inWindow: mark.inWindow + 1 };
}

function readProgress(params: JsonObject, progress: number): Progress {
  const total = ownProperty(params, "total");
  const message = ownProperty(params, "message");
  return {
    progress,
    ...(typeof total === "number" && Number.isFinite(total) ? { total } : {}),
    ...(typeof message === "string" ? { message: message.slice(0, MAX_MESSAGE_LENGTH) } : {}),
  };
}

function deliver(core: Core, onProgress: (progress: Progress) => void, progress: Progress): void {
  try {
    onProgress(progress);
  } catch (error) {
    core.oddities.note("progress.listener-threw", error instanceof Error ? error.message : "");
  }
}

/**
 * Progress of requests in flight. Only values that grow count; a flood keeps the request alive but is passed on in part only.
 * Source: patterns/progress.
 */
import { ownProperty, type JsonObject } from "../base/json.ts";
import type { Progress } from "../protocol/types.ts";
import type { Core } from "./core.ts";

const MAX_MESSAGE_LENGTH = 2_000;
const WINDOW_MS = 1_000;

/** Takes the params of one `notifications/progress`. The progress token of a request is its id. */
export function receiveProgress(core: Core, params: JsonObject): void {
  const token = ownProperty(params, "progressToken");
  const value = ownProperty(params, "progress");
  const request = typeof token === "number" ? core.correlation.get(token) : undefined;
  if (request === undefined) {
    core.oddities.note("progress.unknown-token");
    return;
  }
  if (typeof value !== "number" || !Number.isFinite(value) || (request.progress !== undefined && value <= request.progress.value)) {
    core.oddities.note("progress.not-growing");
    return;
  }
  const nowMs = core.clock.monotonic();
  const mark = (request.progress ??= { value, windowStartMs: nowMs, inWindow: 0 });
  mark.value = value;
  if (nowMs - mark.windowStartMs >= WINDOW_MS) {
    mark.windowStartMs = nowMs;
    mark.inWindow = 0;
  }
  mark.inWindow += 1;
  core.correlation.extend(request);
  if (request.onProgress === undefined) return;
  if (mark.inWindow > core.limits.progressPerSecond) {
    core.oddities.note("progress.flood");
    return;
  }
  deliver(core, request.onProgress, readProgress(params, value));
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

/**
 * Tasks, both protocols, behind one durable handle: started by a tool call, looked at until they end. What to speak follows
 * from the handle, which follows from the revision the task was made under.
 *
 * Invariants: a task is never cancelled by `notifications/cancelled`; a question of a task is answered once, whatever comes
 * later under its key; to stop waiting leaves the task alone. Source: SEP-2663; 2025-11-25 basic/utilities/tasks.
 */
import { linkAbort, abortReason } from "../base/abort.ts";
import { isJsonObject, ownProperty, type JsonObject } from "../base/json.ts";
import { PortcullisError } from "../errors.ts";
import type { InputResponses } from "../protocol/input-requests.ts";
import { methods, TASKS_EXTENSION } from "../protocol/methods.ts";
import type { CallToolResult } from "../protocol/types.ts";
import { isTerminal, nextPollMs, readLegacyTask, readTask, type TaskState } from "../wire/tasks.ts";
import type { Core } from "./core.ts";
import type { LegOptions } from "./leg.ts";
import type { RequestOptions } from "./options.ts";
import { fromRpcError, givenUpError, requestError } from "./remote-error.ts";
import { answerRequests, type Request } from "./request.ts";
import { readCallToolResult } from "./results.ts";

/** Everything that is needed to go on with a task, in another process too: plain JSON. */
export interface TaskHandle {
  readonly protocol: "extension" | "legacy";
  readonly taskId: string;
  /** Name of the tool that was called. */
  readonly tool: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** Keys of questions that were answered: they are never answered again. */
  readonly answeredKeys: readonly string[];
}

export type ToolStart =
  | { readonly kind: "completed"; readonly result: CallToolResult }
  | { readonly kind: "task"; readonly handle: TaskHandle; readonly task: TaskState };

export interface StartOptions extends RequestOptions {
  /** Legacy: asks for a task (the tool's `execution.taskSupport` is `required`, or `optional` and one is wanted). */
  readonly asTask?: boolean;
  /** Legacy: how long the server should keep it, milliseconds. */
  readonly taskTtlMs?: number;
}

export interface WaitOptions extends RequestOptions {
  /** How long to wait in all; default one hour. The task goes on at the server. */
  readonly maxWaitMs?: number;
  readonly onStatus?: (task: TaskState) => void;
  /** The handle changed and should be kept in place of the one before. */
  readonly onHandle?: (handle: TaskHandle) => void;
}

export interface Tasks {
  start(name: string, args: JsonObject, options?: StartOptions): Promise<ToolStart>;
  /** How the task stands. */
  look(handle: TaskHandle, options?: RequestOptions): Promise<TaskState>;
  /** @throws PortcullisError: the task's own error; `cancelled` with `data.byServer`; `timed_out`; `input_refused`; … */
  wait(handle: TaskHandle, options?: WaitOptions): Promise<CallToolResult>;
  /** Modern: answers questions of the task. */
  update(handle: TaskHandle, responses: InputResponses, options?: RequestOptions): Promise<void>;
  /** Asks the server to cancel; cooperative, the task may still end otherwise. */
  cancel(handle: TaskHandle, options?: RequestOptions): Promise<void>;
}

const MAX_WAIT_MS = 3_600_000;
const MAX_ANSWERED_KEYS = 1_000;
const MAX_TASK_PROGRESS = 1_000;

export function createTasks(core: Core, run: Request): Tasks {
  const ask = async (method: string, params: JsonObject, options: LegOptions): Promise<JsonObject> => {
    const finished = await run(method, params, { ...options, mayHaveEffect: options.mayHaveEffect ?? false });
    return finished.result;
  };

  /** Options of a message about the task: its time and progress are not those of the call. */
  const aside = (options: RequestOptions | undefined): LegOptions => ({
    acceptsTask: true,
    ...(options?.signal === undefined ? {} : { signal: options.signal }),
    ...(options?.trace === undefined ? {} : { trace: options.trace }),
    ...(options?.inputs === undefined ? {} : { inputs: options.inputs }),
    ...(options?.clientCapabilities === undefined ? {} : { clientCapabilities: options.clientCapabilities }),
  });

  const look = async (handle: TaskHandle, options?: RequestOptions): Promise<TaskState> => {
    const result = await ask(methods.getTask, { taskId: handle.taskId }, aside(options));
    const task = handle.protocol === "extension" ? readTask(result) : readLegacyTask(result);
    if (task === undefined || task.taskId !== handle.taskId) {
      throw requestError(
        "protocol_error",
        methods.getTask,
        "`tasks/get` was answered by something that is not this task",
        { wasSent: true },
      );
    }
    return task;
  };

  const update = async (
    handle: TaskHandle,
    responses: InputResponses,
    options?: RequestOptions,
  ): Promise<void> => {
    await ask(
      methods.updateTask,
      { taskId: handle.taskId, inputResponses: { ...responses } },
      aside(options),
    );
  };

  const startExtension = async (
    name: string,
    args: JsonObject,
    options: StartOptions,
  ): Promise<ToolStart> => {
    const offersTasks = core.facts().capabilities.extensions?.[TASKS_EXTENSION] !== undefined;
    const finished = await run(
      methods.callTool,
      { name, arguments: args },
      { ...options, acceptsTask: offersTasks },
    );
    if (finished.kind === "complete")
      return { kind: "completed", result: readCallToolResult(finished.result) };
    return started("extension", name, readTask(finished.result));
  };

  const startLegacy = async (name: string, args: JsonObject, options: StartOptions): Promise<ToolStart> => {
    const params: JsonObject = { name, arguments: args };
    if (options.asTask === true && offersLegacyTasks(core.facts().capabilities.tasks)) {
      params["task"] = options.taskTtlMs === undefined ? {} : { ttl: options.taskTtlMs };
    }
    let token: number | undefined;
    const onId = (id: number): void => {
      token = id;
    };
    const { result } = await run(methods.callTool, params, { ...options, onId });
    const task = ownProperty(result, "task");
    if (params["task"] === undefined || !isJsonObject(task))
      return { kind: "completed", result: readCallToolResult(result) };
    const start = started("legacy", name, readLegacyTask(task));
    if (start.kind === "task" && options.onProgress !== undefined && token !== undefined) {
      core.taskProgress.set(token, { taskId: start.handle.taskId, onProgress: options.onProgress });
      const [oldest] = core.taskProgress.keys();
      if (core.taskProgress.size > MAX_TASK_PROGRESS && oldest !== undefined)
        core.taskProgress.delete(oldest);
    }
    return start;
  };

  const started = (
    protocol: TaskHandle["protocol"],
    tool: string,
    task: TaskState | undefined,
  ): ToolStart => {
    if (task === undefined) {
      throw requestError(
        "protocol_error",
        methods.callTool,
        "the task that `tools/call` was answered by is malformed",
        { wasSent: true },
      );
    }
    const handle: TaskHandle = {
      protocol,
      taskId: task.taskId,
      tool,
      startedAt: core.clock.now(),
      answeredKeys: [],
    };
    return { kind: "task", handle, task };
  };

  const wait = async (given: TaskHandle, options: WaitOptions = {}): Promise<CallToolResult> => {
    const untilMs = core.clock.monotonic() + (options.maxWaitMs ?? MAX_WAIT_MS);
    let handle = given;
    for (let looks = 0; ; looks += 1) {
      const task = await look(handle, options);
      options.onStatus?.(task);
      if (isTerminal(task.status)) return outcomeOf(handle, task, options);
      if (task.status === "input_required") {
        if (handle.protocol === "legacy")
          return legacyResult(handle, options, untilMs - core.clock.monotonic());
        handle = await answerQuestions(handle, task, options, untilMs - core.clock.monotonic());
      }
      const pollMs = nextPollMs(task, looks, core.random.fraction());
      if (core.clock.monotonic() + pollMs >= untilMs) {
        throw requestError(
          "timed_out",
          methods.getTask,
          `task \`${handle.tool}\` did not end in time; it goes on at the server`,
          {
            wasSent: true,
            data: { limit: "total", handle },
          },
        );
      }
      await sleep(pollMs, options.signal);
    }
  };

  const sleep = async (delayMs: number, signal: AbortSignal | undefined): Promise<void> => {
    const link = linkAbort(signal, core.signal);
    try {
      await core.clock.sleep(delayMs, link.signal);
    } catch {
      throw givenUpError(methods.getTask, abortReason(link.signal), true);
    } finally {
      link.unlink();
    }
  };

  const answerQuestions = async (
    handle: TaskHandle,
    task: TaskState,
    options: WaitOptions,
    leftMs: number,
  ): Promise<TaskHandle> => {
    const requests = task.inputRequests ?? {};
    const answered = new Set(handle.answeredKeys);
    const keys = Object.keys(requests).filter((key) => !answered.has(key));
    if (keys.length === 0) return handle;
    if (answered.size + keys.length > MAX_ANSWERED_KEYS) {
      throw requestError("input_refused", methods.getTask, `task \`${handle.tool}\` asks without end`, {
        wasSent: true,
      });
    }
    const responses = await answerRequests(core, requests, keys, {
      method: methods.getTask,
      options: { ...options, acceptsTask: true },
      round: 1,
      leftMs: Math.min(core.limits.inputMs, leftMs),
      taskId: handle.taskId,
    });
    // Kept before it is sent: a key that may have been answered is not answered again.
    const next: TaskHandle = { ...handle, answeredKeys: [...handle.answeredKeys, ...keys] };
    options.onHandle?.(next);
    await update(next, responses, options);
    return next;
  };

  const outcomeOf = async (
    handle: TaskHandle,
    task: TaskState,
    options: WaitOptions,
  ): Promise<CallToolResult> => {
    if (task.status === "cancelled") {
      throw new PortcullisError("cancelled", `task \`${handle.tool}\` was cancelled at the server`, {
        data: { byServer: true, wasSent: true, provesNoEffect: false },
      });
    }
    if (handle.protocol === "legacy") return legacyResult(handle, options, core.limits.totalTimeoutMs);
    if (task.status === "completed") return readCallToolResult(task.result ?? {});
    throw fromRpcError(methods.callTool, task.error ?? { code: 0, message: task.statusMessage ?? "" });
  };

  /** Legacy: `tasks/result` waits for the end, and the server asks its questions meanwhile. */
  const legacyResult = async (
    handle: TaskHandle,
    options: WaitOptions,
    leftMs: number,
  ): Promise<CallToolResult> => {
    try {
      const result = await ask(
        methods.taskResult,
        { taskId: handle.taskId },
        { ...aside(options), idleTimeoutMs: leftMs, totalTimeoutMs: leftMs },
      );
      return readCallToolResult(result);
    } finally {
      for (const [token, entry] of core.taskProgress)
        if (entry.taskId === handle.taskId) core.taskProgress.delete(token);
    }
  };

  return {
    start: (name, args, options = {}) =>
      core.facts().era === "modern" ? startExtension(name, args, options) : startLegacy(name, args, options),
    look,
    wait,
    update,
    async cancel(handle, options) {
      await ask(methods.cancelTask, { taskId: handle.taskId }, aside(options));
    },
  };
}

function offersLegacyTasks(tasks: JsonObject | undefined): boolean {
  const requests = tasks === undefined ? undefined : ownProperty(tasks, "requests");
  const tools = isJsonObject(requests) ? ownProperty(requests, "tools") : undefined;
  return isJsonObject(tools) && ownProperty(tools, "call") !== undefined;
}

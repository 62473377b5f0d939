/** One tool call over a ready session. The answer is as it came: what is wrong with it is judged, named and kept by the intake. */
import { isJsonObject, type JsonObject } from "../base/json.ts";
import type { RequestOptions } from "../client/options.ts";
import { methods } from "../protocol/methods.ts";
import type { ToolEntry } from "../registry/entry.ts";
import type { HostSession } from "./open-session.ts";

/** @throws what the client throws; where the caller gives up, a task of the server's is asked to stop as well. */
export function sendCall(
  session: HostSession,
  entry: ToolEntry,
  args: JsonObject,
  options: RequestOptions,
): Promise<unknown> {
  // Before the modern era the client asks for a task, and some tools answer nothing else (2025-11-25, `taskSupport`).
  if (session.facts.era === "legacy" && needsTask(entry)) return runTask(session, entry, args, options);
  return session.client.request(methods.callTool, { name: entry.name, arguments: args }, options);
}

async function runTask(
  { client }: HostSession,
  entry: ToolEntry,
  args: JsonObject,
  options: RequestOptions,
): Promise<unknown> {
  const started = await client.tasks.start(entry.name, args, { ...options, asTask: true });
  if (started.kind === "completed") return started.result;
  const { handle } = started;
  const maxWaitMs = options.totalLeftMs;
  try {
    return await client.tasks.wait(handle, maxWaitMs === undefined ? options : { ...options, maxWaitMs });
  } catch (error) {
    // Nobody waits for it, and where it fails the server is gone or has ended it already.
    if (options.signal?.aborted === true) void client.tasks.cancel(handle).catch(() => undefined);
    throw error;
  }
}

function needsTask({ raw }: ToolEntry): boolean {
  const { execution } = raw;
  return isJsonObject(execution) && execution["taskSupport"] === "required";
}

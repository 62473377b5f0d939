/** Notifications of a server, both eras: each goes to the one place that it is for; what is for nobody is counted. */
import { ownProperty, type JsonObject, type JsonValue } from "../base/json.ts";
import type { JsonRpcNotification, RequestId } from "../protocol/jsonrpc.ts";
import { notifications } from "../protocol/methods.ts";
import type { LoggingLevel } from "../protocol/types.ts";
import { isRequestId } from "../wire/jsonrpc.ts";
import { readSubscriptionId } from "../wire/subscriptions.ts";
import { readLegacyTask } from "../wire/tasks.ts";
import type { Core } from "./core.ts";
import { receiveProgress } from "./progress.ts";

export interface NotificationTargets {
  /** One that carries a subscription id. */
  subscribed(id: RequestId, method: string, params: JsonObject): void;
  /** A change told by a legacy server, to nobody in particular. */
  changed(method: string, params: JsonObject): void;
  /** `notifications/cancelled`, naming one of the server's own requests (legacy) or a listen stream (modern). */
  cancelled(id: RequestId): void;
}

const LEVELS: ReadonlySet<unknown> = new Set([
  "debug",
  "info",
  "notice",
  "warning",
  "error",
  "critical",
  "alert",
  "emergency",
]);
const MAX_LOGGER_LENGTH = 200;

export function receiveNotification(
  core: Core,
  targets: NotificationTargets,
  message: JsonRpcNotification,
  isLegacy: boolean,
): void {
  const { method } = message;
  const params = message.params ?? {};
  switch (method) {
    case notifications.progress:
      receiveProgress(core, params);
      return;
    case notifications.message:
      receiveLog(core, params);
      return;
    case notifications.cancelled: {
      const id = ownProperty(params, "requestId");
      if (isRequestId(id)) targets.cancelled(id);
      else core.oddities.note("cancelled.malformed");
      return;
    }
    case notifications.toolsChanged:
    case notifications.promptsChanged:
    case notifications.resourcesChanged:
    case notifications.resourceUpdated:
    case notifications.acknowledged:
    case notifications.task: {
      const id = readSubscriptionId(params);
      if (id !== undefined) targets.subscribed(id, method, params);
      else if (isLegacy) targets.changed(method, params);
      else core.oddities.note("subscription.no-id", method);
      return;
    }
    case notifications.legacyTask: {
      const task = readLegacyTask(params);
      if (task === undefined) core.oddities.note("task.malformed");
      else core.emit({ type: "task.changed", task });
      return;
    }
    case notifications.elicitationComplete: {
      const elicitationId = ownProperty(params, "elicitationId");
      if (typeof elicitationId === "string") core.emit({ type: "elicitation.completed", elicitationId });
      return;
    }
    default:
      core.oddities.note("notification.unknown", method.slice(0, 80));
      core.emit({ type: "notification", method, params });
  }
}

function receiveLog(core: Core, params: JsonObject): void {
  const level = ownProperty(params, "level");
  const logger = ownProperty(params, "logger");
  const data = ownProperty(params, "data") as JsonValue | undefined;
  if (!LEVELS.has(level)) {
    core.oddities.note("log.malformed");
    return;
  }
  core.emit({
    type: "log",
    level: level as LoggingLevel,
    logger: typeof logger === "string" ? logger.slice(0, MAX_LOGGER_LENGTH) : null,
    data: data ?? null,
  });
}

/** What a client tells its owner: one union. Texts are the server's, unclean and untrusted. */
import type { JsonObject, JsonValue } from "../base/json.ts";
import type { PortcullisError } from "../errors.ts";
import type { LoggingLevel } from "../protocol/types.ts";
import type { TaskState } from "../wire/tasks.ts";
import type { ServerFacts } from "./facts.ts";

export type ClientEvent =
  /** `isGap`: changes may have been missed while nobody listened; nothing was told by the server. */
  | {
      readonly type: "list_changed";
      readonly list: "tools" | "prompts" | "resources";
      readonly isGap: boolean;
    }
  | { readonly type: "resource.updated"; readonly uri: string; readonly isGap: boolean }
  | { readonly type: "task.changed"; readonly task: TaskState }
  | {
      readonly type: "log";
      readonly level: LoggingLevel;
      readonly logger: string | null;
      readonly data: JsonValue;
    }
  /** Something was passed over; `total` counts its kind since the start. Not every one is told. */
  | { readonly type: "odd"; readonly kind: string; readonly sample: string; readonly total: number }
  /** The listen stream: refused for good, lost for now, or there. */
  | { readonly type: "listening"; readonly state: "live" | "waiting" | "refused" }
  /** A legacy session was replaced by a new one. */
  | { readonly type: "session.renewed"; readonly facts: ServerFacts }
  /** 2025-11-25: what a URL elicitation asked for is done. */
  | { readonly type: "elicitation.completed"; readonly elicitationId: string }
  | { readonly type: "notification"; readonly method: string; readonly params: JsonObject }
  /** It is over; `error` is absent after `close()`. */
  | { readonly type: "closed"; readonly error?: PortcullisError };

/** What is asked of a person, and what comes back. */
import { digestJson, type JsonObject } from "../base/json.ts";
import type { CallBinding, Grade, Principal } from "../vocabulary.ts";
import type { Channel, Confirmation } from "./approval.ts";
import { valueAt } from "./argument-path.ts";
import type { ArgumentOrigin } from "./details.ts";

/** What is asked. */
export interface Ask {
  /** Asks of one turn share it. */
  readonly group: string;
  /** Of the call that waits. */
  readonly callId: string;
  readonly principal: Principal;
  readonly server: string;
  readonly tool: string;
  readonly exposedName: string;
  readonly pin: string;
  readonly grade: Grade;
  /** As they would be sent. */
  readonly arguments: JsonObject;
  /** From the tool's rule. */
  readonly say: string | null;
  readonly items: string | null;
  readonly confirm: string | null;
  /** The server's own title: shown only as a claim. */
  readonly title: string | null;
  readonly origins: readonly ArgumentOrigin[];
  readonly reasons: readonly { readonly rule: string; readonly message: string }[];
  /** What the operator's `preview` tool said, made ready for a person; `null` without. */
  readonly preview: string | null;
  /** True where no grant may be given with the answer. */
  readonly needsPerson: boolean;
  /** The conversation, for a grant for this session; `null` without. */
  readonly session: string | null;
}

export type Answer =
  | {
      readonly kind: "approved";
      readonly approvalId: string;
      /** What may be sent: those asked about, without the items that were taken out. */
      readonly arguments: JsonObject;
      /** Fits `evaluate`: bound to the arguments above. */
      readonly approval: {
        readonly id: string;
        readonly binding: CallBinding;
        readonly confirmations: number;
        readonly expiresAt: number;
      };
      readonly confirmations: readonly Confirmation[];
      /** Items taken out, counted from 0. */
      readonly without: readonly number[];
    }
  | {
      readonly kind: "denied";
      readonly approvalId: string;
      readonly by: Principal;
      readonly channel: Channel;
      /** Milliseconds since the epoch. */
      readonly at: number;
      readonly reason: string | null;
    }
  | { readonly kind: "expired"; readonly approvalId: string };

/** What an ask is bound to. */
export function bindingOf(
  ask: Pick<Ask, "principal" | "server" | "tool" | "arguments" | "pin">,
): CallBinding {
  return {
    principal: ask.principal,
    server: ask.server,
    tool: ask.tool,
    digest: digestJson(ask.arguments),
    pin: ask.pin,
  };
}

/** What the second confirmation of L3 has to type: the value of the argument that `confirm` names, or the tool's name. */
export function textToType(ask: Pick<Ask, "arguments" | "confirm" | "tool">): string {
  const value = ask.confirm === null ? undefined : valueAt(ask.arguments, ask.confirm);
  return typeof value === "string" || typeof value === "number" ? String(value).trim() : ask.tool;
}

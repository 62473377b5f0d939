/** Approvals answered by the library user's callback instead of a person at an inbox. A callback that throws refuses. */
import type { Broker } from "../approvals/broker.ts";
import { toPortcullisError } from "../errors.ts";
import type { HostEvent } from "../telemetry/events.ts";
import type { ApprovalCallback } from "./api.ts";

/** A listener for the host's events that hands each new question to `callback`. */
export function answerByCallback(
  broker: Broker,
  callback: ApprovalCallback,
  signal: AbortSignal,
  onFault: (error: unknown) => void,
): (event: HostEvent) => void {
  const answer = async (id: string): Promise<void> => {
    const view = (await broker.list()).find((approval) => approval.id === id);
    if (view === undefined) return;
    try {
      const { by = "callback", ...said } = await callback(view, signal);
      // L3 takes two confirmations: the second is what the callback typed.
      await broker.answer(id, { ...said, by, channel: "callback" });
    } catch (cause) {
      const reason = `the approval callback failed: ${toPortcullisError(cause).message}`.slice(0, 300);
      await broker.answer(id, { verdict: "deny", by: "callback", channel: "callback", reason });
    }
  };
  return (event) => {
    if (event.type === "approval.requested") answer(event.approvalId).catch(onFault);
  };
}

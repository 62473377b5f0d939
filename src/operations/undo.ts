import { z } from "zod";
import { refuseKnownCall, requireCall } from "./activity.ts";
import { callIdInput, defineOperation, nameInput } from "./operation.ts";

/** Takes a call back: itself a governed call, which asks unless its tool is L0 or L1 by its exact name. */
export const undo = defineOperation({
  name: "undo",
  summary: "take a call back, within 30 seconds, where its rule says how",
  input: z.strictObject({
    call: nameInput,
    principal: nameInput.optional(),
    yes: z.boolean().default(false),
    wait: z.boolean().default(false),
    /** Of the call that takes the other one back. */
    callId: callIdInput.optional(),
  }),
  isLive: true,
  async run({ host, by, channel, signal }, input) {
    const { callId } = input;
    if (callId !== undefined) await refuseKnownCall(host, callId);
    await requireCall(host, input.call);
    const consent =
      input.yes && channel === "terminal"
        ? { consent: { by, channel: "terminal" as const, typed: null } }
        : {};
    return host.undo(input.call, {
      signal,
      wait: input.wait,
      ...(callId === undefined ? {} : { callId }),
      ...(input.principal === undefined ? {} : { principal: input.principal }),
      ...consent,
    });
  },
});

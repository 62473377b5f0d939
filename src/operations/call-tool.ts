import { z } from "zod";
import type { JsonObject } from "../base/json.ts";
import { refuseKnownCall } from "./activity.ts";
import { callIdInput, defineOperation, nameInput } from "./operation.ts";

/**
 * One governed call. `yes` is the approval of the person at the terminal (where the configuration lets it count), `confirm`
 * their second confirmation for L3; without either an *ask* is refused at once, with `wait` it goes to the inbox.
 */
export const callTool = defineOperation({
  name: "call-tool",
  summary: "call one tool, governed and recorded",
  input: z.strictObject({
    server: nameInput,
    tool: nameInput,
    arguments: z.union([z.string(), z.record(z.string(), z.unknown())]).default({}),
    principal: nameInput.optional(),
    yes: z.boolean().default(false),
    confirm: z.string().max(1_024).optional(),
    wait: z.boolean().default(false),
    /** So that the call is found by whoever loses its answer. */
    callId: callIdInput.optional(),
  }),
  isLive: true,
  async run({ host, by, channel, signal }, input) {
    const { callId } = input;
    if (callId !== undefined) await refuseKnownCall(host, callId);
    // Only a terminal's --yes is consent; the console answers in the inbox.
    const consent =
      input.yes && channel === "terminal"
        ? { consent: { by, channel: "terminal" as const, typed: input.confirm ?? null } }
        : {};
    return host.call({ server: input.server, tool: input.tool }, input.arguments as JsonObject | string, {
      signal,
      wait: input.wait,
      ...(callId === undefined ? {} : { callId }),
      ...(input.principal === undefined ? {} : { principal: input.principal }),
      ...consent,
    });
  },
});

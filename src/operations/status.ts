import { z } from "zod";
import { defineOperation, nameInput } from "./operation.ts";

/** Per server: state, era and revision, tools by grade, last proof of life, breaker, auth, restarts. */
export const status = defineOperation({
  name: "status",
  summary: "what each server is doing, and when it was last known to be well",
  input: z.strictObject({ server: nameInput.optional(), check: z.boolean().default(false) }),
  isLive: true,
  async run({ host, signal }, { server, check }) {
    const report = await host.status({ check, signal, ...(server === undefined ? {} : { server }) });
    signal.throwIfAborted();
    return report;
  },
});

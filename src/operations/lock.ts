import { z } from "zod";
import { requireServer } from "../host/core.ts";
import { defineOperation, nameInput } from "./operation.ts";

/** Installs the exact version of a package and starts it from there, or takes that back. */
export const lock = defineOperation({
  name: "lock",
  summary: "install the exact version of a server's package without scripts, and start it from there",
  input: z.strictObject({ server: nameInput, forget: z.boolean().optional() }),
  isLive: true,
  async run({ host, by, signal }, { server, forget = false }) {
    if (!forget) return { ...(await host.lock(server, by, signal)), forgotten: false };
    const forgotten = await host.unlock(server, by);
    // What was locked for a server that is gone can be forgotten too.
    if (!forgotten) requireServer(host.config, server);
    return { server, forgotten };
  },
});

import { z } from "zod";
import { systemRandom } from "../base/random.ts";
import { proveLive } from "./check-live.ts";
import { defineOperation } from "./operation.ts";

/** The security checklist; with `live` some of it is proven with hostile servers of our own first. */
export const check = defineOperation({
  name: "check",
  summary: "the security checklist, each line with its evidence",
  input: z.strictObject({ live: z.boolean().optional() }),
  isLive: false,
  run: async ({ host, signal }, { live = false }) =>
    host.check(live ? await proveLive(systemRandom, signal) : null, signal),
});

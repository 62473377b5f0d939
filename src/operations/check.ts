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
  async run({ host, signal }, { live = false }) {
    const proofs = live ? await proveLive(systemRandom, signal) : null;
    // A proof that was cut off proves nothing, and is not kept as one that failed.
    signal.throwIfAborted();
    return host.check(proofs, signal);
  },
});

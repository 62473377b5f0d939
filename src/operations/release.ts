import { z } from "zod";
import { defineOperation, nameInput } from "./operation.ts";

/** A result that was held back: shown to a person; with `accept` its owner may read it. */
export const release = defineOperation({
  name: "release",
  summary: "look at a result that was held back, and let the model read it",
  input: z.strictObject({ call: nameInput, accept: z.boolean().default(false) }),
  isLive: false,
  run: ({ host, by }, { call, accept }) => host.held(call, accept ? { by } : null),
});

import { z } from "zod";
import type { JsonObject } from "../base/json.ts";
import { defineOperation, nameInput } from "./operation.ts";

/** What would happen and why, without doing or recording it. */
export const explain = defineOperation({
  name: "explain",
  summary: "what a call would be decided as, and why, without making it",
  input: z.strictObject({
    server: nameInput,
    tool: nameInput,
    arguments: z.record(z.string(), z.unknown()).default({}),
    principal: nameInput.optional(),
  }),
  isLive: true,
  run: ({ host }, input) =>
    host.explain(
      { server: input.server, tool: input.tool },
      input.arguments as JsonObject,
      input.principal === undefined ? {} : { principal: input.principal },
    ),
});

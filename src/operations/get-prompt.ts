import { z } from "zod";
import type { JsonObject } from "../base/json.ts";
import { defineOperation, nameInput } from "./operation.ts";

/** One prompt, with the same care as a call. */
export const getPrompt = defineOperation({
  name: "get-prompt",
  summary: "get one prompt of a server",
  input: z.strictObject({
    server: nameInput,
    name: nameInput,
    arguments: z.record(z.string(), z.unknown()).default({}),
  }),
  isLive: true,
  run: ({ host, signal }, input) =>
    host.prompt(input.server, input.name, input.arguments as JsonObject, { signal }),
});

import { z } from "zod";
import { defineOperation, nameInput } from "./operation.ts";

/** What was done, newest first. */
export const activity = defineOperation({
  name: "activity",
  summary: "what was called, how it ended and what it did",
  input: z.strictObject({
    server: nameInput.optional(),
    tool: nameInput.optional(),
    principal: nameInput.optional(),
    fromMs: z.int().optional(),
    limit: z.int().min(1).max(1_000).default(50),
  }),
  isLive: false,
  async run({ host }, input) {
    const { server, tool, principal, fromMs, limit } = input;
    const calls = await host.activity({
      limit,
      ...(server === undefined ? {} : { server }),
      ...(tool === undefined ? {} : { tool }),
      ...(principal === undefined ? {} : { principal }),
      ...(fromMs === undefined ? {} : { fromMs }),
    });
    return { calls };
  },
});

/** Whether the record of what was done is whole. */
export const audit = defineOperation({
  name: "audit",
  summary: "check that no record was changed or taken out",
  input: z.strictObject({}),
  isLive: false,
  run: ({ host }) => host.verify(),
});

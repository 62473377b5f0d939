import { z } from "zod";
import { defineOperation, nameInput } from "./operation.ts";

/** New and changed definitions as a readable diff; with `accept` they are pinned as they are. */
export const review = defineOperation({
  name: "review",
  summary: "look at new and changed tool definitions, and accept them",
  input: z.strictObject({
    server: nameInput.optional(),
    tool: nameInput.optional(),
    accept: z.boolean().default(false),
  }),
  isLive: true,
  async run({ host, by }, { server, tool, accept }) {
    const items = (await host.review(server)).filter((item) => tool === undefined || item.tool === tool);
    if (!accept) return { items, accepted: [] };
    const accepted: string[] = [];
    for (const name of new Set(items.map((item) => item.server))) {
      accepted.push(...(await host.accept({ server: name, ...(tool === undefined ? {} : { tool }) }, by)));
    }
    return { items, accepted };
  },
});

import { z } from "zod";
import { defineOperation, nameInput } from "./operation.ts";

/** New and changed definitions as a readable diff; with `accept` exactly what is shown here is pinned. */
export const review = defineOperation({
  name: "review",
  summary: "look at new and changed tool definitions, and accept them",
  input: z.strictObject({
    server: nameInput.optional(),
    tool: nameInput.optional(),
    accept: z.boolean().default(false),
    /** Hashes as they were shown before (`definition`): only these are accepted. Default: whatever is there now. */
    seen: z.array(nameInput).max(10_000).optional(),
  }),
  isLive: true,
  async run({ host, by }, { server, tool, accept, seen }) {
    const items = (await host.review(server)).filter((item) => tool === undefined || item.tool === tool);
    if (!accept) return { items, accepted: [] };
    const shown = items.filter((item) => seen?.includes(item.definition) ?? true);
    const accepted: string[] = [];
    for (const name of new Set(shown.map((item) => item.server))) {
      const definitions = shown.flatMap((item) => (item.server === name ? [item.definition] : []));
      const target = { server: name, definitions, ...(tool === undefined ? {} : { tool }) };
      accepted.push(...(await host.accept(target, by)));
    }
    return { items, accepted };
  },
});

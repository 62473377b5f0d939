import { z } from "zod";
import type { ToolView } from "../host/views.ts";
import { defineOperation, nameInput } from "./operation.ts";

/** Tools with exposed name, grade and where it comes from, pin state, token cost. */
export const tools = defineOperation({
  name: "tools",
  summary: "the tools of all servers, with their grades",
  input: z.strictObject({
    server: nameInput.optional(),
    search: z.string().max(512).optional(),
    refresh: z.boolean().default(false),
  }),
  isLive: true,
  async run({ host, signal }, { server, search, refresh }) {
    const all = await host.tools({ refresh, signal, ...(server === undefined ? {} : { server }) });
    return { tools: search === undefined ? all : all.filter((tool) => matches(tool, search)) };
  },
});

/** Every word of the search occurs in name, title or description. */
function matches(tool: ToolView, search: string): boolean {
  const text = `${tool.name} ${tool.title ?? ""} ${tool.description ?? ""}`.toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/u)
    .every((word) => text.includes(word));
}

import { z } from "zod";
import { PortcullisError } from "../errors.ts";
import type { Host } from "../host/api.ts";
import type { ActivityView } from "../host/views.ts";
import { defineOperation, nameInput } from "./operation.ts";

/** What was done, newest first. */
export const activity = defineOperation({
  name: "activity",
  summary: "what was called, how it ended and what it did",
  input: z.strictObject({
    /** Only this call. */
    call: nameInput.optional(),
    server: nameInput.optional(),
    tool: nameInput.optional(),
    principal: nameInput.optional(),
    fromMs: z.int().optional(),
    limit: z.int().min(1).max(1_000).default(50),
  }),
  isLive: false,
  async run({ host }, input) {
    const { call, server, tool, principal, fromMs, limit } = input;
    if (call !== undefined) return { calls: [await requireCall(host, call)] };
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

/** What is on record of one call. @throws PortcullisError `not_found`. */
export async function requireCall(host: Pick<Host, "activity">, callId: string): Promise<ActivityView> {
  const [call] = await host.activity({ callId, limit: 1 });
  if (call === undefined) throw new PortcullisError("not_found", `there is no call \`${callId}\` on record`);
  return call;
}

/** @throws PortcullisError `usage` where a call of this id is on record already: it is not made again. */
export async function refuseKnownCall(host: Pick<Host, "activity">, callId: string): Promise<void> {
  const [call] = await host.activity({ callId, limit: 1 });
  if (call !== undefined)
    throw new PortcullisError("usage", `the call \`${callId}\` was made before: choose another id`);
}

/** Whether the record of what was done is whole. */
export const audit = defineOperation({
  name: "audit",
  summary: "check that no record was changed or taken out",
  input: z.strictObject({}),
  isLive: false,
  run: ({ host }) => host.verify(),
});

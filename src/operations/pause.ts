import { z } from "zod";
import { defineOperation, nameInput } from "./operation.ts";

const target = z.strictObject({ server: nameInput.optional() });

/** The kill switch: nothing is sent to the server, or to any, until `resume`. */
export const pause = defineOperation({
  name: "pause",
  summary: "send nothing to a server (or to any) until it is resumed",
  input: target,
  isLive: true,
  async run({ host, by }, { server }) {
    await host.pause(server ?? null, by);
    return { paused: server ?? "all" };
  },
});

export const resume = defineOperation({
  name: "resume",
  summary: "let calls through again",
  input: target,
  isLive: true,
  async run({ host, by }, { server }) {
    await host.resume(server ?? null, by);
    return { resumed: server ?? "all" };
  },
});

export const reconnect = defineOperation({
  name: "reconnect",
  summary: "connect to a server (or to all) anew, now",
  input: target,
  isLive: true,
  async run({ host }, { server }) {
    await host.reconnect(server);
    return { reconnecting: server ?? "all" };
  },
});

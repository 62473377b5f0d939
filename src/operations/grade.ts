import { z } from "zod";
import { setGrade, setRollout } from "../config/edit.ts";
import { defineOperation, nameInput } from "./operation.ts";

/** Writes the grade into the configuration, keeping comments, and has it take effect. */
export const grade = defineOperation({
  name: "grade",
  summary: "set the grade of a tool, in the configuration file",
  input: z.strictObject({
    server: nameInput,
    tool: nameInput,
    grade: z.enum(["L0", "L1", "L2", "L3", "off"]),
  }),
  isLive: true,
  async run({ host }, input) {
    const { file } = await host.edit(setGrade(input.server, input.tool, input.grade));
    return { ...input, file };
  },
});

/** Those outside the rollout do not see the server. */
export const rollout = defineOperation({
  name: "rollout",
  summary: "set which share of the principals sees a server, in the configuration file",
  input: z.strictObject({ server: nameInput, percent: z.number().min(0).max(100) }),
  isLive: true,
  async run({ host }, input) {
    const { file } = await host.edit(setRollout(input.server, { percent: input.percent }));
    return { ...input, file };
  },
});

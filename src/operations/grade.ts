import { z } from "zod";
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
  async run({ config }, input) {
    const { file } = await config.edit({ kind: "grade", ...input });
    return { ...input, file };
  },
});

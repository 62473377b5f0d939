import { dirname } from "node:path";
import { z } from "zod";
import { compileConfig } from "../config/compile.ts";
import { thisProcess } from "../config/this-process.ts";
import { defineOperation, nameInput } from "./operation.ts";

/** The policy comes as the object that a configuration file holds, so that nobody can have files read from afar. */
export const replay = defineOperation({
  name: "replay",
  summary: "what another policy would have decided on the recorded calls, without doing anything",
  input: z.strictObject({
    policy: z.record(z.string(), z.unknown()),
    /** Where the relative paths of the policy begin; default: the folder of the configuration in use. */
    baseDir: z.string().max(4_096).optional(),
    server: nameInput.optional(),
    tool: nameInput.optional(),
    principal: nameInput.optional(),
    fromMs: z.int().optional(),
    limit: z.int().min(1).max(10_000).default(1_000),
  }),
  isLive: false,
  async run({ host }, { policy, baseDir, server, tool, principal, fromMs, limit }) {
    const { file, stateDir } = host.config;
    const { cwd, homeDir, platform } = thisProcess();
    const config = compileConfig(policy, {
      file: null,
      baseDir: baseDir ?? (file === null ? cwd : dirname(file)),
      homeDir,
      platform,
      stateDir,
      isStateDirGiven: true,
    });
    return host.replay(config, {
      limit,
      ...(server === undefined ? {} : { server }),
      ...(tool === undefined ? {} : { tool }),
      ...(principal === undefined ? {} : { principal }),
      ...(fromMs === undefined ? {} : { fromMs }),
    });
  },
});

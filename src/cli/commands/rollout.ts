import { PortcullisError } from "../../errors.ts";
import { rollout } from "../../operations/grade.ts";
import type { CommandRun } from "../main.ts";
import { runVerb } from "../verb.ts";

export const run: CommandRun<object> = async (context, [server, share = ""]) => {
  const percent = Number(share.replace(/%$/u, ""));
  if (!Number.isFinite(percent))
    throw new PortcullisError("usage", `the share is a number such as 5%; got \`${share}\``);
  return runVerb(
    context,
    rollout,
    { server, percent },
    (done) => `${done.server} is seen by ${done.percent} % now (${done.file})`,
  );
};

import { systemClock } from "../../base/clock.ts";
import { grants } from "../../operations/approvals.ts";
import { shortTime } from "../output.ts";
import { table } from "../table.ts";
import type { CommandRun } from "../main.ts";
import { runVerb } from "../verb.ts";

export const run: CommandRun<object> = async (context) =>
  runVerb(context, grants, {}, ({ grants: list }) => {
    if (list.length === 0) return "no standing approvals";
    const rows = list.map((grant) => [
      grant.id,
      `${grant.server} ${grant.tool}`,
      grant.scope,
      grant.principal,
      `${grant.usesLeft} left`,
      shortTime(grant.expiresAt, systemClock.now()),
      grant.sentence ?? "",
    ]);
    return table(["ID", "TOOL", "SCOPE", "FOR", "USES", "UNTIL (UTC)", "GIVEN FOR"], rows);
  });

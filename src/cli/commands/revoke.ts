import { revoke } from "../../operations/approvals.ts";
import type { CommandRun } from "../main.ts";
import { runVerb } from "../verb.ts";

export const run: CommandRun<object> = async (context, [id]) =>
  runVerb(context, revoke, { id }, ({ revoked }) => `revoked: ${revoked}`);

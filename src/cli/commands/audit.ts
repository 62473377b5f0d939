import { audit } from "../../operations/activity.ts";
import type { CommandRun } from "../main.ts";
import { renderVerdict } from "../render/activity.ts";
import { runVerb } from "../verb.ts";

const BROKEN = 70;

export const run: CommandRun<object> = async (context) =>
  runVerb(context, audit, {}, renderVerdict, ({ ok }) => (ok ? 0 : BROKEN));

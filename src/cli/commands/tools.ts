import { tools } from "../../operations/tools.ts";
import type { CommandRun } from "../main.ts";
import { renderTools } from "../render/tools.ts";
import { given, runVerb } from "../verb.ts";

export const run: CommandRun<{ search?: string; refresh?: boolean }> = async (context, [server], options) =>
  runVerb(context, tools, given({ server, search: options.search, refresh: options.refresh }), renderTools);

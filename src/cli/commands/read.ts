import { readResource } from "../../operations/read-resource.ts";
import type { CommandRun } from "../main.ts";
import { renderRead } from "../render/outcome.ts";
import { runOutcomeVerb } from "../verb.ts";

export const run: CommandRun<object> = async (context, [server, uri]) =>
  runOutcomeVerb(context, readResource, { server, uri }, renderRead);

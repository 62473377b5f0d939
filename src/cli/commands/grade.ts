import { grade } from "../../operations/grade.ts";
import type { CommandRun } from "../main.ts";
import { runVerb } from "../verb.ts";

export const run: CommandRun<object> = async (context, [server, tool, level]) =>
  runVerb(
    context,
    grade,
    { server, tool, grade: level },
    (done) => `${done.server} ${done.tool} is ${done.grade} now (${done.file})`,
  );

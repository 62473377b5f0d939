import { remove } from "../../operations/add.ts";
import type { CommandRun } from "../main.ts";
import { runVerb } from "../verb.ts";

export const run: CommandRun<object> = async (context, [server]) =>
  runVerb(context, remove, { server }, (done) => {
    const also = done.wasLocked ? ", with what was installed for it" : "";
    return `${done.server} was removed from ${done.file}${also}; its records and accepted definitions stay`;
  });

/** Exits on the first request: with a code (`3`) or by a signal (`SIGKILL`), after a last word on stderr. */
import { writeSync } from "node:fs";

const how = process.argv[2];
process.stdin.once("data", () => {
  writeSync(2, "fatal: \u001b[31mdatabase gone\u001b[0m\n");
  if (how.startsWith("SIG")) process.kill(process.pid, how);
  else process.exit(Number(how));
});

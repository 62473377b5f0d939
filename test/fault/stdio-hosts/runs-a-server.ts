/**
 * A host with one server: a launcher whose stubborn grandchild outlives everything. Writes `{ "pids": [host's child,
 * grandchild] }` on a line, and then waits; `exit` on its stdin makes it exit, a state directory as argument makes it write
 * its children down there.
 */
import { systemClock } from "../../../src/base/clock.ts";
import { systemRandom } from "../../../src/base/random.ts";
import { openSqliteStore } from "../../../src/store/sqlite.ts";
import { createChildRegister } from "../../../src/transport/reaper.ts";
import { createStdioTransport } from "../../../src/transport/stdio.ts";
import { ownServer } from "../../support/own-server.ts";

const [dir] = process.argv.slice(2);
const store =
  dir === undefined
    ? undefined
    : await openSqliteStore({ dir, role: "library", clock: systemClock, random: systemRandom });
const transport = createStdioTransport({
  ...ownServer("stdio-grandchild", ["stay"]),
  clock: systemClock,
  ...(store === undefined
    ? {}
    : { registerChild: createChildRegister(store.documents, store.instances.self.id, systemClock) }),
});
let grandchild = 0;
const announce = (): void => {
  if (grandchild > 0 && transport.stderrTail().includes("ready"))
    console.log(JSON.stringify({ pids: [transport.pid, grandchild] }));
  else setTimeout(announce, 10);
};
await transport.open(
  {
    message(message) {
      if ("method" in message) grandchild = Number(message.params?.["pid"]);
    },
    requestFailed: () => undefined,
    closed: () => undefined,
    odd: () => undefined,
  },
  new AbortController().signal,
);
announce();
process.stdin.once("data", () => process.exit(0));

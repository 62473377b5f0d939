/**
 * An agent that asks a person before anything hard to undo, and looks at how each call ended. Run it with
 *
 *   node --conditions=source examples/agent-with-people.ts
 *
 * The person and the model are stand-ins.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openHost, type ApprovalCallback, type Outcome } from "portcullis";

const folder = await mkdtemp(join(tmpdir(), "portcullis-example-"));
await writeFile(join(folder, "list.txt"), "milk\n");
const askTheUser = async (question: string): Promise<boolean> => question.startsWith("Write");
const say = (text: string): void => console.log(text);

// #region approve
const onApproval: ApprovalCallback = async (approval, signal) => {
  say(approval.sentence); // "Write list.txt"
  for (const row of approval.details) say(`  ${row.name}: ${row.value}`);
  for (const reason of approval.reasons) say(`  because: ${reason.message}`);
  const isYes = await askTheUser(`${approval.sentence}?`);
  if (signal.aborted) return { verdict: "deny", reason: "the host is closing" };
  return isYes ? { verdict: "approve", by: "alice" } : { verdict: "deny", by: "alice", reason: "keep it" };
};
// #endregion

// #region open
const host = await openHost({
  config: {
    mcpServers: {
      files: {
        source: "official",
        command: "./node_modules/.bin/mcp-server-filesystem",
        args: [folder],
        labels: ["internal"], // what it writes stays on this machine
        tools: {
          "read_*": "L0",
          write_file: { grade: "L2", say: "Write {path}" },
          move_file: { grade: "L2", say: "Move {source} to {destination}" },
        },
      },
    },
  },
  onApproval,
});
// #endregion

// #region events
const stop = host.onEvent((event) => {
  if (event.type === "connection.changed")
    say(`${event.key.server}: ${event.from} → ${event.to} (${event.reason})`);
  if (event.type === "finding.raised") say(`look: ${event.finding.message}`);
});
// #endregion

// #region turn
const turn = host.turn({
  principal: "alice",
  conversation: "chat-17",
  userText: "Add bread to the list, then tidy up.",
});
const tools = await turn.tools(); // MCP's own form: name, description, inputSchema
// #endregion
say(`${tools.length} tools`);

// #region outcome
/** The model reads `outcome.model`, however the call ended. This is what the program itself has to do. */
function attend(outcome: Outcome): string {
  if (outcome.effect === "unknown") say(`${outcome.tool} may have been done: look before it is made again`);
  if (outcome.outcome === "auth_required") say(`run: portcullis login ${outcome.server ?? ""}`);
  if (outcome.stale !== undefined) say(`the server is away; this is from ${outcome.stale.asOf}`);
  if (outcome.undoUntil !== undefined) say(`until ${outcome.undoUntil}: host.undo("${outcome.callId}")`);
  return outcome.model;
}
// #endregion

const path = join(folder, "list.txt");
const wanted = [
  { name: "files__read_text_file", arguments: { path } },
  { name: "files__write_file", arguments: { path, content: 7 } },
  { name: "files__write_file", arguments: { path, content: "milk\nbread\n" } },
  { name: "files__move_file", arguments: { source: path, destination: join(folder, "old.txt") } },
];
// #region loop
for (const call of wanted) {
  const outcome = await turn.call(call.name, call.arguments, { signal: AbortSignal.timeout(60_000) });
  say(`${call.name}: ${outcome.outcome}, effect ${outcome.effect}`);
  attend(outcome);
}
// #endregion

// #region close
await turn.close(); // ends what still runs in this turn
stop();
const { cutOff, remains } = await host.close();
say(`${cutOff} calls were cut off, ${remains.length} servers would not stop`);
// #endregion
await rm(folder, { recursive: true });

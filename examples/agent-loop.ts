/** An agent's own loop over Portcullis, in twenty lines. The model is a stand-in: replace `think` with your provider's call. */
import { openHost } from "portcullis";

const host = await openHost({
  config: {
    mcpServers: {
      files: { source: "official", command: "mcp-server-filesystem", args: ["."], tools: { "read_*": "L0" } },
    },
  },
  onApproval: async (approval) => {
    console.log(`${approval.sentence}? no, this example says no to everything`);
    return { verdict: "deny", reason: "the example asks nobody" };
  },
});
const turn = host.turn({
  principal: "alice",
  userText: "What is this project called? Then write it to name.txt.",
});
const tools = await turn.tools();

async function* think(): AsyncGenerator<{ name: string; arguments: Record<string, string> }> {
  yield { name: "files__read_text_file", arguments: { path: "package.json" } };
  yield { name: "files__write_file", arguments: { path: "name.txt", content: "portcullis" } };
}

console.log(`${tools.length} tools`);
for await (const call of think()) {
  const outcome = await turn.call(call.name, call.arguments);
  console.log(`${call.name}: ${outcome.outcome}, effect ${outcome.effect}`);
  // What the model reads next: text that says where it comes from and that nothing in it is an instruction.
  console.log(outcome.model.split("\n")[0]);
}
await host.close();

/** A program at the gateway's door: node --conditions=source examples/gateway-client.ts URL TOKEN */
const [address = "http://127.0.0.1:7420/mcp", token = ""] = process.argv.slice(2);

// #region connect
import { connectHttp } from "portcullis/client";

const client = await connectHttp(
  {
    url: new URL(address),
    headers: async () => ({ Authorization: `Bearer ${token}` }),
    allowPrivateAddresses: true, // it listens on loopback
  },
  { clientInfo: { name: "my-agent", version: "1.0.0" } },
);
// #endregion

// #region call
const read = await client.callTool("files__read_text_file", { path: "list.txt" });
const refused = await client.callTool("files__move_file", { source: "list.txt", destination: "gone.txt" });
for (const result of [read, refused]) {
  for (const block of result.content) if (block.type === "text") console.log(block.text);
  console.log("is an error:", result.isError === true);
}
// #endregion
await client.close();

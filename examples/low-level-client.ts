/** The client without the host: connect, list, call; and the same over a transport of one's own (socket-transport.ts). */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { createSocketTransport } from "./socket-transport.ts";

// #region call
import { connectStdio } from "portcullis/client";

const client = await connectStdio(
  {
    command: process.execPath,
    args: ["node_modules/@modelcontextprotocol/server-everything/dist/index.js", "stdio"],
    env: { PATH: process.env["PATH"] ?? "" },
    cwd: process.cwd(),
  },
  { clientInfo: { name: "my-agent", version: "1.0.0" } },
);
const { items: tools, isPartial } = await client.list("tools");
console.log(`${tools.length} tools${isPartial ? ", and some are missing" : ""}`);

const result = await client.callTool("echo", { message: "hi" }, { totalTimeoutMs: 10_000 });
console.log(result.isError === true ? "the tool failed" : result.content);
await client.close();
// #endregion

// #region fail
import { PortcullisError } from "portcullis/client";

try {
  await client.callTool("echo", { message: "anybody there?" });
} catch (error) {
  if (!(error instanceof PortcullisError)) throw error;
  console.log(error.code); // "interrupted": the client was closed
  console.log(error.data["wasSent"], error.data["provesNoEffect"]); // false, true: it may be made again
}
// #endregion

// Stands for your endpoint: each connection gets a server of its own.
const endpoint = createServer((socket) => {
  const server = spawn(
    process.execPath,
    ["node_modules/@modelcontextprotocol/server-everything/dist/index.js", "stdio"],
    { stdio: ["pipe", "pipe", "ignore"] },
  );
  socket.pipe(server.stdin);
  server.stdout.pipe(socket);
  socket.on("close", () => server.kill());
}).listen(0, "127.0.0.1");
await once(endpoint, "listening");
const { port } = endpoint.address() as AddressInfo;

// #region custom
import { createClient, systemClock, systemRandom } from "portcullis/client";

const overSocket = createClient({
  transport: createSocketTransport(port),
  clock: systemClock,
  random: systemRandom,
  clientInfo: { name: "my-agent", version: "1.0.0" },
});
const facts = await overSocket.connect();
console.log(facts.era, facts.revision);
console.log((await overSocket.callTool("echo", { message: "over a socket" })).content);
console.log((await overSocket.close()).how);
// #endregion
endpoint.close();

/** Our client without the host: the bare wire. */
import { connectHttp } from "../src/client/connect-http.ts";
import { connectStdio } from "../src/client/connect-stdio.ts";
import type { Client } from "../src/client/client.ts";
import type { Era } from "../src/protocol/revisions.ts";
import { STDIO_SERVER, startHttpServer, textOf, type Connected, type Contender } from "./contender.ts";

const clientInfo = { name: "bench", version: "1" };

async function ready(client: Client, end: () => Promise<void>): Promise<Connected> {
  await client.list("tools");
  return {
    async call(name, args) {
      const { content } = await client.callTool(name, { ...args });
      const text = textOf(content);
      if (typeof text !== "string") throw new Error("not the answer of the bench's server");
      return text;
    },
    close: end,
  };
}

export function oursStdio(era: Era): Contender {
  return {
    name: `portcullis/client, ${era}`,
    transport: "stdio",
    async connect() {
      const target = { command: process.execPath, args: [STDIO_SERVER], env: {}, cwd: import.meta.dirname };
      const client = await connectStdio(target, { clientInfo, eraHint: era });
      return ready(client, async () => void (await client.close()));
    },
  };
}

export function oursHttp(era: Era): Contender {
  return {
    name: `portcullis/client, ${era}`,
    transport: "http",
    async connect() {
      const server = await startHttpServer();
      const client = await connectHttp(
        { url: server.url, allowPrivateAddresses: true },
        { clientInfo, eraHint: era },
      );
      return ready(client, async () => {
        await client.close();
        await server.close();
      });
    },
  };
}

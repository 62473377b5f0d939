/** The official SDK's client, as its documentation shows it. */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { STDIO_SERVER, startHttpServer, type Connected, type Contender } from "./contender.ts";

type Era = "modern" | "legacy";

function createSdkClient(era: Era): Client {
  const mode = era === "modern" ? { pin: "2026-07-28" } : "legacy";
  return new Client({ name: "bench", version: "1" }, { versionNegotiation: { mode } });
}

async function ready(client: Client, end: () => Promise<void>): Promise<Connected> {
  await client.listTools();
  return {
    async call(name, args) {
      const { content } = await client.callTool({ name, arguments: { ...args } });
      const [block] = content;
      if (block?.type !== "text") throw new Error("not the answer of the bench's server");
      return block.text;
    },
    close: end,
  };
}

export function officialStdio(era: Era): Contender {
  return {
    name: `official SDK 2.4.0, ${era}`,
    transport: "stdio",
    async connect() {
      const client = createSdkClient(era);
      await client.connect(new StdioClientTransport({ command: process.execPath, args: [STDIO_SERVER] }));
      return ready(client, () => client.close());
    },
  };
}

export function officialHttp(era: Era): Contender {
  return overHttp(`official SDK 2.4.0, ${era}`, era, "http.mjs");
}

/** What a gateway on the official SDK would be made of, without the gateway. */
export const officialBothEnds: Contender = overHttp(
  "official SDK 2.4.0 on both ends, no gateway",
  "modern",
  "sdk-http.mjs",
);

function overHttp(name: string, era: Era, script: string): Contender {
  return {
    name,
    transport: "http",
    async connect() {
      const server = await startHttpServer(script);
      const client = createSdkClient(era);
      await client.connect(new StreamableHTTPClientTransport(server.url));
      return ready(client, async () => {
        await client.close();
        await server.close();
      });
    },
  };
}

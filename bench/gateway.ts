/** A governed call through the gateway: HTTP in, HTTP out, each of the three in a process of its own. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonObject } from "../src/base/json.ts";
import { startHttpServer, startServer, type Contender } from "./contender.ts";
import { postsTo } from "./floor.ts";

/** More than are in flight, so that no call waits for another by our own limit. */
const CONCURRENCY = 128;

export interface RunningGateway {
  readonly url: URL;
  readonly token: string;
  /** When its modules were loaded and its host began to open; milliseconds since the epoch. */
  readonly openedAt: number;
  close(): Promise<void>;
}

/** @param mcpServers entries as in a configuration file. */
export async function startGateway(mcpServers: JsonObject, stateDir: string): Promise<RunningGateway> {
  const config = {
    mcpServers,
    limits: { concurrency: CONCURRENCY },
    gateway: { listen: "127.0.0.1:0" },
  };
  const { line, close } = await startServer("gateway.mjs", JSON.stringify(config), stateDir);
  const said = JSON.parse(line) as {
    readonly url: string;
    readonly token: string;
    readonly openedAt: number;
  };
  return { ...said, url: new URL(said.url), close };
}

export const gatewayHttp: Contender = {
  name: "portcullis, gateway in between",
  transport: "http",
  async connect() {
    const stateDir = mkdtempSync(join(tmpdir(), "portcullis-bench-"));
    const server = await startHttpServer();
    const bench = {
      url: server.url.href,
      allowPrivateAddresses: true,
      source: "own",
      tools: { "*": "L0" },
      limits: { concurrency: CONCURRENCY },
    };
    const gateway = await startGateway({ bench }, stateDir);
    const posts = postsTo(gateway.url, { authorization: `Bearer ${gateway.token}` });
    await posts.request("tools/list", {});
    return {
      call: async (tool, args) => unframed(await posts.call(`bench__${tool}`, args)),
      async close() {
        await posts.close();
        await gateway.close();
        await server.close();
        rmSync(stateDir, { recursive: true, force: true });
      },
    };
  },
};

/** The server's text without the marks around it. */
function unframed(text: string): string {
  return text.slice(text.indexOf(">\n") + 2, text.lastIndexOf("\n</untrusted "));
}

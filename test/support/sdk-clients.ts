/** The official SDK's clients of both generations, in front of the gateway over HTTP or of `portcullis serve --stdio`. */
import { fileURLToPath } from "node:url";
import { Client as Client2, StreamableHTTPClientTransport as Http2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as Stdio2 } from "@modelcontextprotocol/client/stdio";
import { Client as Client1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as Stdio1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as Http1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { GatewayBench } from "./gateway-kit.ts";
import type { Workbench } from "./workbench.ts";

export type Target =
  | { readonly url: string; readonly token: string }
  | { readonly words: readonly string[]; readonly cwd: string };

const info = { name: "sdk", version: "1" };

type Options2 = NonNullable<ConstructorParameters<typeof Client2>[1]>;
type Options1 = NonNullable<ConstructorParameters<typeof Client1>[1]>;

/** The gateway of `bench`, over HTTP. */
export function overHttp({ gateway }: GatewayBench): Target {
  return { url: `${gateway.url}/mcp`, token: gateway.tokens.mcp };
}

/** A gateway of its own on the configuration of `bench`. */
export function overStdio(bench: Workbench): Target {
  const cli = fileURLToPath(new URL("../../bin/portcullis.mjs", import.meta.url));
  const words = [cli, "--config", bench.configFile, "--state", bench.stateDir, "serve", "--stdio"];
  return { words, cwd: bench.dir };
}

/** SDK 2.4.0. @param prepare is given the client before it connects. */
export async function openSdk2(
  mode: "legacy" | "auto" | { pin: string },
  target: Target,
  options: Options2 = {},
  prepare: (client: Client2) => void = () => undefined,
): Promise<Client2> {
  const client = new Client2(info, { versionNegotiation: { mode }, ...options });
  prepare(client);
  await client.connect(
    "url" in target
      ? new Http2(new URL(target.url), {
          requestInit: { headers: { authorization: `Bearer ${target.token}` } },
        })
      : new Stdio2({ command: process.execPath, args: [...target.words], cwd: target.cwd, stderr: "ignore" }),
  );
  return client;
}

/** SDK 1.32.2, which knows the legacy era alone. */
export async function openSdk1(
  target: Target,
  options: Options1 = {},
  prepare: (client: Client1) => void = () => undefined,
): Promise<Client1> {
  const client = new Client1(info, options);
  prepare(client);
  const transport =
    "url" in target
      ? new Http1(new URL(target.url), {
          requestInit: { headers: { authorization: `Bearer ${target.token}` } },
        })
      : new Stdio1({ command: process.execPath, args: [...target.words], cwd: target.cwd, stderr: "ignore" });
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  return client;
}

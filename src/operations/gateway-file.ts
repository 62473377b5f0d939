/**
 * How a running gateway is found by the commands on the same state: a 0600 file in the state directory. The token in it
 * opens the admin API; the agent's token for `/mcp` is another one and opens nothing else.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { parseJson } from "../base/json.ts";

const gatewayFile = z.strictObject({
  pid: z.int(),
  /** Base address, for example `http://127.0.0.1:7420`. */
  url: z.string(),
  adminToken: z.string(),
  mcpToken: z.string(),
});

export type GatewayFile = z.output<typeof gatewayFile>;

/** Its path in a state directory. */
export function gatewayFilePath(stateDir: string): string {
  return join(stateDir, "gateway.json");
}

/** The gateway that runs on this state, as far as the file and the process table tell; `undefined` where none does. */
export function findGateway(stateDir: string): GatewayFile | undefined {
  let text: string;
  try {
    text = readFileSync(gatewayFilePath(stateDir), "utf8");
  } catch {
    return undefined;
  }
  const checked = gatewayFile.safeParse(parseJson(text));
  return checked.success && isAlive(checked.data.pid) ? checked.data : undefined;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

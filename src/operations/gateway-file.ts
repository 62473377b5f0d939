/**
 * How a running gateway is found by the commands on the same state: a 0600 file in the state directory. The token in it
 * opens the admin API; the agent's token for `/mcp` is another one and opens nothing else.
 */
import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { parseJson } from "../base/json.ts";

const gatewayFile = z.strictObject({
  /** `null`: none runs; the tokens stay, so that what agents were configured with stays valid. */
  pid: z.int().min(1).nullable(),
  /** Base address, for example `http://127.0.0.1:7420`. */
  url: z.string(),
  adminToken: z.string(),
  mcpToken: z.string(),
  /** Absolute path of the configuration that it serves; `null`: an object given in code. */
  configFile: z.string().nullable().default(null),
});

export type GatewayFile = z.output<typeof gatewayFile>;

/** Its path in a state directory. */
export function gatewayFilePath(stateDir: string): string {
  return join(stateDir, "gateway.json");
}

/** The file as it stands, whether its gateway runs or not; `undefined` where there is none that can be read. */
export function readGatewayFile(stateDir: string): GatewayFile | undefined {
  try {
    const checked = gatewayFile.safeParse(parseJson(readFileSync(gatewayFilePath(stateDir), "utf8")));
    return checked.success ? checked.data : undefined;
  } catch {
    return undefined;
  }
}

/** The gateway that runs on this state, as far as the file and the process table tell; `undefined` where none does. */
export function findGateway(stateDir: string): GatewayFile | undefined {
  const file = readGatewayFile(stateDir);
  return file !== undefined && file.pid !== null && isAlive(file.pid) ? file : undefined;
}

/**
 * How a gateway proves that it is the one of the file, before anybody sends it the token: it answers
 * `GET /api/hello?nonce=NONCE` with this as `proof`.
 */
export function gatewayProof(adminToken: string, nonce: string): string {
  return createHmac("sha256", adminToken).update(`portcullis gateway ${nonce}`).digest("base64url");
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/**
 * Is the gateway of the file really there? Asked before anybody sends it a token: after a crash its process id may belong to
 * anybody, and its port to another program.
 */
import { systemClock } from "../base/clock.ts";
import { isJsonObject, parseJson } from "../base/json.ts";
import { randomId, systemRandom } from "../base/random.ts";
import { createHttpPort } from "../egress/dial.ts";
import { findGateway, gatewayProof, type GatewayFile } from "../operations/gateway-file.ts";

const HELLO_MS = 2_000;
const MAX_HELLO_BYTES = 64 * 1024;

/** The gateway that serves this state, if it shows that it knows the token of the file. */
export async function findLivingGateway(stateDir: string): Promise<GatewayFile | undefined> {
  const file = findGateway(stateDir);
  return file !== undefined && (await provesItself(file)) ? file : undefined;
}

async function provesItself({ url, adminToken }: GatewayFile): Promise<boolean> {
  const port = createHttpPort({
    clock: systemClock,
    rules: { origins: [new URL(url).origin], allow: [], allowPrivateAddresses: true },
  });
  const nonce = randomId(systemRandom);
  try {
    const response = await port.request({
      method: "GET",
      url: new URL(`/api/hello?nonce=${nonce}`, url),
      headers: {},
      signal: AbortSignal.timeout(HELLO_MS),
      maxBodyBytes: MAX_HELLO_BYTES,
    });
    const chunks: Uint8Array[] = [];
    for await (const chunk of response.body) chunks.push(chunk);
    const answer = parseJson(Buffer.concat(chunks).toString("utf8"));
    return isJsonObject(answer) && answer["proof"] === gatewayProof(adminToken, nonce);
  } catch {
    return false;
  } finally {
    await port.close();
  }
}

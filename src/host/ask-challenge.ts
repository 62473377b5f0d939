/** Asks a server once, without a token, whether it wants authorization: the question that a login begins with. */
import type { SeenRefusal } from "../auth/authorization.ts";
import { methods } from "../protocol/methods.ts";
import { LATEST_MODERN } from "../protocol/revisions.ts";
import type { HttpPort } from "../transport/http-port.ts";
import { VERSION } from "../version.ts";
import { requestHeaders } from "../wire/headers.ts";
import { envelopeMeta } from "../wire/modern.ts";

const MAX_BODY_BYTES = 1024 * 1024;

/**
 * `server/discover`, which changes nothing; a legacy server behind authorization refuses it before it reads it.
 *
 * @param headers of the entry.
 * @returns the refusal; `null` where there was another answer. @throws what the port throws.
 */
export async function askChallenge(
  port: HttpPort,
  url: URL,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<SeenRefusal | null> {
  const clientInfo = { name: "portcullis", version: VERSION };
  const params = { _meta: envelopeMeta({ revision: LATEST_MODERN, capabilities: {}, clientInfo }) };
  const response = await port.request({
    method: "POST",
    url,
    headers: {
      ...headers,
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      ...requestHeaders(LATEST_MODERN, methods.discover, params, undefined),
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: methods.discover, params }),
    signal,
    maxBodyBytes: MAX_BODY_BYTES,
  });
  await response.body[Symbol.asyncIterator]().return?.();
  const { status } = response;
  return status === 401 || status === 403 ? { wwwAuthenticate: response.headers["www-authenticate"] } : null;
}

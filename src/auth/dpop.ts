/**
 * Proof of possession (RFC 9449): a key of its own for each set of tokens, a fresh proof for every request, and the nonces that
 * either side asks for. The key is stored with the tokens, sealed like them.
 */
import { webcrypto } from "node:crypto";
import * as oauth from "oauth4webapi";
import type { HttpRequest, HttpResponse } from "../transport/http-port.ts";
import type { AuthServer } from "./server-metadata.ts";
import type { AuthSettings } from "./settings.ts";

/** A private key as JWK, ES256. */
export type DpopKey = {
  readonly kty: "EC";
  readonly crv: "P-256";
  readonly x: string;
  readonly y: string;
  readonly d: string;
};

export interface DpopProofs {
  /** For the requests of oauth4webapi to the authorization server. */
  readonly handle: oauth.DPoPHandle;
  readonly key: DpopKey;
  /** Thumbprint of the key, for `dpop_jkt` (RFC 9449 §10). */
  readonly thumbprint: string;
  /**
   * Sends a request to the resource with token and proof, once more where the server asks for a nonce: that answer proves
   * that nothing was done.
   */
  send(
    request: HttpRequest,
    accessToken: string,
    send: (request: HttpRequest) => Promise<HttpResponse>,
  ): Promise<HttpResponse>;
}

/** Whether tokens are to be bound to a key: the operator's word, else where the resource demands it. */
export function wantsDpop(
  settings: Pick<AuthSettings, "dpop">,
  facts: { readonly isDemanded: boolean; readonly server: Pick<AuthServer, "dpopAlgorithms"> },
): boolean {
  if (settings.dpop !== "auto") return settings.dpop === "required";
  return facts.isDemanded && facts.server.dpopAlgorithms?.includes("ES256") !== false;
}

export async function createDpopKey(): Promise<DpopKey> {
  const pair = await oauth.generateKeyPair("ES256", { extractable: true });
  const {
    x = "",
    y = "",
    d = "",
  } = await webcrypto.subtle.exportKey("jwk", pair.privateKey as webcrypto.CryptoKey);
  return { kty: "EC", crv: "P-256", x, y, d };
}

export async function createDpopProofs(key: DpopKey): Promise<DpopProofs> {
  const algorithm = { name: "ECDSA", namedCurve: "P-256" };
  const { d: _private, ...publicJwk } = key;
  const { subtle } = webcrypto;
  const privateKey = await subtle.importKey("jwk", { ...key }, algorithm, false, ["sign"]);
  const publicKey = await subtle.importKey("jwk", publicJwk, algorithm, true, ["verify"]);
  const handle = oauth.DPoP({}, { privateKey, publicKey });

  const sendOnce = async (
    request: HttpRequest,
    accessToken: string,
    send: (request: HttpRequest) => Promise<HttpResponse>,
  ): Promise<HttpResponse> => {
    let answer: HttpResponse | undefined;
    const options: oauth.ProtectedResourceRequestOptions = {
      DPoP: handle,
      [oauth.allowInsecureRequests]: request.url.protocol === "http:",
      // The library makes the proof and reads the nonce; the message itself goes the usual way, body and all.
      [oauth.customFetch]: async (_url, { headers }) => {
        const { authorization = "", dpop = "" } = headers;
        answer = await send({ ...request, headers: { ...request.headers, authorization, dpop } });
        const nonce = answer.headers["dpop-nonce"];
        return new Response(null, nonce === undefined ? {} : { headers: { "dpop-nonce": nonce } });
      },
    };
    await oauth.protectedResourceRequest(
      accessToken,
      request.method,
      request.url,
      new Headers(),
      null,
      options,
    );
    if (answer === undefined) throw new Error("the request was not made");
    return answer;
  };

  return {
    handle,
    key,
    thumbprint: await handle.calculateThumbprint(),
    async send(request, accessToken, send) {
      const first = await sendOnce(request, accessToken, send);
      if (!asksForNonce(first)) return first;
      await first.body[Symbol.asyncIterator]().return?.();
      return sendOnce(request, accessToken, send);
    },
  };
}

function asksForNonce(response: HttpResponse): boolean {
  if (response.status !== 401 || response.headers["dpop-nonce"] === undefined) return false;
  return /\buse_dpop_nonce\b/.test(response.headers["www-authenticate"] ?? "");
}

/**
 * Puts the token on every request to the configured origin, late, and on nothing else (AUTH-57, AUTH-58). Sees every answer, and
 * so knows what no single request can: whether a token that was got because of a refusal is refused as well. Then the
 * connection is over, and nothing more is sent.
 */
import { PortcullisError } from "../errors.ts";
import { readChallenge } from "./challenge.ts";
import type { HttpPort, HttpRequest, HttpResponse } from "../transport/http-port.ts";
import { createDpopProofs, type DpopProofs } from "./dpop.ts";
import type { TokenSet } from "./tokens.ts";

/** What is known of the tokens of one connection while it lives. */
export interface TokenUse {
  /** Whether the server refused this access token; the last few are remembered. */
  isRefused(accessToken: string): boolean;
  /** From now on a refusal of `tokens` ends the connection, until one success. @param after the status that they are the answer to. */
  expect(tokens: TokenSet, after: number): void;
  /** The port of a transport. */
  port(inner: HttpPort): HttpPort;
}

export interface TokenUseOptions {
  /** The origin of the server: the only one that gets the token. */
  readonly origin: string;
  /** `undefined` where it is known already that there are none. */
  readonly current: (signal: AbortSignal | undefined) => Promise<TokenSet | undefined> | undefined;
  /** A second refusal: told once. */
  readonly onExhausted: (error: PortcullisError) => void;
}

const MAX_REFUSED = 8;

export function createTokenUse(options: TokenUseOptions): TokenUse {
  const refused: string[] = [];
  /** Got because of a refusal, and not proven yet. */
  let onTrial: { readonly accessToken: string; readonly after: number } | undefined;
  let exhausted: PortcullisError | undefined;
  let proofs: { readonly of: string; readonly made: Promise<DpopProofs> } | undefined;

  const proofsOf = (tokens: TokenSet): Promise<DpopProofs> | undefined => {
    if (tokens.dpopKey === null || tokens.tokenType !== "dpop") return undefined;
    if (proofs?.of !== tokens.dpopKey.d)
      proofs = { of: tokens.dpopKey.d, made: createDpopProofs(tokens.dpopKey) };
    return proofs.made;
  };

  /** Only POST carries requests; the other methods are refused by many servers whatever the token is. */
  const watch = (request: HttpRequest, { accessToken }: TokenSet, response: HttpResponse): void => {
    const { status } = response;
    const isOnTrial = onTrial?.accessToken === accessToken;
    if (status !== 401 && status !== 403) {
      if (isOnTrial && status < 400) onTrial = undefined;
      return;
    }
    if (!refused.includes(accessToken)) refused.push(accessToken);
    if (refused.length > MAX_REFUSED) refused.shift();
    if (!isOnTrial || request.method !== "POST" || exhausted !== undefined) return;
    const wwwAuthenticate = response.headers["www-authenticate"] ?? "";
    // A new token for an old one may reach less far than an operation needs: that is another question.
    if (
      status === 403 &&
      onTrial?.after === 401 &&
      readChallenge(wwwAuthenticate).error === "insufficient_scope"
    )
      return;
    exhausted = new PortcullisError(
      "auth_required",
      `the server refused the new token as well, with status ${status}`,
      {
        data: { status, wasSent: false, provesNoEffect: true },
      },
    );
    options.onExhausted(exhausted);
  };

  const ask = async (inner: HttpPort, request: HttpRequest, tokens: TokenSet | undefined) => {
    if (tokens === undefined) return inner.request(request);
    const response = await send(inner, request, tokens, await proofsOf(tokens));
    watch(request, tokens, response);
    return response;
  };

  return {
    isRefused: (accessToken) => refused.includes(accessToken),
    expect({ accessToken }, after) {
      onTrial = { accessToken, after };
    },
    port: (inner) => ({
      request(request) {
        if (request.url.origin !== options.origin) return inner.request(request);
        if (exhausted !== undefined) return Promise.reject(exhausted);
        const known = options.current(request.signal);
        return known === undefined
          ? inner.request(request)
          : known.then((tokens) => ask(inner, request, tokens));
      },
      close: () => inner.close(),
    }),
  };
}

async function send(
  inner: HttpPort,
  request: HttpRequest,
  tokens: TokenSet,
  proofs: DpopProofs | undefined,
): Promise<HttpResponse> {
  const others = Object.entries(request.headers).filter(([name]) => name.toLowerCase() !== "authorization");
  const bare = { ...request, headers: Object.fromEntries(others) };
  if (proofs !== undefined) return proofs.send(bare, tokens.accessToken, (ready) => inner.request(ready));
  return inner.request({
    ...bare,
    headers: { ...bare.headers, authorization: `Bearer ${tokens.accessToken}` },
  });
}

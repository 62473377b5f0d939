/**
 * The way of this folder to the network: one guarded port per origin, opened when first asked for and closed with the errand.
 * Bodies are capped, redirects are never followed, and no text of a body ever gets into an error.
 */
import type * as oauth from "oauth4webapi";
import type { HttpPort, HttpResponse } from "../transport/http-port.ts";
import { linkAbort } from "../base/abort.ts";
import type { Clock } from "../base/clock.ts";
import { isJsonObject, parseJson, type JsonObject } from "../base/json.ts";
import { PortcullisError } from "../errors.ts";

/** Makes a port that may reach `origin` and nothing else, under the egress rules of the server's entry. */
export type OpenPort = (origin: string) => HttpPort;

export interface NetAccess {
  readonly openPort: OpenPort;
  readonly clock: Clock;
}

/** What came of asking for a document. */
export type JsonAnswer =
  | { readonly kind: "json"; readonly value: JsonObject }
  /** `reason` in words for a person; `isDown`: it may be there another time. */
  | { readonly kind: "miss"; readonly reason: string; readonly isDown: boolean };

/** What `customFetch` of oauth4webapi is called with. */
interface FetchOptions {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: oauth.ProtectedResourceRequestBody;
}

export interface AuthHttp {
  /** Asks for a JSON document. @throws PortcullisError `egress_denied`, or the signal's reason. */
  getJson(url: URL): Promise<JsonAnswer>;
  /** For oauth4webapi. @throws what the port throws. */
  readonly fetch: (url: string, options: FetchOptions) => Promise<Response>;
  close(): Promise<void>;
}

const MAX_BODY_BYTES = 256 * 1024;
/** One request in all, so that a drip of bytes does not hold a login. */
const REQUEST_MS = 30_000;
const HEAD_TIMEOUT_MS = 15_000;
const IDLE_TIMEOUT_MS = 10_000;
const NO_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

function createAuthHttp({ openPort, clock }: NetAccess, signal: AbortSignal): AuthHttp {
  const ports = new Map<string, HttpPort>();
  const portFor = (url: URL): HttpPort => {
    const known = ports.get(url.origin);
    if (known !== undefined) return known;
    const port = openPort(url.origin);
    ports.set(url.origin, port);
    return port;
  };
  const ask = async (url: URL, options: FetchOptions): Promise<{ response: HttpResponse; text: string }> => {
    const link = linkAbort(signal);
    const timer = clock.timer(REQUEST_MS, () =>
      link.abort(
        new PortcullisError("timed_out", `${url.origin} did not answer within ${REQUEST_MS / 1_000} s`),
      ),
    );
    try {
      const response = await portFor(url).request({
        method: options.method === "POST" ? "POST" : "GET",
        url,
        headers: options.headers,
        ...textOf(options.body),
        signal: link.signal,
        headTimeoutMs: HEAD_TIMEOUT_MS,
        idleTimeoutMs: IDLE_TIMEOUT_MS,
        maxBodyBytes: MAX_BODY_BYTES,
      });
      return { response, text: await readBody(response) };
    } finally {
      timer.cancel();
      link.unlink();
    }
  };

  return {
    async getJson(url) {
      try {
        const { response, text } = await ask(url, { method: "GET", headers: { accept: "application/json" } });
        const { status } = response;
        if (status !== 200)
          return { kind: "miss", reason: `answered ${status}`, isDown: status >= 500 || status === 429 };
        const value = parseJson(text);
        return isJsonObject(value)
          ? { kind: "json", value }
          : { kind: "miss", reason: "answered something else than a JSON object", isDown: false };
      } catch (error) {
        if (signal.aborted || !(error instanceof PortcullisError) || error.code === "egress_denied")
          throw error;
        return { kind: "miss", reason: `could not be read (${error.code})`, isDown: true };
      }
    },
    async fetch(address, options) {
      const { response, text } = await ask(new URL(address), options);
      const { "www-authenticate": _challenge, ...headers } = response.headers;
      // Without the challenge: the OAuth error in the body says more, and the library would look no further.
      return new Response(NO_BODY.has(response.status) ? null : text, { status: response.status, headers });
    },
    async close() {
      await Promise.all([...ports.values()].map((port) => port.close()));
    },
  };
}

/** The library sends forms and JSON texts. */
function textOf(body: FetchOptions["body"]): { readonly body?: string } {
  if (body instanceof URLSearchParams) return { body: body.toString() };
  return typeof body === "string" ? { body } : {};
}

async function readBody(response: HttpResponse): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

/** Runs one errand with ports of its own. */
export async function withAuthHttp<T>(
  access: NetAccess,
  signal: AbortSignal,
  errand: (http: AuthHttp) => Promise<T>,
): Promise<T> {
  const http = createAuthHttp(access, signal);
  try {
    return await errand(http);
  } finally {
    await http.close();
  }
}

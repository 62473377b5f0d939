/** A connected client in one call, over Streamable HTTP: for programs that use the client without the host. */
import { PortcullisError } from "../errors.ts";
import { systemClock } from "../base/clock.ts";
import { systemRandom } from "../base/random.ts";
import { createHttpPort } from "../egress/dial.ts";
import { createHttpTransport } from "../transport/http.ts";
import { createClient, type Client } from "./client.ts";
import type { ConnectOptions } from "./options.ts";

export interface HttpTarget {
  readonly url: URL;
  /** Sent with every request to this URL's origin; made anew each time, so that tokens may change. */
  readonly headers?: () => Promise<Readonly<Record<string, string>>>;
  /** Permits loopback, private and link-local addresses, and plain http to loopback. Default false. */
  readonly allowPrivateAddresses?: boolean;
}

/**
 * Settles the era and shakes hands. Only the origin of `url` is ever connected to; redirects to others are refused. Whoever
 * called closes the client; a legacy session is ended then.
 *
 * @throws PortcullisError like `Client.connect`, `egress_denied`, and `usage` where `url` is none.
 */
export async function connectHttp(target: HttpTarget, options: ConnectOptions): Promise<Client> {
  const { url }: { readonly url?: unknown } = target;
  if (!(url instanceof URL)) throw new PortcullisError("usage", "`url` must be a URL object: `new URL(…)`");
  const { signal, clock = systemClock, ...others } = options;
  const port = createHttpPort({
    clock,
    rules: {
      origins: [target.url.origin],
      allow: [],
      allowPrivateAddresses: target.allowPrivateAddresses ?? false,
    },
  });
  const transport = createHttpTransport({
    url: target.url,
    headers: target.headers ?? (() => Promise.resolve({})),
    port,
    clock,
    random: systemRandom,
  });
  const client = createClient({ ...others, transport, clock, random: systemRandom });
  await client.connect(signal);
  return client;
}

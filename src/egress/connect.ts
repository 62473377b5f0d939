/**
 * Opens one socket to a URL's host, guarded: the name is resolved once, every answer is judged, only judged addresses
 * are connected to (so a second, different DNS answer has nothing to bite on), and the peer's address is judged again
 * before a byte is sent. No other file opens a socket to a server.
 */
import { lookup } from "node:dns";
import { connect as connectTcp, isIP } from "node:net";
import type { NetConnectOpts, Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { TLSSocket } from "node:tls";
import { abortReason, throwIfAborted, untilAborted } from "../base/abort.ts";
import type { Clock, Timer } from "../base/clock.ts";
import { PortcullisError } from "../errors.ts";
import type { EgressDecision, EgressRules } from "./rules.ts";
import { evaluateAddress } from "./rules.ts";

/** Resolves a name to addresses, in the order in which they are to be tried. @throws a Node error with a `code`. */
export type Resolver = (hostname: string) => Promise<readonly string[]>;

export interface ConnectOptions {
  readonly rules: EgressRules;
  readonly clock: Clock;
  readonly resolve: Resolver;
  /** PEM certificates that are trusted; absent: those of Node. */
  readonly ca: readonly string[] | undefined;
  /** TLS sessions by host, for resumption. */
  readonly tlsSessions: Map<string, Buffer>;
}

/** How long an address is tried alone before the next one is tried beside it (RFC 8305 calls it Connection Attempt Delay). */
const ATTEMPT_DELAY_MS = 250;
const MAX_ADDRESSES = 16;
const TCP_KEEP_ALIVE_MS = 60_000;
const READ_CHUNK_BYTES = 64 * 1024;

/** The operating system's resolver: hosts file, search domains, both families. */
export const systemResolver: Resolver = (hostname) =>
  new Promise((resolve, reject) => {
    lookup(hostname, { all: true, order: "verbatim" }, (error, answers) => {
      if (error === null) resolve(answers.map((answer) => answer.address));
      else reject(error);
    });
  });

/**
 * A connected socket, with TLS done for `https:`.
 *
 * @throws PortcullisError `egress_denied`; the signal's reason; or the plain error of Node, for the edge to convert.
 */
export async function connectGuarded(
  url: URL,
  options: ConnectOptions,
  signal: AbortSignal,
): Promise<Socket> {
  throwIfAborted(signal);
  const hostname = url.hostname.startsWith("[") ? url.hostname.slice(1, -1) : url.hostname;
  const answers = isIP(hostname) === 0 ? await untilAborted(options.resolve(hostname), signal) : [hostname];
  const addresses = [...new Set(answers)].slice(0, MAX_ADDRESSES);
  for (const address of addresses) demand(evaluateAddress(address, url, options.rules), url);
  if (addresses.length === 0)
    throw Object.assign(new Error(`no address for ${hostname}`), { code: "ENOTFOUND" });
  const port = Number(url.port === "" ? (url.protocol === "https:" ? 443 : 80) : url.port);
  const socket = await connectFirst(addresses, port, options.clock, signal);
  try {
    demand(evaluateAddress(socket.remoteAddress ?? "", url, options.rules), url);
    return url.protocol === "https:" ? await secure(socket, hostname, options, signal) : socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

function demand(decision: EgressDecision, url: URL): void {
  if (decision.allowed) return;
  throw new PortcullisError("egress_denied", decision.reason, {
    data: { origin: url.origin, wasSent: false },
  });
}

/** Tries the addresses one after another, the next one early where one is slow; the first to connect wins. */
function connectFirst(
  addresses: readonly string[],
  port: number,
  clock: Clock,
  signal: AbortSignal,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const waiting = [...addresses];
    const open = new Set<Socket>();
    const failures: Error[] = [];
    let stagger: Timer | undefined;

    const finish = (): void => {
      stagger?.cancel();
      signal.removeEventListener("abort", onAbort);
      for (const socket of open) socket.destroy();
    };
    const onAbort = (): void => {
      finish();
      reject(abortReason(signal));
    };
    const tryNext = (): void => {
      stagger?.cancel();
      const host = waiting.shift();
      if (host === undefined) return;
      const target: NetConnectOpts & { readonly highWaterMark: number } = {
        host,
        port,
        noDelay: true,
        keepAlive: true,
        keepAliveInitialDelay: TCP_KEEP_ALIVE_MS,
        highWaterMark: READ_CHUNK_BYTES,
      };
      const socket = connectTcp(target);
      open.add(socket);
      const onError = (error: Error): void => {
        failures.push(error);
        open.delete(socket);
        if (waiting.length > 0) tryNext();
        else if (open.size === 0) {
          finish();
          reject(new AggregateError(failures, "no address could be connected to"));
        }
      };
      socket.on("error", onError);
      socket.once("connect", () => {
        socket.off("error", onError);
        // A socket that nobody listens to yet may still fail: that must not end the process.
        socket.on("error", () => undefined);
        open.delete(socket);
        finish();
        resolve(socket);
      });
      if (waiting.length > 0) stagger = clock.timer(ATTEMPT_DELAY_MS, tryNext);
    };

    signal.addEventListener("abort", onAbort, { once: true });
    tryNext();
  });
}

function secure(
  socket: Socket,
  hostname: string,
  options: ConnectOptions,
  signal: AbortSignal,
): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const session = options.tlsSessions.get(hostname);
    const secured = connectTls({
      socket,
      host: hostname,
      // RFC 6066 §3: a name without its trailing dot, and no address.
      ...(isIP(hostname) === 0 ? { servername: hostname.replace(/\.$/, "") } : {}),
      ...(options.ca === undefined ? {} : { ca: [...options.ca] }),
      ...(session === undefined ? {} : { session }),
      ALPNProtocols: ["http/1.1"],
      rejectUnauthorized: true,
      minVersion: "TLSv1.2",
    });
    const onAbort = (): void => {
      secured.destroy();
      reject(abortReason(signal));
    };
    const onError = (error: Error): void => {
      signal.removeEventListener("abort", onAbort);
      reject(error);
    };
    signal.addEventListener("abort", onAbort, { once: true });
    secured.on("session", (fresh) => options.tlsSessions.set(hostname, fresh));
    secured.once("error", onError);
    secured.once("secureConnect", () => {
      signal.removeEventListener("abort", onAbort);
      secured.off("error", onError);
      secured.on("error", () => undefined);
      resolve(secured);
    });
  });
}

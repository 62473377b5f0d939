/**
 * Listens on loopback for the answer of one login. Only GET of the one path counts, only under the address that was registered
 * (a page of the web could name this machine otherwise), and only what the login itself recognises as its own answer; everything
 * else is turned away and waited on.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { abortReason } from "../base/abort.ts";
import type { CallbackReceiver } from "../auth/callback.ts";
import { PortcullisError } from "../errors.ts";

const PATH = "/callback";
const MAX_HEAD_BYTES = 16 * 1024;
const PAGE_HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": "default-src 'none'",
  "cache-control": "no-store",
  "referrer-policy": "no-referrer",
  connection: "close",
};

/**
 * @param wanted `http://127.0.0.1:PORT/PATH`; `null`: a free port.
 * @throws PortcullisError `address_in_use` where the wanted port is taken.
 */
export async function openLoopbackReceiver(wanted: string | null): Promise<CallbackReceiver> {
  const url = wanted === null ? undefined : new URL(wanted);
  let handle: (request: IncomingMessage, response: ServerResponse) => void = (_request, response) =>
    answer(response, 404, "There is nothing here.");
  const server = createServer({ maxHeaderSize: MAX_HEAD_BYTES }, (request, response) =>
    handle(request, response),
  );
  await listen(server, url === undefined ? 0 : Number(url.port === "" ? 80 : url.port));
  const { port } = server.address() as Exclude<ReturnType<Server["address"]>, string | null>;
  const redirectUri = wanted ?? `http://127.0.0.1:${port}${PATH}`;
  const expected = new URL(redirectUri);

  return {
    redirectUri,
    async receive(isOurs, signal) {
      const { promise, resolve, reject } = Promise.withResolvers<URLSearchParams>();
      const onAbort = (): void => reject(abortReason(signal));
      signal.addEventListener("abort", onAbort, { once: true });
      if (signal.aborted) onAbort();
      handle = (request, response) => {
        const target = URL.parse(request.url ?? "", expected.origin);
        const isHere = target?.pathname === expected.pathname && request.headers.host === expected.host;
        if (request.method !== "GET" || target === null || !isHere) {
          answer(response, 404, "There is nothing here.");
        } else if (isOurs(target.searchParams)) {
          answer(
            response,
            200,
            "Portcullis has received the answer. This page can be closed; the terminal says more.",
          );
          resolve(target.searchParams);
        } else {
          answer(response, 400, "This is not the answer that Portcullis waits for.");
        }
      };
      try {
        return await promise;
      } finally {
        signal.removeEventListener("abort", onAbort);
      }
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        // The browser has its answer; a socket that it keeps open is not waited for.
        server.closeIdleConnections();
        server.closeAllConnections();
      }),
  };
}

async function listen(server: Server, port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const message = `port ${port} of 127.0.0.1 cannot be listened on (${error.code ?? "unknown"})`;
      reject(new PortcullisError("address_in_use", message, { cause: error }));
    });
    server.listen(port, "127.0.0.1", resolve);
  });
}

function answer(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, PAGE_HEADERS);
  response.end(`<!doctype html><meta charset="utf-8"><title>Portcullis</title><p>${text}</p>`);
}

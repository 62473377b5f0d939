/** Request headers are checked before they reach the HTTP client: no splitting (CR, LF, NUL), no framing of our own undone. */
import { PortcullisError } from "../errors.ts";

/** Decided by the connection, never by a caller. */
const FRAMING: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** RFC 9110 §5.6.2. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** RFC 9110 §5.5: visible ASCII, spaces, tabs and opaque bytes; nothing that ends a line. */
const VALUE = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;

/** @throws PortcullisError `config_invalid`, naming the header and never its value. */
export function checkRequestHeaders(headers: Readonly<Record<string, string>>): void {
  for (const name of Object.keys(headers)) {
    const isBad = !TOKEN.test(name) || !VALUE.test(headers[name] ?? "");
    if (!isBad && !FRAMING.has(name.toLowerCase())) continue;
    const shown = JSON.stringify(name.slice(0, 60));
    const reason = isBad ? "has characters that HTTP does not allow" : "is set by the connection itself";
    throw new PortcullisError("config_invalid", `the header ${shown} ${reason}`, {
      data: { wasSent: false },
    });
  }
}

/** What an address and its headers may look like in a configuration. What is really connected to is checked again when dialling. */
import type { ServerConfig } from "./compiled.ts";
import type { Notes } from "./facts.ts";
import type { ConfigPath } from "./problems.ts";

/** Headers that Portcullis sets itself, or that would change how a message is read. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  "accept",
  "accept-encoding",
  "connection",
  "content-encoding",
  "content-length",
  "content-type",
  "expect",
  "host",
  "keep-alive",
  "last-event-id",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Notes headers that are ours, that stand there twice, or that hold a line break. */
export function checkHeaders(
  headers: Readonly<Record<string, string>>,
  path: ConfigPath,
  notes: Notes,
): void {
  const seen = new Set<string>();
  for (const [name, value] of Object.entries(headers)) {
    const folded = name.toLowerCase();
    const at = [...path, name];
    if (OWN_HEADERS.has(folded) || folded.startsWith("mcp-"))
      notes.wrongKey(at, "is set by Portcullis itself: remove it");
    if (seen.has(folded))
      notes.wrongKey(at, "stands here twice (upper and lower case are the same): keep one");
    seen.add(folded);
    if (/[\r\n\0]/.test(value)) notes.wrong(at, "a header cannot hold a line break");
  }
}

/** Whether `hostname` (as a URL gives it) is loopback by name or number. */
export function isLoopbackName(hostname: string): boolean {
  const host = hostname.toLowerCase();
  return (
    host === "localhost" ||
    host.endsWith(".localhost") ||
    host === "[::1]" ||
    /^127\.\d+\.\d+\.\d+$/.test(host)
  );
}

/**
 * Notes an address that can never work.
 *
 * @returns why the server may not run with it as it stands, or `null`. An address with references is judged when they are
 * resolved.
 */
export function checkUrl(
  url: string,
  mayBePrivate: boolean,
  path: ConfigPath,
  notes: Notes,
): ServerConfig["blocked"] {
  if (url.includes("${")) return null;
  if (!URL.canParse(url)) {
    notes.wrong(path, "is no URL: write `https://…`");
    return null;
  }
  const { protocol, username, password, hash, hostname } = new URL(url);
  if (protocol !== "https:" && protocol !== "http:") {
    const advice = protocol.startsWith("ws")
      ? "MCP over WebSocket is not supported"
      : "only `https://` is supported";
    notes.wrong(path, `\`${protocol}\` cannot be used: ${advice}`);
    return null;
  }
  if (username !== "" || password !== "")
    notes.wrong(path, "holds a user name or password: send it in `headers` instead");
  if (hash !== "") notes.wrong(path, "holds a fragment (`#…`), which no server sees: remove it");
  if (protocol === "https:") return null;
  if (!isLoopbackName(hostname)) {
    return {
      reason: "its address is plain http, and everything sent could be read on the way",
      fix: "write `https://…`",
    };
  }
  if (mayBePrivate) return null;
  return {
    reason: "its address is plain http on this machine",
    fix: 'add "allowPrivateAddresses": true, if you know what listens there',
  };
}

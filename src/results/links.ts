/** Addresses and names that a server gives: shown, never opened; made harmless where somebody would click or save. */
import type { Finding } from "../vocabulary.ts";
import { oneLine } from "../text/clean.ts";

export type LinkVerdict =
  | {
      readonly ok: true;
      readonly uri: string;
      readonly isLocal: boolean;
      readonly finding: Omit<Finding, "where"> | null;
    }
  | { readonly ok: false; readonly scheme: string };

/** Schemes that run or carry content by themselves: such an address is not passed on. */
const REFUSED = new Set([
  "javascript",
  "data",
  "vbscript",
  "blob",
  "about",
  "view-source",
  "ms-msdt",
  "search-ms",
]);
const MAX_URI = 2_048;

/** Checks the address of a link or an embedded resource. */
export function checkUri(raw: unknown): LinkVerdict {
  const uri = oneLine(typeof raw === "string" ? raw : "", MAX_URI);
  // White space and control characters inside a scheme are dropped by browsers, so they are here.
  const scheme = (
    /^\s*([a-z][a-z0-9+.-]*)\s*:/i.exec(uri.replace(/[␀-␡\s]|‹[^›]*›/gu, ""))?.[1] ?? ""
  ).toLowerCase();
  if (REFUSED.has(scheme)) return { ok: false, scheme };
  if (scheme === "file") {
    return {
      ok: true,
      uri,
      isLocal: true,
      finding: { rule: "link.file", severity: "note", message: "links to a file of this machine" },
    };
  }
  if (/^(?:https?|wss?|ftp)$/.test(scheme) && isPrivateHost(uri)) {
    const message = "links to a private or metadata address";
    return {
      ok: true,
      uri,
      isLocal: false,
      finding: { rule: "link.private-address", severity: "low", message },
    };
  }
  return { ok: true, uri, isLocal: false, finding: null };
}

/** By spelling only; whether a request may go there is decided where requests are made. */
function isPrivateHost(uri: string): boolean {
  const host = URL.canParse(uri) ? new URL(uri).hostname : "";
  return (
    host === "localhost" ||
    host.endsWith(".localhost") ||
    host.endsWith(".internal") ||
    /^(?:127|10|0)\.\d+\.\d+\.\d+$|^169\.254\.|^192\.168\.|^172\.(?:1[6-9]|2\d|3[01])\./.test(host) ||
    /^\[(?:::1?\]|::ffff:|f[cd]|fe[89ab])/.test(host)
  );
}

const DEVICES = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

/**
 * A name that may be shown and would be harmless as a file name: no directories, no device names, no hidden characters, at most
 * 128 characters.
 */
export function safeName(raw: unknown, fallback = "unnamed"): string {
  const line = oneLine(typeof raw === "string" ? raw : "", 512);
  const last =
    line
      .split(/[/\\]/)
      .filter((part) => part !== "" && part !== "." && part !== "..")
      .at(-1) ?? "";
  const plain = last
    .replace(/[<>:"|?*]/g, "_")
    .replace(/^[.\s]+|[.\s]+$/g, "")
    .slice(0, 128)
    .toWellFormed();
  if (plain === "") return fallback;
  return DEVICES.test(plain) ? `_${plain}` : plain;
}

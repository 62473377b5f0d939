/** What a handshake that failed is thrown as. */
import { PortcullisError } from "../errors.ts";
import { LEGACY_REVISIONS, MODERN_REVISIONS } from "../protocol/revisions.ts";
import { oneLine } from "../text/clean.ts";
import type { ExchangeEnd } from "./correlation.ts";
import { fromRpcError, requestError } from "./remote-error.ts";

/** The failure of one message; `code` in place of its own where the verdict says so. */
export function handshakeFailure(method: string, end: ExchangeEnd, code?: "incompatible"): PortcullisError {
  switch (end.kind) {
    case "broken":
      if (end.error.code === "timed_out") {
        return requestError("connect_timeout", method, `the server did not answer \`${method}\` in time`, {
          wasSent: true,
          cause: end.error,
          data: end.error.data,
        });
      }
      return end.error;
    case "rpc-error": {
      const status = end.origin.httpStatus;
      const error = fromRpcError(method, end.error, status);
      const meant = code ?? codeOfStatus(status);
      return meant === undefined
        ? error
        : new PortcullisError(meant, error.message, { cause: error, data: error.data });
    }
    case "result":
      return requestError(
        code ?? "protocol_error",
        method,
        `\`${method}\` was answered by something else than its result`,
        { wasSent: true },
      );
  }
}

/** What a status says whatever the body. */
function codeOfStatus(status: number | undefined): "auth_required" | "http_error" | undefined {
  if (status === 401 || status === 403) return "auth_required";
  return status !== undefined && status >= 500 ? "http_error" : undefined;
}

/** Nothing in common: names the versions of both sides. */
export function incompatible(
  serverVersions: readonly string[],
  method: string,
  end: ExchangeEnd,
  maybeHttpSse = false,
): PortcullisError {
  const clientVersions = [...MODERN_REVISIONS, ...LEGACY_REVISIONS];
  const upgrade = whatToUpgrade(serverVersions, clientVersions);
  const theirs =
    serverVersions.length === 0
      ? "does not say which versions it speaks"
      : `speaks ${oneLine(serverVersions.slice(0, 8).join(", "), 200)}`;
  const hint = maybeHttpSse
    ? '; it may be a server of the deprecated HTTP+SSE transport (`"transport": "sse"`)'
    : "";
  return new PortcullisError(
    "incompatible",
    `the server ${theirs}; this client speaks ${clientVersions.join(", ")}: ${ADVICE[upgrade]}${hint}`,
    {
      cause: end.kind === "broken" ? end.error : undefined,
      data: {
        method,
        serverVersions: serverVersions.slice(0, 8),
        clientVersions,
        upgrade,
        maybeHttpSse,
        ...rpcData(method, end),
      },
    },
  );
}

const ADVICE = {
  server: "upgrade the server",
  client: "upgrade Portcullis",
  either: "upgrade the older side",
} as const;

/** Revisions are dates, so they compare as text. */
function whatToUpgrade(
  serverVersions: readonly string[],
  clientVersions: readonly string[],
): keyof typeof ADVICE {
  const [oldest = "", newest = ""] = [clientVersions.toSorted()[0], clientVersions.toSorted().at(-1)];
  if (serverVersions.length === 0) return "either";
  if (serverVersions.every((version) => version < oldest)) return "server";
  return serverVersions.every((version) => version > newest) ? "client" : "either";
}

function rpcData(method: string, end: ExchangeEnd): Readonly<Record<string, unknown>> {
  return end.kind === "rpc-error" ? { rpc: fromRpcError(method, end.error).data["rpc"] } : {};
}

/** Says to the owner of the process that a second start may help. */
export function leftBecauseOfProbe(end: ExchangeEnd): PortcullisError {
  const cause = end.kind === "broken" ? end.error : undefined;
  return new PortcullisError(
    "process_exited",
    "the server left when it was asked for its protocol version; start it again as a legacy server",
    {
      cause,
      data: { ...cause?.data, startAgainWith: "legacy" },
    },
  );
}

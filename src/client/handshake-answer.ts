/** The edge between an exchange of the handshake and the tables of `wire/era.ts`: what came back, by code and status. */
import { isJsonObject, ownProperty } from "../base/json.ts";
import type { PortcullisError } from "../errors.ts";
import { methods } from "../protocol/methods.ts";
import type { HandshakeAnswer } from "../wire/era.ts";
import { readInitializeResult } from "../wire/legacy.ts";
import { readDiscoverResult, readVersions } from "../wire/modern.ts";
import type { ExchangeEnd } from "./correlation.ts";

/** What an exchange says for the tables. */
export function readAnswer(method: string, end: ExchangeEnd): HandshakeAnswer {
  switch (end.kind) {
    case "result": {
      const { httpStatus } = end.origin;
      if (method === methods.discover) {
        const discovered = readDiscoverResult(end.result);
        if (discovered !== undefined) return { kind: "discovered", versions: discovered.supportedVersions };
        return { kind: "unreadable", ...optionalStatus(httpStatus) };
      }
      const read = readInitializeResult(end.result);
      return read.kind === "agreed" ? { kind: "agreed", revision: read.revision } : read;
    }
    case "rpc-error": {
      const data = end.error.data;
      const supported = isJsonObject(data) ? readVersions(ownProperty(data, "supported")) : undefined;
      return {
        kind: "rpc-error",
        code: end.error.code,
        ...(supported === undefined ? {} : { supported }),
        ...optionalStatus(end.origin.httpStatus),
      };
    }
    case "broken":
      return readBroken(end.error);
  }
}

function readBroken(error: PortcullisError): HandshakeAnswer {
  const { code } = error;
  const status = typeof error.data["status"] === "number" ? error.data["status"] : undefined;
  if (code === "timed_out") return { kind: "timed-out" };
  if (code === "auth_required" || code === "auth_failed")
    return { kind: "unreadable", status: status ?? 401 };
  if (code === "session_lost") return { kind: "unreadable", status: status ?? 404 };
  if (code === "protocol_error" || code === "remote_error")
    return { kind: "unreadable", ...optionalStatus(status) };
  if (code === "http_error" && status !== undefined) return { kind: "unreadable", status };
  const isGone = code === "connection_lost" || code === "process_exited";
  return isGone ? { kind: "closed" } : { kind: "failed" };
}

function optionalStatus(status: number | undefined): { readonly status?: number } {
  return status === undefined ? {} : { status };
}

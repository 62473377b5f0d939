/** What answers of the gateway's methods are made of, both eras. */
import type { Clock } from "../base/clock.ts";
import { ownProperty, type JsonObject, type JsonValue } from "../base/json.ts";
import type { ServerConfig } from "../config/compiled.ts";
import type { CallOptions, Host } from "../host/api.ts";
import type { Outcome } from "../host/outcome.ts";
import { metaKeys, rpcCodes } from "../protocol/codes.ts";
import type { JsonRpcErrorObject } from "../protocol/jsonrpc.ts";
import { notifications } from "../protocol/methods.ts";
import type { Era } from "../protocol/revisions.ts";
import type { Progress } from "../protocol/types.ts";
import { oneLine } from "../text/clean.ts";
import type { TraceContext } from "../vocabulary.ts";
import { readMeta, readTrace } from "../wire/meta.ts";
import { isHeld } from "./call-result.ts";
import { canBeAsked, toCallerInputs, type AskedClient } from "./client-inputs.ts";
import type { OfferList } from "./offer-list.ts";
import type { Offers } from "./offers.ts";

export type McpAnswer =
  | { readonly ok: true; readonly result: JsonObject }
  | { readonly ok: false; readonly error: JsonRpcErrorObject };

export interface CallContext {
  readonly era: Era;
  /** Scope of provenance: calls that share a model's context. */
  readonly conversation: string;
  readonly signal: AbortSignal;
  /** Sends a notification that belongs to the request. */
  readonly notify: (notification: JsonObject) => void;
  /** Who made the request, where it can be asked what a server wants to know. */
  readonly client?: AskedClient | undefined;
}

/** One page of a list as the result of its method. @param member of the result that holds the items. */
export async function listPage<Item>(
  list: Pick<OfferList<Item>, "page">,
  member: string,
  params: JsonObject,
  form: (item: Item) => Item = (item) => item,
): Promise<McpAnswer> {
  const cursor = ownProperty(params, "cursor");
  if (cursor !== undefined && typeof cursor !== "string")
    return failure(rpcCodes.invalidParams, "cursor must be a string");
  const page = await list.page(cursor);
  if (page === undefined) return failure(rpcCodes.invalidParams, "cursor is not one of this list");
  return {
    ok: true,
    result: {
      [member]: page.items.map(form) as unknown as JsonValue[],
      ...(page.nextCursor === undefined ? {} : { nextCursor: page.nextCursor }),
    },
  };
}

/** An error answer. */
export function failure(code: number, message: string, data?: JsonValue): McpAnswer {
  return { ok: false, error: data === undefined ? { code, message } : { code, message, data } };
}

export function unknownMethod(method: string): McpAnswer {
  return failure(rpcCodes.methodNotFound, `\`${method.slice(0, 100)}\` is not offered here`);
}

/** How texts of the server of an outcome are treated; `undefined` for an unknown one. */
export function scanOf(
  host: Pick<Host, "config">,
  { server }: Pick<Outcome, "server">,
): ServerConfig["scan"] | undefined {
  return server === null ? undefined : host.config.servers.get(server)?.scan;
}

/** What a request says about how it is to be carried out, and who answers what the server asks. */
export function callOptions(
  host: Pick<Host, "config">,
  params: JsonObject,
  { notify, client }: CallContext,
): CallOptions {
  const onProgress = progressSender(params, notify);
  const trace = traceOf(params);
  return {
    ...(onProgress === undefined ? {} : { onProgress }),
    ...(trace === undefined ? {} : { trace }),
    ...(client === undefined || !canBeAsked(client.capabilities)
      ? {}
      : { inputs: toCallerInputs(client, (question) => isHeld(question, scanOf(host, question))) }),
  };
}

/**
 * The trace that the agent told of, for the server: ids alone. Its baggage may hold anything, and the servers are strangers
 * (W3C Baggage, privacy considerations).
 */
function traceOf(params: JsonObject): TraceContext | undefined {
  const { traceparent, tracestate } = readTrace(readMeta(params));
  if (traceparent === undefined) return undefined;
  return tracestate === undefined ? { traceparent } : { traceparent, tracestate };
}

const PROGRESS_MESSAGE_MAX = 300;

/** A function that tells progress under the token of the request; `undefined` where none was asked for. Only rising values go out. */
function progressSender(
  params: JsonObject,
  notify: CallContext["notify"],
): ((progress: Progress) => void) | undefined {
  const meta = readMeta(params);
  const token = meta === undefined ? undefined : ownProperty(meta, metaKeys.progressToken);
  if (typeof token !== "string" && typeof token !== "number") return undefined;
  let last = -Infinity;
  return ({ progress, total, message }) => {
    if (progress <= last) return;
    last = progress;
    notify({
      jsonrpc: "2.0",
      method: notifications.progress,
      params: {
        progressToken: token,
        progress,
        ...(total === undefined ? {} : { total }),
        ...(message === undefined ? {} : { message: oneLine(message, PROGRESS_MESSAGE_MAX) }),
      },
    });
  };
}

/** What the methods of a gateway share. */
export interface McpMethodsDeps {
  readonly host: Pick<Host, "turn" | "config" | "watch">;
  readonly offers: Offers;
  readonly clock: Clock;
  /** Faults of ours. */
  readonly onError: (error: unknown) => void;
}

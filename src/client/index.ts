/**
 * `portcullis/client`: the MCP client without the host, for programs that govern their calls themselves. Nothing here asks
 * for approval, scans results, records calls or retries; see the package's main entry for all of that.
 */
export { createClient } from "./client.ts";
export type { Client } from "./client.ts";
export { connectStdio } from "./connect-stdio.ts";
export type { StdioTarget } from "./connect-stdio.ts";
export { connectHttp } from "./connect-http.ts";
export type { HttpTarget } from "./connect-http.ts";
export type {
  ClientOptions,
  ConnectOptions,
  NewSession,
  RequestOptions,
  UnauthorizedHook,
} from "./options.ts";
export type { Calls } from "./calls.ts";
export type { ClientEvent } from "./events.ts";
export type { ServerFacts } from "./facts.ts";
export type { InputContext, InputHandler } from "./input-handler.ts";
export type { ClientLimits } from "./limits.ts";
export type { LateAnswer } from "./correlation.ts";
export type { ListOptions, ListOutcome } from "./list.ts";
export type { RpcErrorData } from "./remote-error.ts";
export type { Subscription, SubscriptionChange, SubscriptionHandler } from "./subscriptions.ts";
export type { StartOptions, TaskHandle, Tasks, ToolStart, WaitOptions } from "./tasks.ts";

export { PortcullisError, errorCodes } from "../errors.ts";
export type { ErrorCode, PortcullisErrorOptions } from "../errors.ts";

// What a custom transport has to implement.
export type {
  CloseReport,
  MessageOrigin,
  Oddity,
  SendOptions,
  SettledProtocol,
  Transport,
  TransportKind,
  TransportSink,
} from "../transport/transport.ts";
export type { JsonRpcMessage, RequestId } from "../protocol/jsonrpc.ts";
export { createStdioTransport } from "../transport/stdio.ts";
export type { StdioTransportOptions } from "../transport/stdio-options.ts";
export { createMemoryTransportPair } from "../transport/memory.ts";
export { systemClock } from "../base/clock.ts";
export type { Clock, Timer } from "../base/clock.ts";
export { systemRandom } from "../base/random.ts";
export type { Random } from "../base/random.ts";

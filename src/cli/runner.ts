/**
 * Who carries an operation out: a gateway that runs on the same state, where there is one and the operation needs living
 * servers, otherwise a host of this process that ends with the command.
 */
import { parseJson, isJsonObject } from "../base/json.ts";
import { systemClock } from "../base/clock.ts";
import type { Config } from "../config/compiled.ts";
import { createHttpPort } from "../egress/dial.ts";
import { isErrorCode, PortcullisError } from "../errors.ts";
import type { Host, HostOptions } from "../host/api.ts";
import type { GatewayFile } from "../operations/gateway-file.ts";
import { runOperation, type Operation } from "../operations/operation.ts";
import type { HttpPort } from "../transport/http-port.ts";
import { findLivingGateway } from "./gateway-probe.ts";
import type { Output } from "./output.ts";
import { sayStarts } from "./start-progress.ts";
import { openHostFor } from "./workspace.ts";

export interface Runner {
  /** Whether a gateway does the work. */
  readonly isRemote: boolean;
  /** The typed answer of one operation. @throws PortcullisError what it threw, wherever it ran. */
  run<Document>(
    operation: Operation<never, Document> | Operation,
    input: unknown,
    signal: AbortSignal,
  ): Promise<Document>;
  close(): Promise<void>;
}

/**
 * @param isLive whether the operation needs living servers.
 * @param output where slow starts are told.
 * @param more who answers what servers ask; only a host of this process can ask here.
 * @throws PortcullisError `usage` where the gateway on this state serves another configuration.
 */
export async function openRunner(
  config: Config,
  isLive: boolean,
  output: Output,
  more: Pick<HostOptions, "onInput"> = {},
): Promise<Runner> {
  const gateway = isLive ? await findLivingGateway(config.stateDir) : undefined;
  if (gateway === undefined) {
    const host = await openHostFor(config, "cli", more);
    await sayStarts(host, output);
    return createLocalRunner(host);
  }
  // Its grades would decide, and not those of the file that the caller named.
  if (gateway.configFile !== config.file)
    throw new PortcullisError(
      "usage",
      `the gateway on this state serves \`${gateway.configFile ?? "a configuration given in code"}\` and not \`${config.file ?? "this one"}\`: name its file with --config, or another state with --state`,
    );
  return createRemoteRunner(gateway);
}

function createLocalRunner(host: Host): Runner {
  return {
    isRemote: false,
    async run(operation, input, signal) {
      const context = { host, by: "local", channel: "terminal", signal, nowMs: systemClock.now } as const;
      return (await runOperation(operation as Operation, context, input)) as never;
    },
    async close() {
      await host.close();
    },
  };
}

const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

function createRemoteRunner(gateway: GatewayFile): Runner {
  const origin = new URL(gateway.url).origin;
  const port: HttpPort = createHttpPort({
    clock: systemClock,
    rules: { origins: [origin], allow: [], allowPrivateAddresses: true },
  });
  return {
    isRemote: true,
    async run(operation, input, signal) {
      const response = await port.request({
        method: "POST",
        url: new URL(`/api/operations/${operation.name}`, origin),
        headers: {
          "content-type": "application/json",
          authorization: `Bearer ${gateway.adminToken}`,
          "x-portcullis-channel": "terminal",
        },
        body: JSON.stringify(input),
        signal,
        headTimeoutMs: 0,
        maxBodyBytes: MAX_ANSWER_BYTES,
      });
      const chunks: Uint8Array[] = [];
      for await (const chunk of response.body) chunks.push(chunk);
      const document = parseJson(Buffer.concat(chunks).toString("utf8"));
      if (response.status === 200 && document !== undefined) return document as never;
      throw fromAdminError(document, response.status);
    },
    close: () => port.close(),
  };
}

/** The error that the gateway's admin API answered with, as the same error here. */
function fromAdminError(document: unknown, status: number): PortcullisError {
  const error = isJsonObject(document) && isJsonObject(document["error"]) ? document["error"] : {};
  const { code, message } = error;
  const data = { isAnswer: true };
  if (isErrorCode(code) && typeof message === "string") return new PortcullisError(code, message, { data });
  return new PortcullisError(
    "server_unavailable",
    `the gateway answered with status ${status}, and not as a gateway does`,
  );
}

/** True where the gateway said so itself; false where its answer did not come. */
export function isAnsweredError(error: unknown): boolean {
  return error instanceof PortcullisError && error.data["isAnswer"] === true;
}

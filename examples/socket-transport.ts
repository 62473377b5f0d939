/** A transport of one's own: JSON-RPC lines over a TCP socket on this machine. The whole port is five members. */
// #region transport
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { PortcullisError, type CloseReport, type JsonRpcMessage, type Transport } from "portcullis/client";

const MAX_MESSAGE = 1024 * 1024;

export function createSocketTransport(port: number): Transport {
  let socket: Socket | undefined;
  let closing: Promise<CloseReport> | undefined;
  return {
    kind: "custom",
    async open(sink, signal) {
      const opened = connect({ host: "127.0.0.1", port });
      try {
        await once(opened, "connect", { signal });
      } catch (cause) {
        opened.destroy();
        throw signal.aborted
          ? signal.reason
          : new PortcullisError("connection_lost", `nothing listens on \`${port}\``, { cause });
      }
      socket = opened;
      let rest = "";
      let fault: PortcullisError | undefined;
      opened.setEncoding("utf8").on("data", (chunk: string) => {
        const lines = `${rest}${chunk}`.split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) {
          try {
            sink.message(JSON.parse(line) as JsonRpcMessage, {});
          } catch {
            sink.odd({ kind: "socket.noise-line", sample: line.slice(0, 200) });
          }
        }
        if (rest.length <= MAX_MESSAGE) return;
        fault = new PortcullisError("message_too_large", `a message is over ${MAX_MESSAGE} characters`);
        opened.destroy();
      });
      opened.on("error", (cause) => {
        fault ??= new PortcullisError("connection_lost", "the socket broke", { cause });
      });
      // Once, whatever ended it: everything in flight fails now.
      opened.on("close", () =>
        sink.closed(closing === undefined ? (fault ?? lost("the socket was closed")) : undefined),
      );
    },
    async send(message) {
      if (socket?.writable !== true) throw lost("the socket is closed", { wasSent: false });
      socket.write(`${JSON.stringify(message)}\n`);
    },
    settle() {},
    close() {
      closing ??= (async () => {
        if (socket !== undefined && !socket.destroyed) {
          socket.destroy();
          await once(socket, "close");
        }
        return { how: "clean" };
      })();
      return closing;
    },
  };
}

function lost(message: string, data: { wasSent?: false } = {}): PortcullisError {
  return new PortcullisError("connection_lost", message, { data });
}
// #endregion

import { describe, expect, it } from "vitest";
import type { PortcullisError } from "../../../src/errors.ts";
import type { JsonRpcMessage } from "../../../src/protocol/jsonrpc.ts";
import { createMemoryTransportPair } from "../../../src/transport/memory.ts";
import type { Transport } from "../../../src/transport/transport.ts";

function listen(transport: Transport, onMessage: (message: JsonRpcMessage) => void = () => undefined) {
  const closed = Promise.withResolvers<PortcullisError | undefined>();
  const messages: JsonRpcMessage[] = [];
  const opened = transport.open(
    {
      message(message) {
        messages.push(message);
        onMessage(message);
      },
      requestFailed: () => undefined,
      closed: (error) => closed.resolve(error),
      odd: () => undefined,
    },
    new AbortController().signal,
  );
  return { opened, messages, closed: closed.promise };
}

const message = (at: number): JsonRpcMessage => ({ jsonrpc: "2.0", method: "tick", params: { at } });
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("the in-process pair", () => {
  it("shares no object, and drops what JSON does not have", async () => {
    const [one, other] = createMemoryTransportPair();
    const far = listen(other);
    listen(one);
    const params = { list: [1], gone: undefined } as never;
    await one.send({ jsonrpc: "2.0", method: "a", params }, {});
    await turn();
    expect(far.messages).toEqual([{ jsonrpc: "2.0", method: "a", params: { list: [1] } }]);
    expect(Object.keys((far.messages[0] as { params: object }).params)).toEqual(["list"]);
    await one.close();
    expect((await far.closed)?.code).toBe("connection_lost");
  });

  it("holds what is sent before the other end is open, and delivers it before the end", async () => {
    const [one, other] = createMemoryTransportPair();
    listen(one);
    for (let at = 0; at < 10; at += 1) await one.send(message(at), {});
    await one.close();
    const far = listen(other);
    expect((await far.closed)?.code).toBe("connection_lost");
    expect(far.messages).toEqual(Array.from({ length: 10 }, (_, at) => message(at)));
  });

  it("bounds what waits", async () => {
    const [one] = createMemoryTransportPair({ queueBytes: 1_000 });
    listen(one);
    const ends = await Promise.allSettled(Array.from({ length: 100 }, (_, at) => one.send(message(at), {})));
    const refused = ends.filter((end) => end.status === "rejected");
    expect(refused.length).toBeGreaterThan(50);
    expect((refused[0] as PromiseRejectedResult).reason).toMatchObject({
      code: "queue_full",
      data: { wasSent: false },
    });
    await one.close();
  });

  it("lets the event loop turn while both ends answer each other", async () => {
    const [one, other] = createMemoryTransportPair();
    listen(one, (received) => void one.send(received, {}).catch(() => undefined));
    listen(other, (received) => void other.send(received, {}).catch(() => undefined));
    await one.send(message(0), {});
    for (let at = 0; at < 10; at += 1) await turn();
    await one.close();
  });

  it("ends with `internal` where its receiver throws", async () => {
    const [one, other] = createMemoryTransportPair();
    listen(one);
    const far = listen(other, () => {
      throw new Error("a fault of the receiver");
    });
    await one.send(message(0), {});
    const error = await far.closed;
    expect(error).toMatchObject({ code: "internal", cause: { message: "a fault of the receiver" } });
    await one.close();
  });
});

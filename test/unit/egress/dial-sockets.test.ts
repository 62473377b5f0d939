import { once } from "node:events";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../src/base/manual-clock.ts";
import { dial, failure, requestTo, serve, serveRaw, textOf } from "../../support/http-port-kit.ts";

describe("errors say what is known", () => {
  it.each([
    ["ECONNREFUSED, not sent", "connection_lost", false, "http://127.0.0.1:1/"],
    ["a name without addresses, not sent", "connection_lost", false, "http://nobody.test/"],
  ])("%s", async (_title, code, wasSent, address) => {
    const url = new URL(address);
    const error = await failure(dial(url, { resolve: () => Promise.resolve([]) }).request(requestTo(url)));
    expect([error.code, error.data["wasSent"]]).toEqual([code, wasSent]);
  });

  it("a socket that closes without an answer: sent", async () => {
    const url = await serveRaw((socket) => socket.once("data", () => socket.destroy()));
    const error = await failure(dial(url).request(requestTo(url, { body: "x" })));
    expect(error.code).toBe("connection_lost");
    expect(error.data).toMatchObject({ wasSent: true, wasReused: false });
  });

  it("a body that breaks off: sent", async () => {
    const server = await serve((_request, response) => {
      response.setHeader("content-length", "100").write("half");
      setTimeout(() => response.destroy(), 20);
    });
    const error = await failure(textOf(await dial(server.url).request(requestTo(server.url))));
    expect([error.code, error.data["wasSent"]]).toEqual(["connection_lost", true]);
  });

  it.each(["hello\r\n\r\n", "HTTP/1.1 abc\r\n\r\n", "HTTP/1.1 200 OK\r\nbad header\r\n\r\n", "\0\0\0\0"])(
    "an answer that is not HTTP: %j",
    async (answer) => {
      const url = await serveRaw((socket) => socket.once("data", () => socket.end(answer)));
      const error = await failure(dial(url).request(requestTo(url)));
      expect([error.code, error.data["wasSent"]]).toEqual(["protocol_error", true]);
    },
  );

  it("a reset of a socket that was used before is told apart", async () => {
    let answered = 0;
    const url = await serveRaw((socket) => {
      socket.on("data", () => {
        answered += 1;
        if (answered === 1) socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
        else socket.resetAndDestroy();
      });
    });
    const port = dial(url);
    await textOf(await port.request(requestTo(url)));
    const error = await failure(port.request(requestTo(url)));
    expect(error.data).toMatchObject({ wasSent: true, wasReused: true });
    expect(answered).toBe(2);
  });

  it("the signal's reason, before, while waiting, and while reading", async () => {
    const reason = new Error("no longer wanted");
    const server = await serve((request, response) => {
      if (request.url === "/mcp") response.write("half");
    });
    const port = dial(server.url);
    await expect(port.request(requestTo(server.url, { signal: AbortSignal.abort(reason) }))).rejects.toBe(
      reason,
    );
    expect(server.connections()).toBe(0);
    const waiting = new AbortController();
    const asked = port.request(requestTo(new URL("/silent", server.url), { signal: waiting.signal }));
    await expect.poll(server.connections).toBe(1);
    waiting.abort(reason);
    await expect(asked).rejects.toBe(reason);
    const reading = new AbortController();
    const response = await port.request(requestTo(server.url, { signal: reading.signal }));
    const read = textOf(response);
    reading.abort(reason);
    await expect(read).rejects.toBe(reason);
    await expect.poll(server.openConnections).toBe(0);
  });
});

describe("sockets", () => {
  it("uses one socket for one request after another", async () => {
    const server = await serve((_request, response) => response.end("ok"));
    const port = dial(server.url);
    for (let round = 0; round < 50; round += 1) await textOf(await port.request(requestTo(server.url)));
    expect(server.connections()).toBe(1);
  });

  it("never uses a socket that idled for over a second where a fresh one is needed", async () => {
    const clock = createManualClock();
    const server = await serve((_request, response) => response.end("ok"));
    const port = dial(server.url, { clock });
    const ask = async (needsFreshSocket: boolean): Promise<number> => {
      await textOf(await port.request(requestTo(server.url, { needsFreshSocket })));
      return server.connections();
    };
    expect(await ask(true)).toBe(1);
    await clock.advance(1000);
    expect(await ask(true)).toBe(1);
    await clock.advance(1001);
    expect(await ask(false)).toBe(1);
    await clock.advance(1001);
    expect(await ask(true)).toBe(2);
  });

  it("goes on with a new socket where the server closed the idle one", async () => {
    let sockets = 0;
    const closed: Promise<unknown>[] = [];
    const url = await serveRaw((socket) => {
      sockets += 1;
      closed.push(once(socket, "close"));
      socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"));
    });
    const port = dial(url);
    for (let round = 1; round <= 3; round += 1) {
      expect(await textOf(await port.request(requestTo(url)))).toBe("ok");
      await closed[round - 1];
      expect(sockets).toBe(round);
    }
  });

  it("queues beyond its sockets, in order, and an aborted one leaves the queue", async () => {
    const held: (() => void)[] = [];
    const order: string[] = [];
    const server = await serve((request, response) => {
      order.push(request.url ?? "");
      held.push(() => response.end("ok"));
    });
    const port = dial(server.url, { limits: { maxSockets: 1 } });
    const gone = new AbortController();
    const ask = (path: string, signal?: AbortSignal): Promise<string> =>
      port.request(requestTo(new URL(path, server.url), signal === undefined ? {} : { signal })).then(textOf);
    const first = ask("/1");
    const second = ask("/2", gone.signal);
    const third = ask("/3");
    await expect.poll(() => held.length).toBe(1);
    gone.abort(new Error("gone"));
    await expect(second).rejects.toThrow("gone");
    held.shift()?.();
    expect(await first).toBe("ok");
    await expect.poll(() => held.length).toBe(1);
    held.shift()?.();
    expect(await third).toBe("ok");
    expect([order, server.connections()]).toEqual([["/1", "/3"], 1]);
  });

  it("close ends every socket, what is in flight and what is queued; later requests are not sent", async () => {
    const server = await serve(() => undefined);
    const port = dial(server.url, { limits: { maxSockets: 1 } });
    const inFlight = failure(port.request(requestTo(server.url)));
    const queued = failure(port.request(requestTo(server.url)));
    await expect.poll(server.connections).toBe(1);
    await port.close();
    expect((await inFlight).data["wasSent"]).toBe(true);
    expect((await queued).data["wasSent"]).toBe(false);
    await expect.poll(server.openConnections).toBe(0);
    const late = await failure(port.request(requestTo(server.url)));
    expect([late.code, late.data["wasSent"], server.connections()]).toEqual(["connection_lost", false, 1]);
  });

  it("cancelling a body that was never read ends the socket, capped, coded or not", async () => {
    const server = await serve((request, response) => {
      if (request.url === "/gzip") response.setHeader("content-encoding", "gzip");
      response.write(request.url === "/gzip" ? gzipSync("x").subarray(0, 15) : "half");
    });
    const port = dial(server.url);
    for (const [path, maxBodyBytes] of [
      ["/", 10],
      ["/gzip", 10],
      ["/gzip", Number.POSITIVE_INFINITY],
      ["/", Number.POSITIVE_INFINITY],
    ] as const) {
      const response = await port.request(requestTo(new URL(path, server.url), { maxBodyBytes }));
      await response.body[Symbol.asyncIterator]().return?.();
      await expect.poll(server.openConnections).toBe(0);
    }
  });
});

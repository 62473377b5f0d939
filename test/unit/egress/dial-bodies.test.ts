import { getEventListeners } from "node:events";
import { brotliCompressSync, constants, createGzip, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../src/base/manual-clock.ts";
import { dial, failure, requestTo, serve, textOf } from "../../support/http-port-kit.ts";

describe("content codings", () => {
  const text = "grün ".repeat(20_000);
  it.each([
    ["gzip", gzipSync(text)],
    ["x-gzip", gzipSync(text)],
    ["GZIP", gzipSync(text)],
    ["deflate", deflateSync(text)],
    ["deflate", deflateRawSync(text)],
    ["br", brotliCompressSync(text)],
    ["identity", Buffer.from(text)],
  ])("decodes %s", async (encoding, body) => {
    const server = await serve((request, response) => {
      expect(request.headers["accept-encoding"]).toBe("gzip, deflate, br");
      response.setHeader("content-encoding", encoding).end(body);
    });
    expect(await textOf(await dial(server.url).request(requestTo(server.url)))).toBe(text);
  });

  it("gives what came of a compressed stream before its end", async () => {
    const gzip = createGzip({ flush: constants.Z_SYNC_FLUSH });
    const server = await serve((_request, response) => {
      response.setHeader("content-encoding", "gzip");
      gzip.pipe(response);
      gzip.write("first");
    });
    const response = await dial(server.url).request(requestTo(server.url));
    const body = response.body[Symbol.asyncIterator]();
    expect(Buffer.from((await body.next()).value as Uint8Array).toString()).toBe("first");
    gzip.end("second");
    expect(Buffer.from((await body.next()).value as Uint8Array).toString()).toBe("second");
    expect((await body.next()).done).toBe(true);
  });

  it.each([
    ["an unknown coding", "zstd", Buffer.from("x"), "protocol_error"],
    ["two codings", "gzip, br", gzipSync("x"), "protocol_error"],
    ["no gzip at all", "gzip", Buffer.from("<html>"), "protocol_error"],
    ["no brotli at all", "br", Buffer.from("<html>\x03\x04"), "protocol_error"],
    ["half a gzip", "gzip", gzipSync("x".repeat(1000)).subarray(0, 20), "connection_lost"],
  ])("fails on %s, and the port goes on", async (_title, encoding, body, code) => {
    const server = await serve((request, response) => {
      if (request.url === "/mcp") response.setHeader("content-encoding", encoding).end(body);
      else response.end("ok");
    });
    const port = dial(server.url);
    const error = await failure(port.request(requestTo(server.url)).then(textOf));
    expect([error.code, error.data["wasSent"]]).toEqual([code, true]);
    expect(await textOf(await port.request(requestTo(new URL("/other", server.url))))).toBe("ok");
  });

  it.each([
    ["gzip", () => gzipSync(Buffer.alloc(200_000_000))],
    ["br", () => brotliCompressSync(Buffer.alloc(50_000_000))],
  ] as const)("refuses a %s bomb at the cap with memory flat", async (encoding, make) => {
    const bomb = make();
    const server = await serve((_request, response) =>
      response.setHeader("content-encoding", encoding).end(bomb),
    );
    const response = await dial(server.url).request(requestTo(server.url));
    const before = process.memoryUsage().rss;
    let bytes = 0;
    const reading = (async () => {
      for await (const chunk of response.body) bytes += chunk.byteLength;
    })();
    expect((await failure(reading)).code).toBe("message_too_large");
    expect(bytes).toBeLessThanOrEqual(1_000_000);
    expect(process.memoryUsage().rss - before).toBeLessThan(32_000_000);
  });
});

describe("caps and time-outs", () => {
  it("cuts a plain body off at the cap and ends the socket", async () => {
    const server = await serve((_request, response) => {
      const pump = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536)));
        response.once("drain", pump);
      };
      pump();
    });
    const response = await dial(server.url).request(requestTo(server.url));
    expect((await failure(textOf(response))).code).toBe("message_too_large");
    await expect.poll(server.openConnections).toBe(0);
  });

  it("holds a fast sender back while nobody reads", async () => {
    let sentBytes = 0;
    const server = await serve((_request, response) => {
      const pump = (): void => {
        sentBytes += 65_536;
        if (!response.destroyed) response.write(Buffer.alloc(65_536), () => setImmediate(pump));
      };
      pump();
    });
    const response = await dial(server.url).request(
      requestTo(server.url, { maxBodyBytes: Number.POSITIVE_INFINITY }),
    );
    let seen = -1;
    while (sentBytes !== seen && seen < 50_000_000) {
      seen = sentBytes;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(seen).toBeGreaterThan(65_536);
    expect(seen).toBeLessThan(20_000_000);
    await response.body[Symbol.asyncIterator]().return?.();
    await expect.poll(server.openConnections).toBe(0);
  });

  it("refuses a response head over its cap", async () => {
    const server = await serve((_request, response) =>
      response.setHeader("x-long", "x".repeat(40_000)).end(),
    );
    expect((await failure(dial(server.url).request(requestTo(server.url)))).code).toBe("message_too_large");
  });

  it("gives up on a head that does not come", async () => {
    const server = await serve(() => undefined);
    const error = await failure(dial(server.url).request(requestTo(server.url, { headTimeoutMs: 40 })));
    expect([error.code, error.data["wasSent"]]).toEqual(["timed_out", true]);
    await expect.poll(server.openConnections).toBe(0);
  });

  it("gives up on a body that stops", async () => {
    const server = await serve((_request, response) => response.write("half"));
    const response = await dial(server.url).request(requestTo(server.url, { idleTimeoutMs: 40 }));
    expect((await failure(textOf(response))).code).toBe("timed_out");
    await expect.poll(server.openConnections).toBe(0);
  });

  it("gives up on a connection that does not come, as not sent", async () => {
    const clock = createManualClock();
    const url = new URL("http://nowhere.test/");
    const port = dial(url, { clock, resolve: () => new Promise(() => undefined) });
    const asked = failure(port.request(requestTo(url)));
    await clock.advance(10_000);
    const error = await asked;
    expect([error.code, error.data["wasSent"]]).toEqual(["timed_out", false]);
    expect(clock.pending()).toBe(0);
  });

  it("leaves no timer and no listener behind", async () => {
    const clock = createManualClock();
    const server = await serve((_request, response) => response.end("ok"));
    const port = dial(server.url, { clock });
    const { signal } = new AbortController();
    for (let round = 0; round < 20; round += 1)
      await textOf(await port.request(requestTo(server.url, { signal })));
    expect(clock.pending()).toBe(0);
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });
});

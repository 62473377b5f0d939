import type { ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { createHttpPort } from "../../../src/egress/dial.ts";
import { createSseTransport, evaluateEndpoint, isSseServer } from "../../../src/transport/sse-legacy.ts";
import { createRecordingSink } from "../../support/http-peer.ts";
import { ends } from "../../support/http-port-kit.ts";
import { startLocalServer, type Handler, type LocalServer } from "../../support/local-http.ts";

async function serve(handler: Handler): Promise<LocalServer> {
  const server = await startLocalServer(handler);
  ends.push(server.close);
  return server;
}

function optionsFor(url: URL) {
  const port = createHttpPort({
    rules: { origins: [url.origin], allow: [], allowPrivateAddresses: true },
    clock: systemClock,
  });
  ends.push(() => port.close());
  return { url, headers: () => Promise.resolve({ "x-api-key": "k" }), port, clock: systemClock };
}

function events(response: ServerResponse, text: string): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(text);
}

const never = (): AbortSignal => new AbortController().signal;

describe("evaluateEndpoint", () => {
  const url = new URL("https://a.test/sse");
  it.each([
    ["/messages?id=1", "https://a.test/messages?id=1"],
    ["messages", "https://a.test/messages"],
    [" https://a.test:443/m ", "https://a.test/m"],
  ])("takes %j", (data, href) => expect(evaluateEndpoint(data, url).href).toBe(href));
  it.each([
    "https://evil.test/m",
    "//evil.test/m",
    "http://a.test/m",
    "https://a.test:444/m",
    "https://u:p@a.test/m",
    "javascript:alert(1)",
    "http://",
    "https://a.test.evil.test/",
  ])("refuses %j", (data) =>
    expect(() => evaluateEndpoint(data, url)).toThrow(expect.objectContaining({ code: "egress_denied" })),
  );
});

describe("createSseTransport", () => {
  it("does not open where the endpoint is elsewhere, and sends nothing there", async () => {
    const elsewhere = await serve((_request, response) => response.end());
    const server = await serve((_request, response) =>
      events(response, `event: endpoint\ndata: ${elsewhere.url.href}\n\n`),
    );
    const transport = createSseTransport(optionsFor(server.url));
    await expect(transport.open(createRecordingSink(), never())).rejects.toMatchObject({
      code: "egress_denied",
    });
    expect(elsewhere.connections()).toBe(0);
    await transport.close();
  });

  it.each([
    ["401", 401, "auth_required"],
    ["404", 404, "http_error"],
    ["a page", 200, "protocol_error"],
    ["a redirect", 302, "egress_denied"],
  ])("does not open on %s", async (_title, status, code) => {
    const server = await serve((_request, response) =>
      response.writeHead(status, { location: "https://evil.test/" }).end("<h1>"),
    );
    const transport = createSseTransport(optionsFor(server.url));
    await expect(transport.open(createRecordingSink(), never())).rejects.toMatchObject({ code });
    await transport.close();
  });

  it("does not open on a stream that ends, or within the signal", async () => {
    const ending = await serve((_request, response) =>
      response.writeHead(200, { "content-type": "text/event-stream" }).end(),
    );
    const first = createSseTransport(optionsFor(ending.url));
    await expect(first.open(createRecordingSink(), never())).rejects.toMatchObject({
      code: "connection_lost",
    });
    const silent = await serve((_request, response) => events(response, ": wait\n\n"));
    const second = createSseTransport(optionsFor(silent.url));
    const abort = new AbortController();
    const opening = second.open(createRecordingSink(), abort.signal);
    await expect.poll(silent.connections).toBe(1);
    abort.abort(new Error("not needed"));
    await expect(opening).rejects.toThrow("not needed");
    await Promise.all([first.close(), second.close()]);
  });

  it("fails a request that the endpoint refuses, and is over with its stream", async () => {
    let stream: ServerResponse | undefined;
    const server = await serve((request, response) => {
      if (request.method === "POST") response.writeHead(400).end("no such session");
      else {
        events(response, "event: endpoint\ndata: /messages\n\n");
        stream = response;
      }
    });
    const transport = createSseTransport(optionsFor(server.url));
    const sink = createRecordingSink();
    await transport.open(sink, never());
    await transport.send({ jsonrpc: "2.0", id: 1, method: "ping" }, {});
    expect(await sink.ended(1)).toMatchObject({ error: { code: "http_error" } });
    stream?.end();
    await sink.until(() => sink.ends.length === 1);
    expect(sink.ends[0]).toMatchObject({ code: "connection_lost" });
    await transport.close();
    expect(sink.ends).toHaveLength(1);
  });
});

describe("isSseServer", () => {
  it("knows one by its first event", async () => {
    const one = await serve((_request, response) =>
      events(response, ": hi\n\nevent: endpoint\ndata: /m\n\n"),
    );
    expect(await isSseServer(optionsFor(one.url), never())).toBe(true);
    await expect.poll(one.openConnections).toBe(0);
  });
  it.each<[string, Handler]>([
    ["405", (_request, response) => response.writeHead(405).end()],
    ["a page", (_request, response) => response.end("<h1>")],
    ["another event", (_request, response) => events(response, "event: ping\ndata: 1\n\n")],
    ["a message", (_request, response) => events(response, 'data: {"jsonrpc":"2.0","method":"x"}\n\n')],
    [
      "the end",
      (_request, response) => response.writeHead(200, { "content-type": "text/event-stream" }).end(),
    ],
  ])("%s is none", async (_title, handler) => {
    const server = await serve(handler);
    expect(await isSseServer(optionsFor(server.url), never())).toBe(false);
  });
});

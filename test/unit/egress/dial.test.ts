import { describe, expect, it } from "vitest";
import { dial, failure, requestTo, serve, textOf } from "../../support/http-port-kit.ts";

describe("createHttpPort", () => {
  it("sends method, path, query, headers and body, and gives status, joined headers and body", async () => {
    const server = await serve((request, response, body) => {
      response.setHeader("set-cookie", ["a=1", "b=2"]);
      response.setHeader("x-twice", ["one", "two"]);
      response
        .writeHead(207)
        .end(`${request.method} ${request.url} ${String(request.headers["x-own"])} ${body}`);
    });
    const url = new URL("/a/b?c=d", server.url);
    const response = await dial(url).request(
      requestTo(url, { method: "PUT", headers: { "X-Own": "é" }, body: "hällo" }),
    );
    expect(response.status).toBe(207);
    expect(response.headers["x-twice"]).toBe("one, two");
    expect("set-cookie" in response.headers).toBe(false);
    expect("constructor" in response.headers).toBe(false);
    expect(await textOf(response)).toBe("PUT /a/b?c=d é hällo");
  });

  it("does not follow redirects and keeps no cookies [SEC-04]", async () => {
    const paths: string[] = [];
    const server = await serve((request, response) => {
      paths.push(`${request.url} ${request.headers.cookie ?? "-"}`);
      response.writeHead(302, { location: "/other", "set-cookie": "a=1" }).end();
    });
    const port = dial(server.url);
    for (let round = 0; round < 2; round += 1) {
      const response = await port.request(requestTo(server.url));
      expect([response.status, response.headers["location"]]).toEqual([302, "/other"]);
      await textOf(response);
    }
    expect(paths).toEqual(["/mcp -", "/mcp -"]);
  });

  it("refuses another origin, and secrets to an allowed host that is not the configured one", async () => {
    const server = await serve((_request, response) => response.end("ok"));
    const configured = new URL("https://mcp.example.com/");
    const port = dial(configured, {
      rules: { origins: [configured.origin], allow: [server.url.host], allowPrivateAddresses: true },
    });
    const other = requestTo(new URL("http://127.0.0.1:1/"));
    expect((await failure(port.request(other))).code).toBe("egress_denied");
    const withSecret = requestTo(server.url, { headers: { "X-Api-Key": "secret-value" } });
    const refused = await failure(port.request(withSecret));
    expect(refused.code).toBe("egress_denied");
    expect(JSON.stringify([refused.message, refused.data])).not.toContain("secret-value");
    expect(server.connections()).toBe(0);
    expect(
      await textOf(await port.request(requestTo(server.url, { headers: { accept: "text/plain" } }))),
    ).toBe("ok");
  });

  it.each([
    { "x-a": "b\r\nInjected: 1" },
    { "x-a": "b\nc" },
    { "x-a": "b\0" },
    { "x-a": "日本" },
    { "x a": "b" },
    { "": "b" },
    { "x-a\r\nInjected": "1" },
    { host: "evil.test" },
    { "Content-Length": "5" },
    { "transfer-encoding": "chunked" },
    { Connection: "upgrade" },
    { expect: "100-continue" },
  ])("refuses the header %j without sending anything [FC-26]", async (headers) => {
    const server = await serve((_request, response) => response.end());
    const error = await failure(
      dial(server.url).request(requestTo(server.url, { headers: headers as Record<string, string> })),
    );
    expect([error.code, error.data["wasSent"]]).toEqual(["config_invalid", false]);
    expect(server.connections()).toBe(0);
  });

  it("tries all addresses of a name, whichever answers [FC-40]", async () => {
    const server = await serve((_request, response) => response.end("here"));
    const url = new URL(`http://two-families.test:${server.url.port}/`);
    const port = dial(url, { resolve: () => Promise.resolve(["::1", "127.0.0.1"]) });
    expect(await textOf(await port.request(requestTo(url)))).toBe("here");
  });

  it("asks the resolver once per socket and connects to what was judged: rebinding bites on nothing [SEC-06]", async () => {
    const server = await serve((_request, response) => response.setHeader("connection", "close").end("ok"));
    const url = new URL(`http://rebinding.test:${server.url.port}/`);
    const answers = [["127.0.0.1"], ["169.254.169.254"]];
    let asked = 0;
    const port = dial(url, {
      resolve: () => {
        asked += 1;
        return Promise.resolve(answers.shift() ?? []);
      },
    });
    expect(await textOf(await port.request(requestTo(url)))).toBe("ok");
    expect((await failure(port.request(requestTo(url)))).code).toBe("egress_denied");
    expect([asked, server.connections()]).toEqual([2, 1]);
  });
});

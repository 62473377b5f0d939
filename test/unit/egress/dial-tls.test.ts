import { readFileSync } from "node:fs";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { dial, ends, failure, requestTo, textOf } from "../../support/http-port-kit.ts";

describe("TLS", () => {
  const file = (name: string): string =>
    readFileSync(new URL(`../../servers/tls/${name}`, import.meta.url), "utf8");

  async function serveTls(): Promise<URL> {
    const server = createTlsServer(
      { key: file("server.key"), cert: file("server.pem") },
      (_request, response) => {
        response.end("secured");
      },
    );
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    ends.push(
      () =>
        new Promise((resolve) => {
          server.close(resolve);
          server.closeAllConnections();
        }),
    );
    return new URL(`https://tls.test:${(server.address() as AddressInfo).port}/`);
  }
  const resolve = (): Promise<readonly string[]> => Promise.resolve(["127.0.0.1"]);

  it("trusts a private authority where it is told to, and keeps the socket", async () => {
    const url = await serveTls();
    const port = dial(url, { resolve, tls: { ca: [file("ca.pem")] } });
    for (let round = 0; round < 3; round += 1)
      expect(await textOf(await port.request(requestTo(url)))).toBe("secured");
  });

  it("asks for the certificate of a name without its trailing dot", async () => {
    const url = new URL(`https://tls.test.:${(await serveTls()).port}/`);
    const port = dial(url, { resolve, tls: { ca: [file("ca.pem")] } });
    expect(await textOf(await port.request(requestTo(url)))).toBe("secured");
  });

  it("refuses an unknown authority, and a certificate for another name, before anything is sent", async () => {
    const url = await serveTls();
    const unknown = await failure(dial(url, { resolve }).request(requestTo(url)));
    expect([unknown.code, unknown.data["wasSent"]]).toEqual(["connection_lost", false]);
    const other = new URL(`https://other.test:${url.port}/`);
    const named = await failure(
      dial(other, { resolve, tls: { ca: [file("ca.pem")] } }).request(requestTo(other)),
    );
    expect(named.data).toMatchObject({ reason: "ERR_TLS_CERT_ALTNAME_INVALID", wasSent: false });
  });
});

/** The handshake over HTTP, where status and code are judged together. */
import { describe, expect, it } from "vitest";
import { PortcullisError } from "../../../src/errors.ts";
import { discoverResult, errorOf, initializeResult, setUpClient } from "../../support/client-setup.ts";

const methodsOf = (transport: { sent: readonly { message: object }[] }): unknown[] =>
  transport.sent.map(({ message }) => (message as { method?: string }).method);

describe("connect over HTTP", () => {
  const status = (code: number): PortcullisError =>
    new PortcullisError("http_error", `status ${code}`, { data: { status: code, wasSent: true } });
  const at = (id: number | string, httpStatus: number): object => ({ requestId: id, httpStatus });

  it("sends the mirrored headers with the probe", async () => {
    const { client, transport } = setUpClient(
      (request, far) => far.answer(request.id, discoverResult(), at(request.id, 200)),
      { kind: "http" },
    );
    await client.connect();
    expect(transport.sent[0]?.options.headers).toEqual({
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "server/discover",
    });
    await client.close();
  });

  it("falls back once on a 4xx without a modern error [VER-10] [VER-12]", async () => {
    for (const code of [400, 404, 405, 406, 415, 422]) {
      const { client, transport } = setUpClient(
        (request, far) =>
          request.method === "server/discover"
            ? far.fail(request.id, status(code))
            : far.answer(request.id, initializeResult(), at(request.id, 200)),
        { kind: "http" },
      );
      expect(await client.connect()).toMatchObject({ era: "legacy" });
      expect(methodsOf(transport)).toEqual(["server/discover", "initialize", "notifications/initialized"]);
      await client.close();
    }
  });

  it("does not fall back on 5xx, a time-out or a lost connection", async () => {
    const { client, transport } = setUpClient((request, far) => far.fail(request.id, status(500)), {
      kind: "http",
    });
    expect((await errorOf(client.connect())).code).toBe("http_error");
    expect(methodsOf(transport)).toEqual(["server/discover"]);

    const silent = setUpClient(() => undefined, { kind: "http" });
    const failed = errorOf(silent.client.connect());
    await silent.clock.advance(30_000);
    expect((await failed).code).toBe("connect_timeout");
    expect(methodsOf(silent.transport)).toEqual(["server/discover"]);
    expect(silent.transport.sent[0]?.options.signal?.aborted).toBe(true);
  });

  it("asks the hook on 401 and repeats the probe with its headers", async () => {
    const refusal = new PortcullisError("auth_required", "401", {
      data: { status: 401, wwwAuthenticate: "Bearer" },
    });
    const seen: unknown[] = [];
    const { client, transport } = setUpClient(
      (request, far) =>
        transport.sent.length === 1
          ? far.fail(request.id, refusal)
          : far.answer(request.id, discoverResult(), at(request.id, 200)),
      {
        kind: "http",
        onUnauthorized: async (error) => {
          seen.push(error.data["wwwAuthenticate"]);
          return { authorization: "Bearer new" };
        },
      },
    );
    expect(await client.connect()).toMatchObject({ era: "modern" });
    expect(seen).toEqual(["Bearer"]);
    expect(transport.sent[1]?.options.headers).toMatchObject({ authorization: "Bearer new" });
    await client.close();
  });

  it("ends with auth_required where the hook has nothing, and on a second 401", async () => {
    const refusal = new PortcullisError("auth_required", "401", { data: { status: 401 } });
    for (const answer of [undefined, { authorization: "Bearer new" }]) {
      const { client, transport } = setUpClient((request, far) => far.fail(request.id, refusal), {
        kind: "http",
        onUnauthorized: async () => answer,
      });
      expect((await errorOf(client.connect())).code).toBe("auth_required");
      expect(transport.sent).toHaveLength(answer === undefined ? 1 : 2);
    }
  });

  it("is modern without discovery where both probe and initialize are unknown methods [HTTP-38]", async () => {
    const { client } = setUpClient(
      (request, far) => far.answerError(request.id, -32601, "no", undefined, at(request.id, 404)),
      { kind: "http" },
    );
    expect(await client.connect()).toMatchObject({
      era: "modern",
      areCapabilitiesKnown: false,
      capabilities: {},
    });
    await client.close();
  });

  it("offers a lower version once after a bare 400", async () => {
    const offered: unknown[] = [];
    const { client } = setUpClient(
      (request, far) => {
        if (request.method === "server/discover") return far.fail(request.id, status(400));
        offered.push(request.params?.["protocolVersion"]);
        if (offered.length === 1) far.fail(request.id, status(400));
        else
          far.answer(
            request.id,
            { ...initializeResult(), protocolVersion: "2025-06-18" },
            at(request.id, 200),
          );
      },
      { kind: "http" },
    );
    expect(await client.connect()).toMatchObject({ era: "legacy", revision: "2025-06-18" });
    expect(offered).toEqual(["2025-11-25", "2025-06-18"]);
    await client.close();
  });

  it("names the deprecated transport where initialize meets 404 too [VER-14]", async () => {
    const { client } = setUpClient((request, far) => far.fail(request.id, status(404)), { kind: "http" });
    const error = await errorOf(client.connect());
    expect(error.code).toBe("incompatible");
    expect(error.data["maybeHttpSse"]).toBe(true);
  });

  it("never probes the deprecated transport", async () => {
    const { client, transport } = setUpClient(
      (request, far) => far.answer(request.id, { ...initializeResult(), protocolVersion: "2024-11-05" }),
      { kind: "sse" },
    );
    expect(await client.connect()).toMatchObject({ era: "legacy", revision: "2024-11-05" });
    expect(methodsOf(transport)).toEqual(["initialize", "notifications/initialized"]);
    await client.close();
  });
});

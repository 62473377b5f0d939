/** What all requests share: sessions and authorization that are mended once, and header corrections. */
import { describe, expect, it } from "vitest";
import { PortcullisError } from "../../../src/errors.ts";
import type { JsonRpcRequest } from "../../../src/protocol/jsonrpc.ts";
import {
  connectLegacy,
  connectModern,
  errorOf,
  initializeResult,
  originOf,
  setUpClient,
  settle,
} from "../../support/client-setup.ts";

const TEXT = { resultType: "complete", content: [] };
const lost = (status: number): PortcullisError =>
  new PortcullisError("session_lost", `status ${status}`, { data: { status, wasSent: true } });
const refused = (status = 401): PortcullisError =>
  new PortcullisError("auth_required", `status ${status}`, { data: { status, wasSent: true } });
const ok = (request: JsonRpcRequest): object => originOf(request, "http");

describe("a lost session", () => {
  it("is renewed once for all waiters, and each of their requests is sent once more [HTTPL-04]", async () => {
    const { client, transport, events } = await connectLegacy(
      (request, far) => {
        if (transport.sentOf("initialize").length < 2) far.fail(request.id, lost(404));
        else far.answer(request.id, { content: [] }, ok(request));
      },
      { kind: "http" },
    );
    await Promise.all(Array.from({ length: 5 }, () => client.callTool("add_one", {})));
    expect(transport.sentOf("initialize")).toHaveLength(2);
    expect(transport.sentOf("notifications/initialized")).toHaveLength(2);
    expect(transport.sentOf("tools/call")).toHaveLength(10);
    expect(transport.settled).toHaveLength(2);
    expect(events.filter((event) => event.type === "session.renewed")).toHaveLength(1);
    await client.close();
  });

  it("lets nothing pass until the owner has looked at the new one", async () => {
    let isDead = true;
    let release: () => void = () => undefined;
    const { client, transport } = await connectLegacy(
      (request, far) => {
        if (request.method === "tools/call" && isDead) far.fail(request.id, lost(404));
        else if (request.method === "tools/list") far.answer(request.id, { tools: [] }, ok(request));
        else far.answer(request.id, { content: [] }, ok(request));
      },
      {
        kind: "http",
        async onNewSession(session) {
          isDead = false;
          await session.list("tools");
          await new Promise<void>((resolve) => {
            release = resolve;
          });
        },
      },
    );
    const first = client.callTool("a", {});
    await settle();
    const second = client.callTool("b", {});
    await settle();
    expect(transport.sentOf("tools/list")).toHaveLength(1);
    expect(transport.sentOf("tools/call")).toHaveLength(1);
    release();
    await Promise.all([first, second]);
    expect(transport.sentOf("tools/call")).toHaveLength(3);
    await client.close();
  });

  it("that cannot be renewed ends the client, for every waiter, after one try", async () => {
    let initializes = 0;
    const { client, transport, events } = setUpClient(
      (request, far) => {
        if (request.method !== "initialize") return far.fail(request.id, lost(404));
        initializes += 1;
        if (initializes === 1) far.answer(request.id, initializeResult(), ok(request));
        else far.fail(request.id, new PortcullisError("http_error", "404", { data: { status: 404 } }));
      },
      { kind: "http", eraHint: "legacy" },
    );
    await client.connect();
    const errors = await Promise.all([errorOf(client.callTool("a", {})), errorOf(client.callTool("b", {}))]);
    for (const error of errors) expect(error.data).toMatchObject({ wasSent: false, provesNoEffect: true });
    expect(initializes).toBe(2);
    expect(events.at(-1)).toMatchObject({ type: "closed", error: { code: "incompatible" } });
    expect(transport.closes).toBe(1);
    await client.close();
  });

  it("is not renewed without end where the new one is dead too", async () => {
    const { client, transport } = await connectLegacy((request, far) => far.fail(request.id, lost(404)), {
      kind: "http",
    });
    expect((await errorOf(client.callTool("a", {}))).code).toBe("session_lost");
    expect(transport.sentOf("initialize")).toHaveLength(2);
    expect(transport.sentOf("tools/call")).toHaveLength(2);
    await client.close();
  });

  it("told by another status than 404 is renewed, but a write is not sent again", async () => {
    for (const status of [400, 410]) {
      let isDead = true;
      const { client, transport } = await connectLegacy(
        (request, far) => {
          if (isDead) far.fail(request.id, lost(status));
          else far.answer(request.id, { content: [], contents: [] }, ok(request));
          isDead = false;
        },
        { kind: "http" },
      );
      expect((await errorOf(client.callTool("write", {}))).data).toMatchObject({
        wasSent: true,
        provesNoEffect: false,
      });
      expect(transport.sentOf("initialize")).toHaveLength(2);
      isDead = true;
      await client.readResource("x:/");
      expect(transport.sentOf("resources/read")).toHaveLength(2);
      await client.close();
    }
  });
});

describe("a 401", () => {
  it("is mended once for all, and each request sent once more with the new headers", async () => {
    let token = "old";
    let asked = 0;
    const { client, transport } = await connectModern(
      (request, far) => {
        const headers = transport.sent.find(({ message }) => (message as { id?: unknown }).id === request.id)
          ?.options.headers;
        if (headers?.["authorization"] === "Bearer new") far.answer(request.id, TEXT, ok(request));
        else far.fail(request.id, refused());
      },
      {
        kind: "http",
        async onUnauthorized() {
          asked += 1;
          await settle();
          token = "new";
          return { authorization: `Bearer ${token}` };
        },
      },
    );
    await Promise.all(Array.from({ length: 10 }, () => client.callTool("a", {})));
    expect(asked).toBe(1);
    expect(transport.sentOf("tools/call")).toHaveLength(20);
    await client.callTool("a", {});
    expect(transport.sentOf("tools/call")).toHaveLength(21);
    await client.close();
  });

  it("that comes after the mending is sent again without another one", async () => {
    let asked = 0;
    const { client, transport } = await connectModern(() => undefined, {
      kind: "http",
      onUnauthorized: async () => {
        asked += 1;
        return { authorization: `new ${asked}` };
      },
    });
    const both = Promise.all([client.callTool("a", {}), client.callTool("b", {})]);
    await settle();
    const [one, other] = transport
      .sentOf("tools/call")
      .map(({ message }) => Number((message as { id: number }).id));
    transport.fail(one ?? 0, refused());
    await settle();
    // The first one goes again under the new token; only now the old refusal of the second arrives.
    transport.fail(other ?? 0, refused());
    await settle();
    expect(asked).toBe(1);
    for (const { message } of transport.sentOf("tools/call").slice(2)) {
      const id = Number((message as { id: number }).id);
      transport.answer(id, TEXT, { requestId: id });
    }
    await both;
    expect(transport.sentOf("tools/call").at(-1)?.options.headers).toMatchObject({ authorization: "new 1" });
    await client.close();
  });

  it("for the second time, or without a hook, is auth_required, and nothing was done", async () => {
    for (const onUnauthorized of [undefined, async () => ({ authorization: "x" }), async () => undefined]) {
      const { client, transport } = await connectModern((request, far) => far.fail(request.id, refused()), {
        kind: "http",
        ...(onUnauthorized === undefined ? {} : { onUnauthorized }),
      });
      const error = await errorOf(client.callTool("a", {}));
      expect(error.code).toBe("auth_required");
      expect(error.data).toMatchObject({ status: 401, provesNoEffect: true });
      expect(transport.sentOf("tools/call").length).toBeLessThanOrEqual(2);
      await client.close();
    }
  });

  it("gives the hook's own failure to everybody who waited", async () => {
    const { client } = await connectModern((request, far) => far.fail(request.id, refused(403)), {
      kind: "http",
      onUnauthorized: async () => {
        throw new PortcullisError("auth_failed", "the refresh token was refused");
      },
    });
    const errors = await Promise.all([errorOf(client.callTool("a", {})), errorOf(client.callTool("b", {}))]);
    expect(errors.map((error) => error.code)).toEqual(["auth_failed", "auth_failed"]);
    for (const error of errors) expect(error.data).toMatchObject({ wasSent: false, provesNoEffect: true });
    await client.close();
  });

  it("does not keep a caller that gives up waiting", async () => {
    const { client } = await connectModern((request, far) => far.fail(request.id, refused()), {
      kind: "http",
      onUnauthorized: (_error, signal) =>
        new Promise((_resolve, reject) =>
          signal.addEventListener("abort", () => reject(new Error("closed"))),
        ),
    });
    const controller = new AbortController();
    const failed = errorOf(client.callTool("a", {}, { signal: controller.signal }));
    await settle();
    const behind = errorOf(client.callTool("b", {}, { signal: controller.signal }));
    await settle();
    controller.abort(new Error("no"));
    for (const error of [await failed, await behind]) {
      expect(error.code).toBe("cancelled");
      expect(error.data).toMatchObject({ wasSent: false, provesNoEffect: true });
    }
    await client.close();
  });

  it("during the renewal of a session asks the hook and does not wait for itself", async () => {
    let initializes = 0;
    const { client } = setUpClient(
      (request, far) => {
        if (request.method === "initialize") {
          initializes += 1;
          if (initializes === 2) far.fail(request.id, refused());
          else far.answer(request.id, initializeResult(), ok(request));
        } else if (initializes === 1) far.fail(request.id, lost(404));
        else far.answer(request.id, { content: [] }, ok(request));
      },
      { kind: "http", eraHint: "legacy", onUnauthorized: async () => ({ authorization: "new" }) },
    );
    await client.connect();
    await client.callTool("a", {});
    expect(initializes).toBe(3);
    await client.close();
  });

  it("comes before or after a lost session without confusing the two", async () => {
    let step = 0;
    const { client } = await connectLegacy(
      (request, far) => {
        step += 1;
        if (step === 1) far.fail(request.id, lost(404));
        else if (step === 2) far.fail(request.id, refused());
        else far.answer(request.id, { content: [] }, ok(request));
      },
      { kind: "http", onUnauthorized: async () => ({ authorization: "new" }) },
    );
    const errors = await Promise.allSettled([client.callTool("a", {}), client.callTool("b", {})]);
    expect(errors.map((one) => one.status)).toEqual(["fulfilled", "fulfilled"]);
    await client.close();
  });
});

describe("mirrored headers", () => {
  const tools = (header: string): object => ({
    resultType: "complete",
    tools: [
      {
        name: "a",
        inputSchema: { type: "object", properties: { region: { type: "string", "x-mcp-header": header } } },
      },
      {
        name: "bad",
        inputSchema: { type: "object", properties: { region: { type: "string", "x-mcp-header": "" } } },
      },
    ],
  });

  it("are made from the last list, and an invalid tool is left out and named [HTTP-28] [HTTP-29] [HTTP-31]", async () => {
    const { client, transport } = await connectModern(
      (request, far) =>
        far.answer(
          request.id,
          (request.method === "tools/list" ? tools("Region") : TEXT) as never,
          ok(request),
        ),
      { kind: "http" },
    );
    const listed = await client.list("tools");
    expect(listed.items.map((tool) => tool.name)).toEqual(["a"]);
    expect(listed.findings).toMatchObject([{ rule: "catalog.bad-header", where: "tools/bad" }]);
    await client.callTool("a", { region: "x" });
    expect(transport.sent.at(-1)?.options.headers).toMatchObject({
      "mcp-method": "tools/call",
      "mcp-name": "a",
      "mcp-param-region": "x",
    });
    await client.close();
  });

  it("are left out where no list was ever seen [HTTP-32]", async () => {
    const { client, transport } = await connectModern(
      (request, far) => far.answer(request.id, TEXT, ok(request)),
      { kind: "http" },
    );
    await client.callTool("a", { region: "x" });
    expect(Object.keys(transport.sent.at(-1)?.options.headers ?? {})).toEqual([
      "mcp-protocol-version",
      "mcp-method",
      "mcp-name",
    ]);
    await client.close();
  });

  it("stale list after a change: -32020 lists again and sends once more with the right headers [HTTP-30]", async () => {
    let header = "Old";
    const { client, transport } = await connectModern(
      (request, far) => {
        if (request.method === "tools/list")
          return far.answer(request.id, tools(header) as never, ok(request));
        const headers = transport.sent.at(-1)?.options.headers ?? {};
        if (headers["mcp-param-new"] === undefined)
          far.answerError(request.id, -32020, "mismatch", undefined, {
            requestId: request.id,
            httpStatus: 400,
          });
        else far.answer(request.id, TEXT, ok(request));
      },
      { kind: "http" },
    );
    await client.list("tools");
    header = "New";
    await client.callTool("a", { region: "x" });
    expect(transport.sentOf("tools/list")).toHaveLength(2);
    expect(transport.sentOf("tools/call")).toHaveLength(2);
    await client.close();
  });

  it("that stay wrong are an error after one more try", async () => {
    const { client, transport } = await connectModern(
      (request, far) => {
        if (request.method === "tools/list") far.answer(request.id, tools("X") as never, ok(request));
        else
          far.answerError(request.id, -32020, "mismatch", undefined, {
            requestId: request.id,
            httpStatus: 400,
          });
      },
      { kind: "http" },
    );
    const error = await errorOf(client.callTool("a", {}));
    expect(error).toMatchObject({ code: "protocol_error", data: { provesNoEffect: true } });
    expect(transport.sentOf("tools/call")).toHaveLength(2);
    await client.close();
  });

  it("that cannot carry an integer refuse the arguments before anything is sent [HTTP-27]", async () => {
    const { client, transport } = await connectModern(() => undefined, { kind: "http" });
    const error = await errorOf(
      client.callTool("a", { n: 2 ** 60 }, { headerPlan: [{ header: "N", path: ["n"] }] }),
    );
    expect(error).toMatchObject({ code: "invalid_arguments", data: { wasSent: false } });
    expect(transport.sentOf("tools/call")).toEqual([]);
    await client.close();
  });

  it("are none of a stream's business", async () => {
    const { client, transport } = await connectModern((request, far) =>
      far.answer(request.id, request.method === "tools/list" ? (tools("R") as never) : TEXT),
    );
    expect((await client.list("tools")).items).toHaveLength(2);
    await client.callTool("a", { region: "x" });
    expect(transport.sent.at(-1)?.options.headers).toBeUndefined();
    await client.close();
  });
});

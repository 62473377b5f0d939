/** The handshake on a stream: stdio, in memory. */
import { describe, expect, it } from "vitest";
import { PortcullisError } from "../../../src/errors.ts";
import {
  discoverResult,
  errorOf,
  initializeResult,
  lastParams,
  setUpClient,
  settle,
} from "../../support/client-setup.ts";
import type { Respond } from "../../support/scripted-transport.ts";

const methodsOf = (transport: { sent: readonly { message: object }[] }): unknown[] =>
  transport.sent.map(({ message }) => (message as { method?: string }).method);

describe("connect on a stream", () => {
  it("takes a DiscoverResult for modern and sends nothing else [VER-03] [VER-04]", async () => {
    const { client, transport } = setUpClient((request, far) => far.answer(request.id, discoverResult()));
    expect(await client.connect()).toMatchObject({
      era: "modern",
      revision: "2026-07-28",
      areCapabilitiesKnown: true,
      serverInfo: { name: "scripted" },
      verdictIsCertain: true,
    });
    expect(methodsOf(transport)).toEqual(["server/discover"]);
    expect(transport.sent[0]?.message).toHaveProperty(
      ["params", "_meta", "io.modelcontextprotocol/protocolVersion"],
      "2026-07-28",
    );
    expect(transport.settled).toEqual([{ era: "modern", revision: "2026-07-28" }]);
    await client.close();
  });

  it("falls back to initialize on any other error, whatever its code [VER-06] [VER-07] [VER-17]", async () => {
    for (const code of [-32601, -32602, -32000, -32001, 42]) {
      const { client, transport } = setUpClient((request, far) => {
        if (request.method === "server/discover") far.answerError(request.id, code);
        else far.answer(request.id, initializeResult());
      });
      expect(await client.connect()).toMatchObject({
        era: "legacy",
        revision: "2025-11-25",
        verdictIsCertain: true,
      });
      expect(methodsOf(transport)).toEqual(["server/discover", "initialize", "notifications/initialized"]);
      await client.close();
    }
  });

  it("begins with initialize, which says version, capabilities and who it is, as far as the inputs handle them [VER-16] [VER-19] [VER-20]", async () => {
    const { client, transport } = setUpClient((request, far) => far.answer(request.id, initializeResult()), {
      eraHint: "legacy",
      capabilities: { roots: { listChanged: true }, sampling: {} },
      inputs: { elicitForm: async () => ({ action: "decline" }), listRoots: async () => ({ roots: [] }) },
    });
    await client.connect();
    expect(transport.sent[0]?.message).toEqual({
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: {
        protocolVersion: "2025-11-25",
        capabilities: { roots: { listChanged: true }, elicitation: { form: {} } },
        clientInfo: { name: "test", version: "1" },
      },
    });
    await client.close();
  });

  it("initializes on the same process after 5 s of silence, and is not certain then", async () => {
    const { client, clock, transport } = setUpClient((request, far) => {
      if (request.method === "initialize") far.answer(request.id, initializeResult());
    });
    const connecting = client.connect();
    await clock.advance(4_999);
    expect(methodsOf(transport)).toEqual(["server/discover"]);
    await clock.advance(1);
    expect(await connecting).toMatchObject({ era: "legacy", verdictIsCertain: false });
    // Nothing but the handshake is sent before its end: the probe is not cancelled. [VER-18]
    expect(methodsOf(transport)).toEqual(["server/discover", "initialize", "notifications/initialized"]);
    await client.close();
  });

  it("ignores a late answer to the probe once initialize was agreed to", async () => {
    const { client, clock, transport } = setUpClient((request, far) => {
      if (request.method === "initialize") far.answer(request.id, initializeResult());
    });
    const connecting = client.connect();
    await clock.advance(5_000);
    expect(await connecting).toMatchObject({ era: "legacy" });
    transport.answer(1, discoverResult());
    expect(client.facts).toMatchObject({ era: "legacy" });
    expect(client.oddities()).toEqual({ "answer.late": 1 });
    await client.close();
  });

  it("is modern where a DiscoverResult came late and initialize is refused", async () => {
    const { client, clock, transport } = setUpClient((request, far) => {
      if (request.method === "initialize") far.answerError(request.id, -32601);
    });
    const connecting = client.connect();
    await clock.advance(5_000);
    expect(methodsOf(transport)).toEqual(["server/discover", "initialize"]);
    transport.answer(1, discoverResult());
    expect(await connecting).toMatchObject({
      era: "modern",
      verdictIsCertain: true,
      areCapabilitiesKnown: true,
    });
    expect(client.oddities()).toEqual({ "answer.late": 1 });
    await client.close();
  });

  it("says to start again as legacy where the process left because of the probe", async () => {
    const { client, transport } = setUpClient((request, far) => {
      if (request.method === "server/discover")
        far.drop(new PortcullisError("process_exited", "exit 1", { data: { exitCode: 1 } }));
    });
    const error = await errorOf(client.connect());
    expect(error.code).toBe("process_exited");
    expect(error.data).toMatchObject({ startAgainWith: "legacy", exitCode: 1 });
    expect(transport.closes).toBe(1);
  });

  it("does not say so where it left during initialize", async () => {
    const { client } = setUpClient(
      (request, far) => far.drop(new PortcullisError("process_exited", `exit in ${request.method}`)),
      { eraHint: "legacy" },
    );
    const error = await errorOf(client.connect());
    expect(error).toMatchObject({ code: "process_exited", message: "exit in initialize" });
    expect(error.data).not.toHaveProperty("startAgainWith");
  });

  it("asks once more with a version that -32022 names [VER-02]", async () => {
    let asked = 0;
    const { client, transport } = setUpClient((request, far) => {
      asked += 1;
      if (asked === 1)
        far.answerError(request.id, -32022, "no", { supported: ["2026-07-28"], requested: "2026-07-28" });
      else far.answer(request.id, discoverResult());
    });
    expect(await client.connect()).toMatchObject({ era: "modern" });
    expect(methodsOf(transport)).toEqual(["server/discover", "server/discover"]);
    await client.close();
  });

  it("never falls back on -32020 and -32021 [VER-05]", async () => {
    for (const code of [-32020, -32021]) {
      const { client, transport } = setUpClient((request, far) => far.answerError(request.id, code));
      expect((await errorOf(client.connect())).code).toBe("incompatible");
      expect(methodsOf(transport)).toEqual(["server/discover", "server/discover"]);
    }
  });

  it("uses initialize with a version that a server of both eras names", async () => {
    const { client, transport } = setUpClient((request, far) => {
      if (request.method === "server/discover")
        far.answer(request.id, { ...discoverResult(), supportedVersions: ["2025-03-26"] });
      else far.answer(request.id, { ...initializeResult(), protocolVersion: "2025-03-26" });
    });
    expect(await client.connect()).toMatchObject({ era: "legacy", revision: "2025-03-26" });
    expect(lastParams(transport, "initialize")).toMatchObject({ protocolVersion: "2025-03-26" });
    await client.close();
  });

  const mismatches: readonly (readonly [string, Respond])[] = [
    [
      "a version that nobody knows [VER-21] [VER-24]",
      (request, far) =>
        far.answer(
          request.id,
          request.method === "initialize"
            ? { protocolVersion: "1999-01-01" }
            : { supportedVersions: ["1999-01-01"] },
        ),
    ],
    [
      "a modern version in initialize",
      (request, far) =>
        request.method === "initialize"
          ? far.answer(request.id, { protocolVersion: "2026-07-28" })
          : far.answerError(request.id, -32601),
    ],
    [
      "no version in initialize",
      (request, far) =>
        request.method === "initialize"
          ? far.answer(request.id, { capabilities: {} })
          : far.answerError(request.id, -32601),
    ],
  ];
  for (const [name, respond] of mismatches) {
    it(`is incompatible with ${name}, and names both sides`, async () => {
      const { client, transport } = setUpClient(respond);
      const error = await errorOf(client.connect());
      expect(error.code).toBe("incompatible");
      expect(error.data["clientVersions"]).toContain("2026-07-28");
      expect(error.data).toHaveProperty("serverVersions");
      expect(transport.closes).toBe(1);
      expect(methodsOf(transport)).not.toContain("notifications/initialized");
    });
  }

  it("probes anew where a remembered legacy verdict fails [VER-13]", async () => {
    const { client, transport } = setUpClient(
      (request, far) => {
        if (request.method === "initialize") far.answerError(request.id, -32601);
        else far.answer(request.id, discoverResult());
      },
      { eraHint: "legacy" },
    );
    expect(await client.connect()).toMatchObject({ era: "modern" });
    expect(methodsOf(transport)).toEqual(["initialize", "server/discover"]);
    await client.close();
  });

  it("gives a server that was modern before half of the handshake time, and then asks it as a legacy one", async () => {
    const { client, clock, transport } = setUpClient(() => undefined, { eraHint: "modern" });
    const connecting = client.connect();
    await clock.advance(14_000);
    transport.answer(1, discoverResult());
    expect(await connecting).toMatchObject({ era: "modern" });
    await client.close();

    const stale = setUpClient(
      (request, far) => {
        if (request.method === "initialize") far.answer(request.id, initializeResult());
      },
      { eraHint: "modern" },
    );
    const second = stale.client.connect();
    await stale.clock.advance(15_000);
    expect(await second).toMatchObject({ era: "legacy", verdictIsCertain: false });
    await stale.client.close();
  });

  it("fails in bounded time where nothing is ever answered, cancels nothing, and closes [VER-23]", async () => {
    const { client, clock, transport } = setUpClient();
    const failed = errorOf(client.connect());
    await clock.advance(60_000);
    expect((await failed).code).toBe("connect_timeout");
    expect(methodsOf(transport)).toEqual(["server/discover", "initialize"]);
    expect(transport.closes).toBe(1);
    expect(clock.pending()).toBe(0);
  });

  it("ends at once with its caller's reason", async () => {
    const { client, transport, clock } = setUpClient();
    const controller = new AbortController();
    const connecting = client.connect(controller.signal);
    await settle();
    controller.abort(new Error("no longer"));
    await expect(connecting).rejects.toThrow("no longer");
    expect(transport.closes).toBe(1);
    expect(clock.pending()).toBe(0);
  });

  it("takes an error without an id for the answer to the only message that is out", async () => {
    const { client, clock, transport } = setUpClient((request, far) => {
      if (request.method === "server/discover") far.answerError(null, -32700);
      else far.answer(request.id, initializeResult());
    });
    const connecting = client.connect();
    await clock.advance(2_000);
    expect(await connecting).toMatchObject({ era: "legacy", verdictIsCertain: true });
    expect(methodsOf(transport)).toContain("initialize");
    await client.close();
  });

  it("connects once", async () => {
    const { client } = setUpClient((request, far) => far.answer(request.id, discoverResult()));
    await client.connect();
    expect((await errorOf(client.connect())).code).toBe("usage");
    await client.close();
    expect((await errorOf(client.request("ping"))).data).toMatchObject({
      wasSent: false,
      provesNoEffect: true,
    });
  });

  it("answers a ping of the server before initialize was answered, and nothing while it probes [STDIO-04]", async () => {
    const { client, transport } = setUpClient((request, far) => {
      if (request.method === "server/discover") {
        far.arrive({ jsonrpc: "2.0", id: "early", method: "ping" });
        far.answerError(request.id, -32601);
      } else {
        far.arrive({ jsonrpc: "2.0", id: "p", method: "ping" });
        far.answer(request.id, initializeResult());
      }
    });
    await client.connect();
    expect(transport.sent.map(({ message }) => message).filter((message) => "result" in message)).toEqual([
      { jsonrpc: "2.0", id: "p", result: {} },
    ]);
    await client.close();
  });
});

/** Small duties of a client towards servers that are older, newer or quieter than it. */
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/base/json.ts";
import { rpcCodes } from "../../../src/protocol/codes.ts";
import { rpcCodeOf } from "../../../src/client/remote-error.ts";
import { connectLegacy, connectModern, errorOf, settle } from "../../support/client-setup.ts";

const TEXT = { resultType: "complete", content: [] };

describe("a client", () => {
  it("takes -32002 of an older server for what it is: the resource is not there [RPC-01]", async () => {
    const { client } = await connectLegacy((request, far) =>
      far.answerError(request.id, -32_002, "not found"),
    );
    const error = await errorOf(client.readResource("x:/none"));
    expect(error.code).toBe("remote_error");
    expect(rpcCodeOf(error)).toBe(rpcCodes.resourceNotFound);
    await client.close();
  });

  it("gives each request its own time [CAN-09]", async () => {
    const { client, clock } = await connectModern();
    const short = errorOf(client.callTool("a", {}, { idleTimeoutMs: 1_000 }));
    const long = errorOf(client.callTool("b", {}, { idleTimeoutMs: 5_000, totalTimeoutMs: 2_000 }));
    await settle();
    await clock.advance(1_000);
    expect((await short).data).toMatchObject({ limit: "idle", idleTimeoutMs: 1_000 });
    await clock.advance(1_000);
    expect((await long).data).toMatchObject({ limit: "total", totalTimeoutMs: 2_000 });
    await client.close();
  });

  it("knows which tokens are in use: progress of a request that is over reaches nobody [PRG-03]", async () => {
    const { client, transport } = await connectModern((request, far) => far.answer(request.id, TEXT));
    const seen: unknown[] = [];
    await client.callTool("a", {}, { onProgress: (progress) => seen.push(progress) });
    const { id } = transport.sentOf("tools/call")[0]?.message as { id: number };
    transport.arrive({
      jsonrpc: "2.0",
      method: "notifications/progress",
      params: { progressToken: id, progress: 1 },
    });
    expect(seen).toEqual([]);
    await client.close();
  });

  it("behaves the same whatever a server calls itself [META-07] [META-08]", async () => {
    const wire = async (serverInfo: JsonObject): Promise<unknown[]> => {
      const { client, transport } = await connectModern((request, far) =>
        far.answer(request.id, { ...TEXT, _meta: { "io.modelcontextprotocol/serverInfo": serverInfo } }),
      );
      await client.callTool("a", { text: "x" });
      await client.close();
      return transport.sent.map(({ message }) => message);
    };
    expect(await wire({ name: "trusted-by-everybody", version: "9" })).toEqual(
      await wire({ name: "x", version: "" }),
    );
  });
});

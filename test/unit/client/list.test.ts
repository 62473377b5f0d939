import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/base/json.ts";
import { PortcullisError } from "../../../src/errors.ts";
import { connectModern, errorOf } from "../../support/client-setup.ts";
import type { Respond } from "../../support/scripted-transport.ts";

const tool = (name: string): JsonObject => ({ name, inputSchema: { type: "object" } });

/** Pages by cursor; `undefined` is the first. */
const serve =
  (pageOf: (cursor: string | undefined) => JsonObject): Respond =>
  (request, far) =>
    far.answer(request.id, {
      resultType: "complete",
      ttlMs: 5_000,
      cacheScope: "public",
      ...pageOf(request.params?.["cursor"] as string | undefined),
    });

describe("a list", () => {
  it("is read to its end, cursors given back as they came, the empty one too [PAG-01] [PAG-02] [PAG-03] [PAG-04] [PAG-05]", async () => {
    const cursors: (string | undefined)[] = [];
    const { client } = await connectModern(
      serve((cursor) => {
        cursors.push(cursor);
        if (cursor === undefined) return { tools: [tool("a")], nextCursor: "" };
        if (cursor === "") return { tools: [], nextCursor: " ü\n" };
        return { tools: [tool("b"), tool("c")] };
      }),
    );
    const listed = await client.list("tools");
    expect(cursors).toEqual([undefined, "", " ü\n"]);
    expect(listed).toMatchObject({
      isPartial: false,
      pages: 3,
      ttlMs: 5_000,
      cacheScope: "public",
      findings: [],
    });
    expect(listed.items.map((item) => item.name)).toEqual(["a", "b", "c"]);
    await client.close();
  });

  it("is as fresh as its stalest page and as private as its most private one", async () => {
    const { client } = await connectModern(
      serve((cursor) =>
        cursor === undefined
          ? { tools: [], nextCursor: "x" }
          : { tools: [], ttlMs: 100, cacheScope: "private" },
      ),
    );
    expect(await client.list("tools")).toMatchObject({ ttlMs: 100, cacheScope: "private" });
    await client.close();
  });

  it("ends where a cursor comes twice [PAG-08]", async () => {
    const { client, transport } = await connectModern(
      serve((cursor) => ({ tools: [tool(`t${cursor}`)], nextCursor: cursor === "a" ? "b" : "a" })),
    );
    expect(await client.list("tools")).toMatchObject({
      isPartial: true,
      pages: 3,
      findings: [{ rule: "catalog.cursor-loop" }],
    });
    expect(transport.sentOf("tools/list")).toHaveLength(3);
    await client.close();
  });

  it("ends at 64 pages and 2,000 items", async () => {
    let page = 0;
    const { client, transport } = await connectModern(
      serve(() => ({ tools: [tool(`t${(page += 1)}`)], nextCursor: `c${page}` })),
    );
    expect(await client.list("tools")).toMatchObject({
      isPartial: true,
      pages: 64,
      findings: [{ rule: "catalog.too-many" }],
    });
    expect(transport.sentOf("tools/list")).toHaveLength(64);
    await client.close();

    const many = await connectModern(
      serve((cursor) => ({
        tools: Array.from({ length: 900 }, (_, index) => tool(`${cursor}-${index}`)),
        nextCursor: `${cursor}x`,
      })),
    );
    const listed = await many.client.list("tools");
    expect(listed.items).toHaveLength(2_000);
    expect(listed.isPartial).toBe(true);
    await many.client.close();
  });

  it("keeps what it has where a later page is refused or is no list, and says so", async () => {
    const { client } = await connectModern((request, far) => {
      if (request.params?.["cursor"] === undefined)
        far.answer(request.id, { resultType: "complete", tools: [tool("a")], nextCursor: "x" });
      else far.answerError(request.id, -32602, "bad cursor");
    });
    expect(await client.list("tools")).toMatchObject({
      isPartial: true,
      items: [{ name: "a" }],
      findings: [{ rule: "catalog.page-failed" }],
    });
    await client.close();

    const other = await connectModern(
      serve((cursor) => (cursor === undefined ? { tools: [tool("a")], nextCursor: "x" } : { tools: 3 })),
    );
    expect(await other.client.list("tools")).toMatchObject({ isPartial: true, items: [{ name: "a" }] });
    await other.client.close();
  });

  it("fails where its first page does, or the connection", async () => {
    const { client } = await connectModern((request, far) => far.answerError(request.id, -32603));
    expect((await errorOf(client.list("tools"))).code).toBe("remote_error");
    await client.close();

    const none = await connectModern((request, far) => far.answer(request.id, { resultType: "complete" }));
    expect((await errorOf(none.client.list("tools"))).code).toBe("protocol_error");
    await none.client.close();

    const broken = await connectModern((request, far) => {
      if (request.params?.["cursor"] === undefined)
        far.answer(request.id, { resultType: "complete", tools: [], nextCursor: "x" });
      else far.drop(new PortcullisError("process_exited", "gone"));
    });
    expect((await errorOf(broken.client.list("tools"))).code).toBe("process_exited");
    await broken.client.close();
  });

  it("is empty where the method is unknown: a server may have resources but no templates", async () => {
    const { client } = await connectModern((request, far) => far.answerError(request.id, -32601));
    expect(await client.list("resourceTemplates")).toMatchObject({ items: [], isPartial: false });
    await client.close();
  });

  it("has the same care for prompts, resources and templates [PAG-07]", async () => {
    const { client, transport } = await connectModern(
      serve((cursor) =>
        cursor === undefined
          ? {
              prompts: [{ name: "p" }],
              resources: [{ uri: "x:/" }],
              resourceTemplates: [{ uriTemplate: "x:/{a}", name: "t" }],
              nextCursor: "2",
            }
          : { prompts: [], resources: [], resourceTemplates: [] },
      ),
    );
    expect((await client.list("prompts")).items).toEqual([{ name: "p" }]);
    expect((await client.list("resources")).items).toEqual([{ uri: "x:/", name: "x:/" }]);
    expect((await client.list("resourceTemplates")).items).toEqual([{ uriTemplate: "x:/{a}", name: "t" }]);
    expect(transport.sentOf("prompts/list")).toHaveLength(2);
    await client.close();
  });
});

/** Servers that do not read. */
import { describe, expect, it } from "vitest";
import { ownServer } from "../support/own-server.ts";
import { livingMembers } from "../support/process-group.ts";
import { errorOf, openStdioSession } from "../support/stdio-session.ts";

describe("writing to a server that does not read", () => {
  it("gives up after the write deadline, fails what is in flight, and ends the server", async () => {
    const session = await openStdioSession(ownServer("stdio-deaf"), { limits: { writeDeadlineMs: 200 } });
    const error = await errorOf(session.request("a", { text: "x".repeat(1_000_000) }));
    expect(error.code).toBe("timed_out");
    expect(await session.transport.close()).toEqual({ how: "terminated" });
    expect(livingMembers(session.transport.pid)).toEqual([]);
  });

  it("holds no more than the queue may, and refuses the rest at once", async () => {
    const session = await openStdioSession(ownServer("stdio-deaf"), {
      limits: { queueBytes: 4_000_000, queueMessages: 1_000 },
    });
    const message = { jsonrpc: "2.0", id: 1, method: "a", params: { text: "x".repeat(100_000) } } as const;
    const sends = Array.from({ length: 2_000 }, () => session.transport.send(message, {}));
    const settled = Promise.allSettled(sends);
    const refused = await errorOf(sends.at(-1) ?? Promise.resolve());
    expect(refused.code).toBe("queue_full");
    expect(refused.data["wasSent"]).toBe(false);
    expect(refused.data["queuedBytes"]).toBeLessThanOrEqual(4_000_000);
    const small = { jsonrpc: "2.0", method: "b" } as const;
    const many = Promise.allSettled(Array.from({ length: 2_000 }, () => session.transport.send(small, {})));
    await session.transport.close();
    const codes = [...(await settled), ...(await many)].map((end) =>
      end.status === "rejected" ? end.reason.code : "sent",
    );
    expect(codes.filter((code) => code === "queue_full").length).toBeGreaterThan(2_900);
    expect(codes.every((code) => ["queue_full", "connection_lost", "sent"].includes(code))).toBe(true);
  });

  it("refuses a message over the cap and what is no JSON, and stays usable", async () => {
    const session = await openStdioSession(ownServer("contract-peer"), { limits: { messageBytes: 100_000 } });
    const large = await errorOf(session.request("echo", { text: "x".repeat(100_000) }));
    expect(large.code).toBe("message_too_large");
    expect(large.data["wasSent"]).toBe(false);
    const circular: Record<string, never> = {};
    Object.assign(circular, { circular });
    expect((await errorOf(session.request("echo", circular))).code).toBe("invalid_arguments");
    expect(await session.request("echo", { a: 1 })).toMatchObject({ result: { echo: { a: 1 } } });
    await session.transport.close();
  });

  it("writes one message per line, whatever line ends it holds [STDIO-01]", async () => {
    const session = await openStdioSession(ownServer("contract-peer"));
    const params = { text: "a\nb\r\nc\u2028d\u2029e\u0085f\u000bg" };
    expect(await session.request("echo", params)).toMatchObject({ result: { echo: params } });
    expect(session.transport.counts()?.lines.lines).toBe(1);
    await session.transport.close();
  });
});

/** Requests that end without their answer: time-outs, cancellation, a connection that is over. */
import { describe, expect, it } from "vitest";
import { PortcullisError } from "../../../src/errors.ts";
import type { LateAnswer } from "../../../src/client/correlation.ts";
import { connectLegacy, connectModern, errorOf, lastId, settle } from "../../support/client-setup.ts";

const TEXT = { resultType: "complete", content: [{ type: "text", text: "hi" }] };

describe("time-outs", () => {
  it("cancel on a modern stream, name both limits, and are not cancellations [CAN-07] [CAN-08] [STDIO-07] [BASE-17]", async () => {
    const { client, clock, transport } = await connectModern();
    const failed = errorOf(client.callTool("a", {}, { idleTimeoutMs: 1_000, totalTimeoutMs: 9_000 }));
    await clock.advance(999);
    expect(transport.sentOf("notifications/cancelled")).toEqual([]);
    await clock.advance(1);
    const error = await failed;
    expect(error.code).toBe("timed_out");
    expect(error.message).toContain("1 s without progress, 9 s in all");
    expect(error.data).toMatchObject({ limit: "idle", wasSent: true, provesNoEffect: false });
    expect(error.data).not.toHaveProperty("rpc");
    expect(transport.sentOf("notifications/cancelled").map(({ message }) => message)).toEqual([
      {
        jsonrpc: "2.0",
        method: "notifications/cancelled",
        params: { requestId: lastId(transport, "tools/call"), reason: "timed out" },
      },
    ]);
    await client.close();
  });

  it("are put off by progress, but not beyond the total [CAN-10]", async () => {
    const { client, clock, transport } = await connectModern();
    const failed = errorOf(client.callTool("a", {}, { idleTimeoutMs: 1_000, totalTimeoutMs: 2_500 }));
    await settle();
    const progressToken = lastId(transport, "tools/call");
    for (let progress = 1; progress <= 4; progress += 1) {
      await clock.advance(600);
      transport.arrive({
        jsonrpc: "2.0",
        method: "notifications/progress",
        params: { progressToken, progress },
      });
    }
    await clock.advance(99);
    expect(transport.sentOf("notifications/cancelled")).toEqual([]);
    await clock.advance(1);
    expect((await failed).data).toMatchObject({ limit: "total" });
    await client.close();
  });

  it("have defaults: 30 s without progress", async () => {
    const { client, clock } = await connectModern();
    const failed = errorOf(client.readResource("x:/"));
    await clock.advance(30_000);
    expect((await failed).data).toMatchObject({ idleTimeoutMs: 30_000, totalTimeoutMs: 600_000 });
    await client.close();
  });

  it("of many requests fire each at its own time", async () => {
    const { client, clock } = await connectModern();
    const fired: number[] = [];
    const waits = [5, 3, 9, 1, 7].map((seconds) =>
      errorOf(client.callTool("a", {}, { idleTimeoutMs: seconds * 1_000 })).then(() => fired.push(seconds)),
    );
    for (let second = 1; second <= 9; second += 1) await clock.advance(1_000);
    await Promise.all(waits);
    expect(fired).toEqual([1, 3, 5, 7, 9]);
    await client.close();
    expect(clock.pending()).toBe(0);
  });
});

describe("cancellation", () => {
  it("rejects at once, tells the server once and neutrally [CAN-01] [CAN-03]", async () => {
    const { client, transport } = await connectModern();
    const controller = new AbortController();
    const failed = errorOf(client.callTool("a", {}, { signal: controller.signal }));
    await settle();
    controller.abort(new Error("the user closed the tab of secret-project"));
    const error = await failed;
    expect(error).toMatchObject({ code: "cancelled", cause: controller.signal.reason });
    expect(error.data).toMatchObject({ wasSent: true, provesNoEffect: false });
    const cancels = transport.sentOf("notifications/cancelled");
    expect(cancels).toHaveLength(1);
    expect(JSON.stringify(cancels)).not.toContain("secret");
    await client.close();
  });

  it("keeps the code of a reason that is ours", async () => {
    const { client } = await connectModern();
    const controller = new AbortController();
    const failed = errorOf(client.callTool("a", {}, { signal: controller.signal }));
    await settle();
    controller.abort(new PortcullisError("interrupted", "shut down"));
    expect((await failed).code).toBe("interrupted");
    await client.close();
  });

  it("before anything was sent sends nothing", async () => {
    const { client, transport } = await connectModern();
    const error = await errorOf(client.callTool("a", {}, { signal: AbortSignal.abort(new Error("no")) }));
    expect(error.code).toBe("cancelled");
    expect(error.data).toMatchObject({ wasSent: false, provesNoEffect: true });
    expect(transport.sentOf("tools/call")).toEqual([]);
    await client.close();
  });

  it("takes a message that still waits out of the queue and says that it was not sent", async () => {
    const { client, transport } = await connectModern();
    transport.isStuck = true;
    const controller = new AbortController();
    const failed = errorOf(client.callTool("a", {}, { signal: controller.signal }));
    await settle();
    controller.abort(new Error("no"));
    expect((await failed).data).toMatchObject({ wasSent: false, provesNoEffect: true });
    transport.isStuck = false;
    await settle();
    expect(transport.sent.map(({ message }) => (message as { method: string }).method)).toEqual([
      "server/discover",
    ]);
    await client.close();
  });

  it("race: the answer and the cancellation cross, whichever comes first ends the request once [CAN-05] [CAN-06]", async () => {
    const late: LateAnswer[] = [];
    const { client, transport } = await connectModern();
    const controller = new AbortController();

    // The cancellation first: the answer is late, told to onLate alone.
    const failed = errorOf(
      client.callTool("a", {}, { signal: controller.signal, onLate: (answer) => late.push(answer) }),
    );
    await settle();
    const id = lastId(transport, "tools/call");
    controller.abort(new Error("no"));
    transport.answer(id, TEXT);
    expect((await failed).code).toBe("cancelled");
    expect(late).toEqual([{ kind: "result", result: TEXT }]);
    transport.answer(id, TEXT);
    expect(late).toHaveLength(1);

    // The answer first: the cancellation comes too late and nothing is sent.
    const second = new AbortController();
    const done = client.callTool("a", {}, { signal: second.signal });
    await settle();
    transport.answer(lastId(transport, "tools/call"), TEXT);
    second.abort(new Error("no"));
    expect(await done).toMatchObject({ content: TEXT.content });
    expect(transport.sentOf("notifications/cancelled")).toHaveLength(1);

    // The connection is as good as before.
    const third = client.callTool("a", {});
    await settle();
    transport.answer(lastId(transport, "tools/call"), TEXT);
    await third;
    await client.close();
  });

  it("of a time-out tells a late error too", async () => {
    const late: LateAnswer[] = [];
    const { client, clock, transport } = await connectModern();
    const failed = errorOf(
      client.callTool("a", {}, { idleTimeoutMs: 10, onLate: (answer) => late.push(answer) }),
    );
    await clock.advance(10);
    await failed;
    transport.answerError(lastId(transport, "tools/call"), -32000, "too late");
    expect(late).toEqual([{ kind: "rpc-error", error: { code: -32000, message: "too late" } }]);
    await client.close();
  });

  it("over modern HTTP closes the stream and posts nothing [CAN-02] [HTTP-04]", async () => {
    const { client, transport } = await connectModern(() => undefined, { kind: "http" });
    const controller = new AbortController();
    const failed = errorOf(client.callTool("a", {}, { signal: controller.signal }));
    await settle();
    expect(transport.sent.at(-1)?.options.signal?.aborted).toBe(false);
    controller.abort(new Error("no"));
    await failed;
    expect(transport.sentOf("tools/call")[0]?.options.signal?.aborted).toBe(true);
    expect(transport.sentOf("notifications/cancelled")).toEqual([]);
    expect(await client.notify("notifications/cancelled", { requestId: 1 })).toBe(false);
    await client.close();
  });

  it("over legacy HTTP is a notification; the stream stays a little for a late answer [HTTPL-13]", async () => {
    const late: LateAnswer[] = [];
    const { client, clock, transport } = await connectLegacy(() => undefined, { kind: "http" });
    const controller = new AbortController();
    const failed = errorOf(
      client.callTool("a", {}, { signal: controller.signal, onLate: (answer) => late.push(answer) }),
    );
    await settle();
    controller.abort(new Error("no"));
    await failed;
    expect(transport.sentOf("notifications/cancelled")).toHaveLength(1);
    const stream = transport.sentOf("tools/call")[0]?.options.signal;
    expect(stream?.aborted).toBe(false);
    await clock.advance(10_000);
    expect(stream?.aborted).toBe(true);
    expect(late).toEqual([]);
    await client.close();
  });
});

describe("the end of the connection", () => {
  it("broken stream with a write in flight: connection_lost, was sent, effect unknown, sent once [HTTP-35]", async () => {
    const { client, transport } = await connectModern(() => undefined, { kind: "http" });
    const failed = errorOf(client.callTool("write", {}));
    await settle();
    transport.fail(
      lastId(transport, "tools/call"),
      new PortcullisError("connection_lost", "the stream ended without the response", {
        data: { status: 200, wasSent: true },
      }),
    );
    const error = await failed;
    expect(error.code).toBe("connection_lost");
    expect(error.data).toMatchObject({ wasSent: true, provesNoEffect: false, method: "tools/call" });
    expect(transport.sentOf("tools/call")).toHaveLength(1);
    expect(transport.sentOf("tools/call")[0]?.options.mayHaveEffect).toBe(true);
    await client.close();
  });

  it("fails what is in flight with its error, and what still waited as not sent", async () => {
    const { client, transport, events } = await connectModern();
    const inFlight = errorOf(client.callTool("a", {}));
    await settle();
    transport.isStuck = true;
    const queued = errorOf(client.callTool("b", {}));
    await settle();
    transport.drop(new PortcullisError("process_exited", "exit 3", { data: { exitCode: 3 } }));
    expect((await inFlight).data).toMatchObject({ exitCode: 3, wasSent: true, provesNoEffect: false });
    expect((await queued).data).toMatchObject({ wasSent: false, provesNoEffect: true });
    expect(events.at(-1)).toMatchObject({ type: "closed", error: { code: "process_exited" } });
    expect(transport.sentOf("notifications/cancelled")).toEqual([]);
    const after = await errorOf(client.callTool("c", {}));
    expect(after).toMatchObject({ code: "process_exited", data: { wasSent: false } });
    await client.close();
  });

  it("by close interrupts what is in flight, once", async () => {
    const { client, transport, events, clock } = await connectModern();
    const inFlight = errorOf(client.callTool("a", {}));
    await settle();
    expect(client.close()).toBe(client.close());
    expect(await client.close()).toEqual({ how: "clean" });
    expect(await inFlight).toMatchObject({ code: "interrupted", data: { wasSent: true } });
    expect(events.filter((event) => event.type === "closed")).toEqual([{ type: "closed" }]);
    expect(transport.closes).toBe(1);
    expect(clock.pending()).toBe(0);
  });

  it("makes a message that could not be sent a failure that had no effect", async () => {
    const { client, transport } = await connectModern();
    transport.drop();
    expect((await errorOf(client.callTool("a", {}))).data).toMatchObject({
      wasSent: false,
      provesNoEffect: true,
    });
    await client.close();
  });
});

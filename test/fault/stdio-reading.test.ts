/** What servers write on stdout that is not quite a line of JSON-RPC. */
import { describe, expect, it } from "vitest";
import { MAX_DEPTH } from "../../src/transport/message-text.ts";
import { ownServer } from "../support/own-server.ts";
import { livingMembers } from "../support/process-group.ts";
import { errorOf, openStdioSession } from "../support/stdio-session.ts";

const echo = (id: number, value: object) => ({ jsonrpc: "2.0", id, result: { echo: value } });

describe("reading a server's stdout", () => {
  it("passes noise over, counts it and keeps a visible sample", async () => {
    const session = await openStdioSession(ownServer("stdio-noise"));
    expect(await session.request("a", { n: 1 })).toEqual(echo(1, { n: 1 }));
    expect(await session.request("b", { n: 2 })).toEqual(echo(2, { n: 2 }));
    expect(session.transport.counts()?.oddities).toEqual({ "stdio.noise-line": 16 });
    expect(session.oddities[0]).toEqual({ kind: "stdio.noise-line", sample: "Welcome!" });
    expect(session.oddities.map((oddity) => oddity.sample).join("")).not.toContain("\u001b");
    expect(await session.transport.close()).toEqual({ how: "clean" });
  });

  it("reports a flood of noise in a few events that say how much was left out", async () => {
    const session = await openStdioSession(ownServer("stdio-noise-flood"));
    await session.request("a");
    await session.transport.close();
    expect(session.transport.counts()?.oddities).toEqual({ "stdio.noise-line": 100_000 });
    expect(session.oddities.length).toBeLessThan(100);
  });

  it("takes a byte order mark, CRLF, padding and a last line without its end [BASE-01]", async () => {
    const session = await openStdioSession(ownServer("stdio-line-ends"));
    for (let id = 1; id <= 5; id += 1) expect(await session.request("a", { id })).toEqual(echo(id, { id }));
    expect(await session.request("last", {})).toEqual(echo(6, {}));
    expect((await session.closed)?.code).toBe("process_exited");
    await session.transport.close();
  });

  it("takes invalid UTF-8 and says so", async () => {
    const session = await openStdioSession(ownServer("stdio-invalid-utf8"));
    expect(await session.request("a")).toEqual({ jsonrpc: "2.0", id: 1, result: { text: "a\uFFFD\uFFFDb" } });
    expect(session.oddities.map((oddity) => oddity.kind)).toEqual(["stdio.invalid-utf8"]);
    await session.transport.close();
  });

  it("delivers the messages of a batch and leaves the rest of it out", async () => {
    const session = await openStdioSession(ownServer("stdio-batch"));
    await session.request("a");
    expect(session.messages).toHaveLength(2);
    expect(session.oddities).toEqual([
      { kind: "jsonrpc.batch", sample: "batch of 4, of which 2 are no messages" },
    ]);
    await session.transport.close();
  });

  it(`cuts an answer that is nested deeper than ${MAX_DEPTH} levels, and goes on`, async () => {
    const session = await openStdioSession(ownServer("stdio-deep"));
    const deep = JSON.stringify(await session.request("deep"));
    expect(deep).toContain("[null]");
    expect(deep.length).toBeLessThan(3 * MAX_DEPTH);
    expect(await session.request("flat")).toEqual({ jsonrpc: "2.0", id: 2, result: { value: [] } });
    await session.transport.close();
  });

  it("ends the process group at once when a line goes over the cap", async () => {
    const session = await openStdioSession(ownServer("stdio-endless-line"), {
      limits: { messageBytes: 1_000_000 },
    });
    const error = await errorOf(session.request("a"));
    expect(error.code).toBe("message_too_large");
    expect(error.data["limitBytes"]).toBe(1_000_000);
    expect(await session.transport.close()).toEqual({ how: "killed" });
    expect(livingMembers(session.transport.pid)).toEqual([]);
    expect(session.timesClosed()).toBe(1);
  });

  it("takes a line of exactly the cap", async () => {
    const answerBytes = Buffer.byteLength('{"jsonrpc":"2.0","id":1,"result":{"text":""}}');
    const session = await openStdioSession(ownServer("stdio-drip"), { limits: { messageBytes: 50_000 } });
    await session.request("a", { bytes: 50_000 - answerBytes, pieceBytes: 8_192 });
    expect(
      (await errorOf(session.request("a", { bytes: 50_001 - answerBytes, pieceBytes: 8_192 }))).code,
    ).toBe("message_too_large");
    await session.transport.close();
  });

  it("drains stderr, whatever comes there, and keeps the tail [STDIO-03]", async () => {
    for (const mode of ["lines", "no-newline"]) {
      const session = await openStdioSession(ownServer("stdio-stderr-flood", [mode]));
      for (let id = 1; id <= 5; id += 1)
        expect(await session.request("a")).toEqual({ jsonrpc: "2.0", id, result: {} });
      // Each pipe has a pace of its own: the end of stderr may come after the answer.
      await expect
        .poll(() => session.transport.counts()?.stderrBytes)
        .toBe(5 * (4 * 1024 * 1024 + "last line\n".length));
      expect(session.transport.stderrTail().endsWith("last line")).toBe(true);
      expect(session.transport.stderrTail().length).toBeLessThanOrEqual(4_096);
      expect(session.oddities).toEqual([]);
      await session.transport.close();
    }
  });

  it("goes on when the listener of stderr throws", async () => {
    const session = await openStdioSession(ownServer("stdio-stderr-flood"), {
      onStderrLine: () => {
        throw new Error("a fault of the listener");
      },
    });
    await session.request("a");
    expect(session.oddities[0]).toEqual({
      kind: "stdio.stderr-listener-failed",
      sample: "a fault of the listener",
    });
    await session.transport.close();
  });

  it("passes stderr on by the line, redacted and cut", async () => {
    const lines: string[] = [];
    const session = await openStdioSession(ownServer("stdio-exits", ["1"]), {
      onStderrLine: (line) => void lines.push(line),
      redact: (text) => text.replaceAll("database", "***"),
    });
    await errorOf(session.request("a"));
    expect(lines).toEqual(["fatal: ␛[31m*** gone␛[0m"]);
    expect((await session.closed)?.data["stderrTail"]).toBe("fatal: ␛[31m*** gone␛[0m");
    await session.transport.close();
  });
});

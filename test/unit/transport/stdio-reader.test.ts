/** What a server's talk costs before and after its first answer; what lines mean is in `test/fault/stdio-reading.test.ts`. */
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../src/base/manual-clock.ts";
import type { PortcullisError } from "../../../src/errors.ts";
import { createStdioReader } from "../../../src/transport/stdio-reader.ts";

const answer = (id: number, text = ""): string =>
  `${JSON.stringify({ jsonrpc: "2.0", id, result: { text } })}\n`;
const notification = `${JSON.stringify({ jsonrpc: "2.0", method: "notifications/message" })}\n`;

function setUp(limits: { readonly messageBytes?: number; readonly greetingBytes?: number } = {}) {
  const broken: PortcullisError[] = [];
  let messages = 0;
  const reader = createStdioReader({
    command: "server",
    messageBytes: 1_000_000,
    greetingBytes: 1_000_000,
    ...limits,
    clock: createManualClock(),
    receiver: {
      message: () => {
        messages += 1;
      },
      requestFailed: () => undefined,
      odd: () => undefined,
      broken: (error) => broken.push(error),
    },
  });
  const push = (text: string): number => reader.push(Buffer.from(text));
  const greet = (): void => {
    reader.expectAnswer();
    push(answer(0));
  };
  return { reader, push, greet, broken, messages: () => messages };
}

describe("the price of talk", () => {
  it("an answer that is waited for costs nothing, however large it is and in how many pieces it comes", () => {
    const { reader, push, messages } = setUp();
    reader.expectAnswer();
    const text = answer(1, "x".repeat(100_000));
    let units = 0;
    for (let at = 0; at < text.length; at += 8_192) units += push(text.slice(at, at + 8_192));
    expect(units).toBeLessThan(1);
    expect(messages()).toBe(1);
  });

  it.each([
    ["a notification", notification],
    ["noise", "debug: still here\n"],
    ["a blank line", "\n".repeat(128)],
    ["an answer that nobody waits for", answer(7)],
    ["a request", `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" })}\n`],
  ])("%s costs by lines and bytes", (_what, line) => {
    const { push, greet } = setUp();
    greet();
    const once = push(line);
    expect(once).toBeGreaterThanOrEqual(1);
    expect(push(line.repeat(10))).toBeCloseTo(10 * once);
  });

  it("one request pays for one answer", () => {
    const { reader, push, greet } = setUp();
    greet();
    reader.expectAnswer();
    expect(push(answer(1))).toBeLessThan(0.1);
    expect(push(answer(1))).toBeGreaterThan(1);
  });

  it("everything costs four times as much before the first answer", () => {
    const { push, greet } = setUp();
    const before = push(notification);
    greet();
    expect(push(notification)).toBeCloseTo(before / 4);
  });
});

describe("the first line", () => {
  it("is ended early where it grows without having answered anything", () => {
    const { push, broken } = setUp({ greetingBytes: 10_000 });
    push("x".repeat(10_000));
    expect(broken).toEqual([]);
    push("x");
    expect(broken[0]?.code).toBe("message_too_large");
    expect(broken[0]?.message).toBe("`server` sent a line of more than 10000 bytes before its first answer");
    expect(broken[0]?.data["limitBytes"]).toBe(10_000);
  });

  it("has the whole room after the first answer", () => {
    const { push, greet, broken } = setUp({ greetingBytes: 10_000 });
    greet();
    push("x".repeat(999_999));
    expect(broken).toEqual([]);
    push("xx");
    expect(broken[0]?.message).toBe("`server` sent a line of more than 1000000 bytes");
  });
});

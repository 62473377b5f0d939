/** Reading bodies into text under a cap. Text is UTF-8 whatever a charset label says (RFC 8259 §8.1). */
import type { Clock } from "../base/clock.ts";
import { PortcullisError } from "../errors.ts";
import type { HttpBody } from "./http-port.ts";

/** The whole body. @throws PortcullisError `message_too_large` beyond `maxBytes`, and what the body throws. */
export function readText(body: HttpBody, maxBytes: number): string | Promise<string> {
  const whole = body.takeWhole?.();
  if (whole === undefined) return readChunks(body, maxBytes);
  const bytes = whole.reduce((sum, chunk) => sum + chunk.byteLength, 0);
  if (bytes > maxBytes) throw tooLarge(maxBytes);
  return decode(whole);
}

async function readChunks(body: HttpBody, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw tooLarge(maxBytes);
    chunks.push(chunk);
  }
  return decode(chunks);
}

function tooLarge(maxBytes: number): PortcullisError {
  return new PortcullisError("message_too_large", `the answer is larger than ${maxBytes} bytes`, {
    data: { maxBytes, wasSent: true },
  });
}

/** Longest wait for the text of an error, and most of it that is read. */
const SAMPLE_TIMEOUT_MS = 5000;
const SAMPLE_BYTES = 256 * 1024;

/**
 * The start of a body that matters only for what it says: at most 256 KiB, what comes within 5 s; a failure of the body
 * ends the text. Never rejects.
 */
export async function readSample(body: AsyncIterable<Uint8Array>, clock: Clock): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const iterator = body[Symbol.asyncIterator]();
  const { promise: timedOut, resolve: giveUp } = Promise.withResolvers<undefined>();
  const timer = clock.timer(SAMPLE_TIMEOUT_MS, () => giveUp(undefined));
  try {
    while (bytes < SAMPLE_BYTES) {
      const next = await Promise.race([iterator.next(), timedOut]);
      if (next === undefined || next.done === true) break;
      chunks.push(next.value);
      bytes += next.value.byteLength;
    }
  } catch {
    // What came so far has to do.
  }
  timer.cancel();
  // Not awaited: a body that hangs may hang here too.
  void Promise.resolve(iterator.return?.()).catch(() => undefined);
  return decode(chunks);
}

function decode(chunks: readonly Uint8Array[]): string {
  const [only] = chunks;
  if (only === undefined) return "";
  const bytes =
    chunks.length === 1 ? Buffer.from(only.buffer, only.byteOffset, only.byteLength) : Buffer.concat(chunks);
  return bytes.toString("utf8");
}

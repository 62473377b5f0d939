/**
 * Content codings of a response body (RFC 9110 §8.4.1), decoded as a stream under a cap on what comes out: a bomb costs
 * the cap, not its size.
 */
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from "node:zlib";
import type { Transform } from "node:stream";
import { PortcullisError } from "../errors.ts";
import { fromNetError } from "./net-error.ts";

/** What we ask servers for. */
export const ACCEPT_ENCODING = "gzip, deflate, br";

/** Cuts `body` off with `message_too_large` beyond `maxBytes`. */
export async function* capBytes(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
  origin: string,
): AsyncGenerator<Uint8Array, void, undefined> {
  let seenBytes = 0;
  for await (const chunk of body) {
    seenBytes += chunk.byteLength;
    if (seenBytes > maxBytes) {
      throw new PortcullisError(
        "message_too_large",
        `${origin}: the answer is larger than ${maxBytes} bytes`,
        {
          data: { maxBytes, wasSent: true },
        },
      );
    }
    yield chunk;
  }
}

/** Decodes `body`; `encoding` is the value of `content-encoding`. @throws PortcullisError `protocol_error` for an unknown coding. */
export function decompress(
  body: AsyncIterable<Uint8Array>,
  encoding: string,
  origin: string,
): AsyncIterable<Uint8Array> {
  const coding = encoding.trim().toLowerCase();
  switch (coding) {
    case "":
    case "identity":
      return body;
    case "gzip":
    case "x-gzip":
      return decodeWith(body, origin, () => createGunzip());
    case "br":
      return decodeWith(body, origin, () => createBrotliDecompress());
    case "deflate":
      // Servers send either form under this name; the first byte tells a zlib header from raw deflate.
      return decodeWith(body, origin, (first) =>
        (first & 0x0f) === 8 ? createInflate() : createInflateRaw(),
      );
    default:
      throw new PortcullisError(
        "protocol_error",
        `${origin}: the answer has the content coding \`${coding.slice(0, 40)}\`, which was not asked for`,
        { data: { wasSent: true } },
      );
  }
}

async function* decodeWith(
  body: AsyncIterable<Uint8Array>,
  origin: string,
  createDecoder: (firstByte: number) => Transform,
): AsyncGenerator<Uint8Array, void, undefined> {
  const source = body[Symbol.asyncIterator]();
  let decoder: Transform | undefined;
  let sourceError: unknown;
  try {
    let first = await source.next();
    while (first.done !== true && first.value.byteLength === 0) first = await source.next();
    if (first.done === true) return;
    decoder = createDecoder(first.value[0] ?? 0);
    void feed(first.value, source, decoder, (error) => {
      sourceError = error;
    });
    yield* decoder as AsyncIterable<Uint8Array>;
  } catch (error) {
    throw error === sourceError ? error : fromNetError(error, { origin, wasSent: true });
  } finally {
    decoder?.destroy();
    await source.return?.();
  }
}

/** Writes everything into `decoder`, no faster than it is read; a failure of the source becomes one of the decoder. Never rejects. */
async function feed(
  first: Uint8Array,
  source: AsyncIterator<Uint8Array>,
  decoder: Transform,
  onSourceError: (error: unknown) => void,
): Promise<void> {
  try {
    for (let chunk: Uint8Array | undefined = first; chunk !== undefined;) {
      if (!decoder.write(chunk)) await drained(decoder);
      if (decoder.destroyed) return;
      const next: IteratorResult<Uint8Array> = await source.next();
      chunk = next.done === true ? undefined : next.value;
    }
    decoder.end();
  } catch (error) {
    onSourceError(error);
    decoder.destroy(error as Error);
  }
}

function drained(decoder: Transform): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      decoder.off("drain", done);
      decoder.off("close", done);
      resolve();
    };
    decoder.on("drain", done);
    decoder.on("close", done);
  });
}

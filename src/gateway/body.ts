/** The body of a request, whole and bounded. How long it may take is the server's `requestTimeout`. */
import type { IncomingMessage } from "node:http";
import { decodeUtf8, type DecodedText } from "../base/utf8.ts";

/** Bytes of an oversized body that are read and dropped, so that the client gets to read the answer. */
const DRAINED_BYTES = 16 * 1024 * 1024;

/** @returns the text, `too_large`, or `gone` where the client left. */
export function readBody(
  request: IncomingMessage,
  maxBytes: number,
): Promise<DecodedText | "too_large" | "gone"> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;
    request.on("data", (chunk: Buffer) => {
      length += chunk.length;
      if (length <= maxBytes) chunks.push(chunk);
      else {
        chunks.length = 0;
        resolve("too_large");
        if (length > maxBytes + DRAINED_BYTES) request.destroy();
      }
    });
    request.once("end", () => {
      const [first] = chunks;
      resolve(decodeUtf8(chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks)));
    });
    request.once("error", () => resolve("gone"));
    request.once("close", () => resolve("gone"));
  });
}

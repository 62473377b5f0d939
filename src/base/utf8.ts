/** Bytes as text, with a word about whether the text is what the bytes were. */
import { isUtf8 } from "node:buffer";

export interface DecodedText {
  readonly text: string;
  /** Where true, U+FFFD stands in the text for bytes that were no UTF-8. */
  readonly hasInvalidUtf8: boolean;
}

export function decodeUtf8(bytes: Buffer): DecodedText {
  const text = bytes.toString("utf8");
  // A replacement character may also have been sent as such: only then are the bytes looked at again.
  return { text, hasInvalidUtf8: text.includes("\uFFFD") && !isUtf8(bytes) };
}

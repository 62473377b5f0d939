/** Images and audio: what the bytes are, whatever the server says they are. */

interface Media {
  /** From the bytes where they tell, otherwise as declared. */
  readonly mimeType: string;
  /** Decoded size. */
  readonly bytes: number;
  readonly differs: boolean;
}

export type MediaVerdict =
  | { readonly ok: true; readonly media: Media }
  | { readonly ok: false; readonly reason: string };

interface Signature {
  readonly mimeType: string;
  /** Latin-1 text at an offset. */
  readonly at: number;
  readonly text: string;
  /** A second part that must be there where the data is long enough. */
  readonly then?: { readonly at: number; readonly text: string };
}

const IMAGES: readonly Signature[] = [
  { mimeType: "image/png", at: 0, text: "\x89PNG\r\n\x1a\n" },
  { mimeType: "image/jpeg", at: 0, text: "\xff\xd8\xff" },
  { mimeType: "image/gif", at: 0, text: "GIF87a" },
  { mimeType: "image/gif", at: 0, text: "GIF89a" },
  { mimeType: "image/webp", at: 0, text: "RIFF", then: { at: 8, text: "WEBP" } },
  { mimeType: "image/bmp", at: 0, text: "BM" },
  { mimeType: "image/tiff", at: 0, text: "II*\x00" },
  { mimeType: "image/tiff", at: 0, text: "MM\x00*" },
  { mimeType: "image/avif", at: 4, text: "ftypavif" },
  { mimeType: "image/heic", at: 4, text: "ftypheic" },
  { mimeType: "image/x-icon", at: 0, text: "\x00\x00\x01\x00" },
];

const AUDIO: readonly Signature[] = [
  { mimeType: "audio/wav", at: 0, text: "RIFF", then: { at: 8, text: "WAVE" } },
  { mimeType: "audio/mpeg", at: 0, text: "ID3" },
  { mimeType: "audio/mpeg", at: 0, text: "\xff\xfb" },
  { mimeType: "audio/mpeg", at: 0, text: "\xff\xf3" },
  { mimeType: "audio/mpeg", at: 0, text: "\xff\xf2" },
  { mimeType: "audio/aac", at: 0, text: "\xff\xf1" },
  { mimeType: "audio/aac", at: 0, text: "\xff\xf9" },
  { mimeType: "audio/ogg", at: 0, text: "OggS" },
  { mimeType: "audio/flac", at: 0, text: "fLaC" },
  { mimeType: "audio/mp4", at: 4, text: "ftyp" },
  { mimeType: "audio/webm", at: 0, text: "\x1aE\xdf\xa3" },
];

/** Other names for the same type. */
const SAME: Readonly<Record<string, string>> = {
  "image/jpg": "image/jpeg",
  "image/pjpeg": "image/jpeg",
  "image/x-png": "image/png",
  "image/vnd.microsoft.icon": "image/x-icon",
  "image/heif": "image/heic",
  "audio/x-wav": "audio/wav",
  "audio/wave": "audio/wav",
  "audio/vnd.wave": "audio/wav",
  "audio/mp3": "audio/mpeg",
  "audio/m4a": "audio/mp4",
  "audio/x-m4a": "audio/mp4",
  "audio/opus": "audio/ogg",
  "audio/x-flac": "audio/flac",
};

/** Standard or URL alphabet, padding only at the end, no white space. */
const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

/** True for base64 text of a possible length. Linear. */
export function isBase64(data: string): boolean {
  return BASE64.test(data) && data.replace(/=+$/, "").length % 4 !== 1;
}

/** Bytes that `data` decodes to. */
export function decodedBytes(data: string): number {
  const padding = data.endsWith("==") ? 2 : data.endsWith("=") ? 1 : 0;
  return Math.floor(((data.length - padding) * 3) / 4);
}

/**
 * Looks at the first bytes of an image or sound.
 * @param declared the server's `mimeType`, whatever it is.
 */
export function checkMedia(kind: "image" | "audio", data: unknown, declared: unknown): MediaVerdict {
  if (typeof data !== "string" || data === "") return { ok: false, reason: "no data" };
  if (!isBase64(data)) return { ok: false, reason: "its data is not base64" };
  const head = Buffer.from(data.slice(0, 64), "base64").toString("latin1");
  const found = (kind === "image" ? IMAGES : AUDIO).find((signature) => fits(signature, head));
  if (found === undefined)
    return {
      ok: false,
      reason: kind === "image" ? "its bytes are no known image" : "its bytes are no known sound",
    };
  const said = typeof declared === "string" ? normalizeType(declared) : "";
  return {
    ok: true,
    media: { mimeType: found.mimeType, bytes: decodedBytes(data), differs: said !== found.mimeType },
  };
}

function fits(signature: Signature, head: string): boolean {
  const { at, text, then } = signature;
  if (!head.startsWith(text, at)) return false;
  return (
    then === undefined || head.length < then.at + then.text.length || head.startsWith(then.text, then.at)
  );
}

function normalizeType(declared: string): string {
  const bare = (declared.split(";", 1)[0] ?? "").trim().toLowerCase();
  return Object.hasOwn(SAME, bare) ? (SAME[bare] ?? bare) : bare;
}

/** A MIME type for display; `application/octet-stream` for what is none. */
export function cleanMimeType(declared: unknown): string {
  const bare = typeof declared === "string" && declared.length <= 127 ? declared.trim().toLowerCase() : "";
  return /^[a-z0-9!#$&^_.+-]+\/[a-z0-9!#$&^_.+-]+(?:\s*;\s*[a-z0-9_-]+=[a-z0-9_."-]+)*$/.test(bare)
    ? bare
    : "application/octet-stream";
}

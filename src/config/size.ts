/** Sizes as people write them: a number of bytes, or `"1MiB"`. */

const UNITS_BYTES = {
  B: 1,
  KB: 1_000,
  MB: 1_000_000,
  GB: 1_000_000_000,
  KiB: 1_024,
  MiB: 1_048_576,
  GiB: 1_073_741_824,
};

/** A whole number and one unit. */
export const SIZE_PATTERN = /^(0|[1-9][0-9]{0,15})(B|KB|MB|GB|KiB|MiB|GiB)$/;

/** Bytes; `null` for what is no size. */
export function parseSize(size: number | string): number | null {
  if (typeof size === "number") return Number.isSafeInteger(size) && size >= 0 ? size : null;
  const match = SIZE_PATTERN.exec(size);
  if (match === null) return null;
  const bytes = Number(match[1]) * UNITS_BYTES[match[2] as keyof typeof UNITS_BYTES];
  return Number.isSafeInteger(bytes) ? bytes : null;
}

/** The shortest text with a binary unit that `parseSize` reads back as `bytes`. */
export function formatSize(bytes: number): string {
  for (const unit of ["GiB", "MiB", "KiB"] as const) {
    if (bytes > 0 && bytes % UNITS_BYTES[unit] === 0) return `${bytes / UNITS_BYTES[unit]}${unit}`;
  }
  return `${bytes}B`;
}

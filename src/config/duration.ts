/** Durations as people write them (`"30s"`, `"5m"`, `"90d"`) and milliseconds, both ways. */

const UNITS_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** A whole number and one unit. */
export const DURATION_PATTERN = /^(0|[1-9][0-9]{0,11})(ms|s|m|h|d)$/;

/** The longest duration: ten years of 365 days. */
export const MAX_DURATION_MS = 3_650 * UNITS_MS.d;

/** Milliseconds of `"30s"` and the like; `null` for text that is no duration or longer than ten years. */
export function parseDuration(text: string): number | null {
  const match = DURATION_PATTERN.exec(text);
  if (match === null) return null;
  const durationMs = Number(match[1]) * UNITS_MS[match[2] as keyof typeof UNITS_MS];
  return durationMs <= MAX_DURATION_MS ? durationMs : null;
}

/** The shortest text that `parseDuration` reads back as `durationMs` (a whole number of milliseconds). */
export function formatDuration(durationMs: number): string {
  for (const unit of ["d", "h", "m", "s"] as const) {
    if (durationMs > 0 && durationMs % UNITS_MS[unit] === 0) return `${durationMs / UNITS_MS[unit]}${unit}`;
  }
  return `${durationMs}ms`;
}

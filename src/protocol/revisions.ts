/** The revisions of MCP and the two eras they belong to. */

/** Modern: stateless, `server/discover`, `_meta` on every request. */
export const MODERN_REVISIONS = ["2026-07-28"] as const;
/** Legacy: `initialize`; newest first. */
export const LEGACY_REVISIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const;

export type ModernRevision = (typeof MODERN_REVISIONS)[number];
export type LegacyRevision = (typeof LEGACY_REVISIONS)[number];
export type Revision = ModernRevision | LegacyRevision;
export type Era = "modern" | "legacy";

export const LATEST_MODERN: ModernRevision = "2026-07-28";
export const LATEST_LEGACY: LegacyRevision = "2025-11-25";

export function isModernRevision(value: unknown): value is ModernRevision {
  return (MODERN_REVISIONS as readonly unknown[]).includes(value);
}

export function isLegacyRevision(value: unknown): value is LegacyRevision {
  return (LEGACY_REVISIONS as readonly unknown[]).includes(value);
}

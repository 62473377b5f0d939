/** The nearest of the names that would have been right, for "did you mean". */

/** Longer names are not compared: a typing error in a long one shows by itself. */
const MAX_LENGTH = 64;

/**
 * The candidate with the smallest edit distance to `name`, where that is small enough to be a slip (a third of the length,
 * at most 3); case, `-` and `_` do not count. `null` where none is near.
 */
export function nearestName(name: string, candidates: Iterable<string>): string | null {
  if (name.length > MAX_LENGTH) return null;
  const wanted = fold(name);
  const limit = Math.min(3, Math.max(1, Math.floor(wanted.length / 3)));
  let best: { candidate: string; distance: number } | null = null;
  for (const candidate of candidates) {
    if (candidate.length > MAX_LENGTH) continue;
    const distance = editDistance(wanted, fold(candidate));
    if (distance <= limit && (best === null || distance < best.distance)) best = { candidate, distance };
  }
  return best?.candidate ?? null;
}

function fold(name: string): string {
  return name.toLowerCase().replaceAll(/[-_]/g, "");
}

/** Optimal string alignment: insertions, deletions, replacements and swaps of neighbours. */
function editDistance(one: string, other: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_unused, column) => column);
  for (let row = 1; row <= one.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const isSame = one[row - 1] === other[column - 1];
      let cost = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
      );
      const isSwap =
        row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      if (isSwap) cost = Math.min(cost, (beforeLast[column - 2] ?? 0) + 1);
      current.push(cost);
    }
    beforeLast = last;
    last = current;
  }
  return last[other.length] ?? 0;
}

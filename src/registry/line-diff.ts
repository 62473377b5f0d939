/** Two texts line by line: what went with `- `, what came with `+ `, one line around each change with two blanks. */

/** Beyond so many lines that differ the whole of both is shown. */
const MAX_COMPARED = 300;
const MAX_PIECE = 200;
const MAX_LINE = 500;
const MAX_LINES = 120;

/** A long line is compared in pieces, sentence by sentence, so that a change far inside it is seen. */
function pieces(lines: readonly string[]): readonly string[] {
  return lines.flatMap((line) =>
    line.length <= MAX_PIECE ? [line] : (line.match(/.{1,200}?(?:[.!?]+ |$)|.{1,200}/g) ?? [line]),
  );
}

export function diffLines(oldLines: readonly string[], newLines: readonly string[]): readonly string[] {
  const before = pieces(oldLines);
  const after = pieces(newLines);
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  while (
    end < before.length - start &&
    end < after.length - start &&
    before[before.length - 1 - end] === after[after.length - 1 - end]
  ) {
    end += 1;
  }
  const old = before.slice(start, before.length - end);
  const now = after.slice(start, after.length - end);
  const middle =
    old.length > MAX_COMPARED || now.length > MAX_COMPARED
      ? [...old.map((line) => `- ${line}`), ...now.map((line) => `+ ${line}`)]
      : longestCommon(old, now);
  const context = (line: string | undefined): string[] => (line === undefined ? [] : [`  ${line}`]);
  const lines = [
    ...context(before[start - 1]),
    ...middle,
    ...(end === 0 ? [] : context(before[before.length - end])),
  ];
  const shown = lines
    .slice(0, MAX_LINES)
    .map((line) => (line.length > MAX_LINE ? `${line.slice(0, MAX_LINE)}…` : line));
  return lines.length > MAX_LINES ? [...shown, `… ${lines.length - MAX_LINES} more lines`] : shown;
}

/** The classic table: at most 300 by 300. */
function longestCommon(old: readonly string[], now: readonly string[]): readonly string[] {
  const width = now.length + 1;
  const table = new Uint16Array((old.length + 1) * width);
  for (let row = old.length - 1; row >= 0; row -= 1) {
    for (let column = now.length - 1; column >= 0; column -= 1) {
      const isSame = old[row] === now[column];
      const below = table[(row + 1) * width + column] ?? 0;
      const right = table[row * width + column + 1] ?? 0;
      const diagonal = table[(row + 1) * width + column + 1] ?? 0;
      table[row * width + column] = isSame ? diagonal + 1 : Math.max(below, right);
    }
  }
  const lines: string[] = [];
  let row = 0;
  let column = 0;
  while (row < old.length || column < now.length) {
    if (row < old.length && column < now.length && old[row] === now[column]) {
      lines.push(`  ${old[row]}`);
      row += 1;
      column += 1;
    } else if (
      row < old.length &&
      (column === now.length ||
        (table[(row + 1) * width + column] ?? 0) >= (table[row * width + column + 1] ?? 0))
    ) {
      lines.push(`- ${old[row]}`);
      row += 1;
    } else {
      lines.push(`+ ${now[column]}`);
      column += 1;
    }
  }
  return lines;
}

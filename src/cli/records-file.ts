/** Records in a file of their own, for somebody who is given it. */
import { open, unlink } from "node:fs/promises";
import { throwIfAborted } from "../base/abort.ts";
import { PortcullisError } from "../errors.ts";

/**
 * Writes `lines` into a new file that only its owner may read: they hold what was called, with its arguments. A file that is not
 * whole is taken away again, because nobody could tell.
 *
 * @throws PortcullisError `usage` where it cannot be written; the signal's reason; what `lines` throws.
 */
export async function writeRecords(
  lines: AsyncIterable<string>,
  file: string,
  signal: AbortSignal,
): Promise<{ readonly file: string; readonly lines: number }> {
  try {
    const handle = await open(file, "wx", 0o600);
    let count = 0;
    let isWhole = false;
    try {
      for await (const line of lines) {
        throwIfAborted(signal);
        await handle.write(line);
        count += 1;
      }
      isWhole = true;
    } finally {
      await handle.close();
      if (!isWhole) await unlink(file);
    }
    return { file, lines: count };
  } catch (cause) {
    if (!(cause instanceof Error) || !("code" in cause) || cause instanceof PortcullisError) throw cause;
    const why =
      cause.code === "EEXIST"
        ? "is there already: name a new file"
        : `cannot be written (${String(cause.code)})`;
    throw new PortcullisError("usage", `\`${file}\` ${why}`, { cause });
  }
}

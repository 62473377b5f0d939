/**
 * Timers and sockets of this package do not keep a process alive by themselves; work that somebody waits for does. While
 * anything is held, one handle keeps the event loop running: a call that waits for a person must not end with the process.
 */
let held = 0;
let handle: NodeJS.Timeout | undefined;

const LONGEST_MS = 2 ** 31 - 1;

/** Keeps the process alive until the returned function is called (once counts). */
export function holdProcess(): () => void {
  held += 1;
  handle ??= setInterval(() => undefined, LONGEST_MS);
  let isReleased = false;
  return () => {
    if (isReleased) return;
    isReleased = true;
    held -= 1;
    if (held > 0) return;
    clearInterval(handle);
    handle = undefined;
  };
}

/**
 * Timers and sockets of this package do not keep a process alive by themselves; work that somebody waits for does. While
 * anything is held, one handle keeps the event loop running: a call that waits for a person must not end with the process.
 */
let held = 0;
/** Made once; while nothing is held it counts for nothing. */
let handle: NodeJS.Timeout | undefined;

const LONGEST_MS = 2 ** 31 - 1;

/** Keeps the process alive until the returned function is called (once counts). */
export function holdProcess(): () => void {
  held += 1;
  if (handle === undefined) handle = setInterval(() => undefined, LONGEST_MS);
  else if (held === 1) handle.ref();
  let isReleased = false;
  return () => {
    if (isReleased) return;
    isReleased = true;
    held -= 1;
    if (held === 0) handle?.unref();
  };
}

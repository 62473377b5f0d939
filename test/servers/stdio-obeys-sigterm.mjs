/** Ignores the end of stdin; leaves on SIGTERM. */
process.stdin.resume();
setInterval(() => undefined, 1_000);

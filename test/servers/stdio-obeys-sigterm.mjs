/** Ignores the end of stdin; leaves on SIGTERM. */
process.stdin.resume();
// Lives on, but not for ever where a test fails.
setTimeout(() => process.exit(9), 120_000);

/** Ignores the end of stdin, SIGTERM, SIGINT and SIGHUP. Says `ready` on stderr when it does. */
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => undefined);
process.stdin.resume();
// Lives on, but not for ever where a test fails.
setTimeout(() => process.exit(9), 120_000);
process.stderr.write("ready\n");

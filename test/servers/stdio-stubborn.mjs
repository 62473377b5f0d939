/** Ignores the end of stdin, SIGTERM, SIGINT and SIGHUP. Says `ready` on stderr when it does. */
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => undefined);
process.stdin.resume();
setInterval(() => undefined, 1_000);
process.stderr.write("ready\n");
